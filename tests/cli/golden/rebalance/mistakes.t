Nodes that are not there, or cannot be.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --remove n9
  2> ftplan: --remove: unknown node 'n9'
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --add n9
  2> ftplan: --add: unknown node 'n9'; a node that is to be filled has to be in the cluster file: add it there
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --add n1 --remove zone:a
  2> ftplan: --add and --remove both name n1
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --remove zone:a --remove zone:b --remove zone:c
  2> ftplan: --remove leaves no node that takes tasks: key groups have nowhere to go
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --remove operator:sessions
  2> ftplan: --remove: operator:sessions names no nodes: give node ids, node:ID or zone:ID
  [2]

Limits that are none.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --within 30s
  2> ftplan: --within is the notice of nodes that are removed: give --remove too
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --tolerance -0.1
  2> ftplan: --tolerance: '-0.1' is not auto, none or a number from 0 to 1e+09, such as 0.1
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --suggest --band 0.9-0.5
  2> ftplan: --band: '0.9-0.5' is not two shares such as 0.5-0.75
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --demand p101
  2> ftplan: --demand: 'p101' is not mean, a percentile such as p95, or last:N
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --demand last:1000
  2> ftplan: --demand: last:1000: the statistics have 48 windows
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --protocol teleport
  2> ftplan: rebalance: Invalid value for '--protocol': 'teleport' is not one of 'auto', 'cpa', 'cpal', 'lazy', 'direct'.
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --protocol lazy
  2> ftplan: --protocol lazy: no operator with key groups makes full checkpoints at an interval (checkpoint in the topology): use auto, cpa, cpal or direct
  [2]

Files that are missing, or something else.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --algorithm greedy -o rounds.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints rounds.json
  2> ftplan: rounds.json: --checkpoints needs a plan of kind allocate-checkpoints, not drain-schedule
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints nowhere.json
  2> ftplan: nowhere.json: no such file
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --costs cluster.yaml
  2> ftplan: cluster.yaml: format: this is a cluster file (ftplan/cluster); expected a recovery cost table (ftplan/recovery-costs)
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats -o rounds.json
  2> ftplan: rounds.json: exists already; give --force to overwrite it
  [2]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml
  2> ftplan: rebalance: --stats is missing: give it, or name it under [inputs] in ftplan.toml; `ftplan compute-stats LOG -o stats` makes it
  [2]
  $ sed -i '/^placement:/,$d' cluster.yaml
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats
  2> ftplan: operator 'alerts': the cluster does not say on which nodes its key groups are: give placement.tasks.alerts or placement.key_groups.alerts, or place round robin with --spread
  [2]
