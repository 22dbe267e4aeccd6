No budget.

  $ ftplan replicate-tasks -t topology.yaml
  2> ftplan: how many replicas may there be? give --budget N or --budget 30%, --budget-cpu CORES, --budget-mb MB, or --target 0.9 for the fewest that reach it
  [2]

A budget and a target.

  $ ftplan replicate-tasks -t topology.yaml --budget 2 --target 0.5
  2> ftplan: --budget and --target: give one of them
  [2]

A cluster that does not say where tasks run.

  $ sed '/^placement/,$d' cluster.yaml > bare.yaml
  $ ftplan replicate-tasks -t topology.yaml -c bare.yaml --budget 2
  2> ftplan: the cluster does not say on which nodes tasks run, so that replicas could stand beside their primaries: give placement.tasks in the cluster file, place round robin with --spread, or plan without --cluster
  [2]
