Two projects, of which one has an ftplan.toml, among files of others.

  $ mkdir -p a b && cp topology.yaml cluster.yaml a && cp topology.yaml cluster.yaml b && cp -r stats b
  $ printf '[inputs]\ntopology = "topology.yaml"\ncluster = "cluster.yaml"\nstats = "stats"\n' > a/ftplan.toml
  $ printf 'nodes: {{ .Values.nodes }}\n' > b/values.yaml && echo '{"format": "png"}' > b/picture.json
  $ ftplan check a/topology.yaml a/cluster.yaml b/topology.yaml b/cluster.yaml b/values.yaml b/stats/manifest.json --projects --skip-others --format table
  file             kind      holds                                                    warnings
  a/topology.yaml  topology  3 operators, 8 tasks, 2 edges, 12 key groups, 1 outputs         0
  a/cluster.yaml   cluster   6 nodes, 3 zones, 8 placed tasks                                0
  b/topology.yaml  topology  3 operators, 8 tasks, 2 edges, 12 key groups, 1 outputs         0
  b/cluster.yaml   cluster   6 nodes, 3 zones, 8 placed tasks                                0
  b/stats          stats     2 operators, 12 key groups, 48 windows, 1 tables                0

A topology changes: the cluster beside it, which nobody named, does not fit any more.

  $ sed -i 's/parallelism: 4/parallelism: 3/' a/topology.yaml b/topology.yaml
  $ ftplan check a/topology.yaml b/topology.yaml --projects --format table
  file             kind      holds                                                    warnings
  a/topology.yaml  topology  3 operators, 7 tasks, 2 edges, 12 key groups, 1 outputs         0
  b/topology.yaml  topology  3 operators, 7 tasks, 2 edges, 12 key groups, 1 outputs         0
  2> ftplan: a/cluster.yaml: placement.tasks.sessions: wrong length: got 4, expected 3 = parallelism of 'sessions'
  [2]

A broken file is ftplan's as long as it states its format.

  $ printf 'format: ftplan/cluster\nnodes: [\n' > b/broken.yaml
  $ ftplan check b/broken.yaml b/values.yaml --skip-others --format table
  2> ftplan: b/broken.yaml: line 3: did not find expected node content while parsing a flow node
  [2]

None is.

  $ ftplan check b/values.yaml b/picture.json --skip-others --format table
  2> ftplan: none of 2 files states a format of ftplan's
