Nodes that are not there.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --nodes zone:d
  2> ftplan: --nodes: zone:d: unknown zone 'd'
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --nodes node:n9
  2> ftplan: --nodes: node:n9: unknown node 'n9'
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --nodes n1
  2> ftplan: --nodes: selector 'n1': expected KIND:NAME with KIND one of node, zone, operator, task, query, key-group, for instance node:n1 or task:join/3
  [2]

Labels that no node has.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --label kernel=6.1
  2> ftplan: --label: no node has the label 'kernel=6.1': the cluster's nodes have no labels
  [2]
  $ sed -i 's/zone: c}/zone: c, labels: {kernel: "5.4"}}/' cluster.yaml
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --label kernel=5.5
  2> ftplan: --label: no node has the label 'kernel=5.5' (did you mean 'kernel=5.4'?)
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --label kernel
  2> ftplan: --label: 'kernel' is not a label such as 'kernel=6.1', or a list of them
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --label kernel=5.4 --nodes zone:a
  2> ftplan: --nodes and --label name no node together: none is to restart
  [2]

Limits that are none.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 0
  2> ftplan: drain-schedule: Invalid value for '--max': 0 is not in the range x>=1.
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --min-fidelity 1.5
  2> ftplan: drain-schedule: Invalid value for '--min-fidelity': '1.5' is not between 0 and 1
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --restart soon
  2> ftplan: drain-schedule: Invalid value for '--restart': 'soon' is no duration: a number of seconds, or 500ms, 60s, 5m, 24h, 7d
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --keep-copies some
  2> ftplan: drain-schedule: Invalid value for '--keep-copies': 'some' is not one of 'all', 'checkpoints', 'none'.
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --algorithm fast
  2> ftplan: drain-schedule: Invalid value for '--algorithm': 'fast' is not one of 'greedy', 'exact'.
  [2]

No cluster, and one that does not say where tasks run.

  $ ftplan drain-schedule -t topology.yaml
  2> ftplan: drain-schedule: --cluster is missing: give it, or name it under [inputs] in ftplan.toml; `ftplan import-topology SOURCE --from ENGINE -o topology.yaml --cluster-output cluster.yaml` makes it
  [2]
  $ sed -i '/^placement:/,$d' cluster.yaml
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml
  2> ftplan: the cluster does not say on which nodes tasks run, so that nobody knows what a restart takes down: give placement.tasks in the cluster file, or place round robin with --spread
  [2]
