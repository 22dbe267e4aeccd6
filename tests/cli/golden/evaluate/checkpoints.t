The loss of a zone, held to two limits.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation -o plan.json -q
  $ ftplan evaluate plan.json --fail zone:b --fail-under recoverable-share=1 --fail-under imbalance=0.01 --format table
  failed: zone:b
  metric                    value  better  unit
  correlation              -74.59  low     load
  random-correlation         52.7  low     load
  gain-over-random          2.415  high    share
  imbalance               0.05354  low     share
  usable-share             0.2909  high    share
  assisted-migrations      0.5918  high    share
  max-copies-per-node           3  low     copies
  zone-separation               1  high    share
  lost-groups                   0  low     key groups
  recoverable-share             1  high    share
  recoverable-load-share        1  high    share
  failover-load-ratio       1.606  low     share
  loss-probability              –  low     probability
  copysets                      9  low     sets
  2> ftplan: imbalance is 0.0535373, above the limit 0.01
  [1]
