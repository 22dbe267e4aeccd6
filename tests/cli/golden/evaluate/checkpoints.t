The loss of a zone, held to two limits.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation -o plan.json -q
  $ ftplan evaluate plan.json --fail zone:b --fail-under recoverable-share=1 --fail-under imbalance=0.01 --format table
  failed: zone:b
  metric                    value  better  unit
  correlation              -567.6  low     load
  random-correlation         52.7  low     load
  gain-over-random          11.77  high    share
  imbalance               0.05354  low     share
  usable-share             0.1727  high    share
  assisted-migrations      0.3061  high    share
  max-copies-per-node           3  low     copies
  zone-separation            0.75  high    share
  lost-groups                   1  low     key groups
  recoverable-share          0.75  high    share
  recoverable-load-share   0.7273  high    share
  failover-load-ratio       2.151  low     share
  loss-probability              –  low     probability
  copysets                      8  low     sets
  2> ftplan: imbalance is 0.0535373, above the limit 0.01
  2> ftplan: recoverable-share is 0.75, below the limit 1
  [1]
