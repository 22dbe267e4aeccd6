A selector that selects nothing.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:d
  2> ftplan: --fail: zone:d: unknown zone 'd'
  [2]

An output that exists.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --output topology.yaml
  2> ftplan: topology.yaml: is an input of this command, which is never overwritten; give another name
  [2]

No capacity, and no cluster that has it.

  $ ftplan recovery-schedule -t topology.yaml --fail operator:alerts
  2> ftplan: where is room for what comes back? give --cluster (with placement.tasks, so that what runs on each node is known) or --capacity CORES
  [2]

Nothing fails.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml
  2> ftplan: nothing fails: give --fail SELECTOR (such as zone:rack-a, node:n1 or task:join/3), a failure file with --failure, or --complete-failure
  [2]

A cluster that does not say where tasks run.

  $ sed -i '/^placement:/,$d' cluster.yaml
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail node:n1
  2> ftplan: node:n1: the cluster does not say on which nodes tasks run: give placement.tasks in the cluster file, or place round robin with --spread
  [2]
