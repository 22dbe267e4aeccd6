All inputs of a plan.

  $ ftplan check topology.yaml cluster.yaml stats --format table
  file           kind      holds                                                    warnings
  topology.yaml  topology  3 operators, 8 tasks, 2 edges, 12 key groups, 1 outputs         0
  cluster.yaml   cluster   6 nodes, 3 zones, 8 placed tasks                                0
  stats          stats     2 operators, 12 key groups, 48 windows, 1 tables                0

Every file is looked at, whatever is wrong with another.

  $ echo "nodes: 3" > bad.yaml
  $ ftplan check bad.yaml topology.yaml missing.yaml --format table
  file           kind      holds                                                    warnings
  topology.yaml  topology  3 operators, 8 tasks, 2 edges, 12 key groups, 1 outputs         0
  2> ftplan: bad.yaml: format: is missing; expected 'format: ftplan/topology'
  2> ftplan: missing.yaml: no such file
  [2]
