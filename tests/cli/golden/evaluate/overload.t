What counts as overload is asked anew.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective usable -o plan.json -q
  $ ftplan evaluate plan.json --overload 0.7 --fail-under usable-share=0.5 --format table
  metric                    value  better  unit
  correlation              0.2567  low     load
  random-correlation         52.7  low     load
  gain-over-random         0.9951  high    share
  imbalance               0.05354  low     share
  usable-share             0.1719  high    share
  assisted-migrations       0.434  high    share
  max-copies-per-node           3  low     copies
  zone-separation               1  high    share
  lost-groups                   0  low     key groups
  recoverable-share             1  high    share
  recoverable-load-share        1  high    share
  failover-load-ratio       1.893  low     share
  loss-probability              –  low     probability
  copysets                      9  low     sets
  2> ftplan: usable-share is 0.171875, below the limit 0.5
  [1]

A misspelt metric.

  $ ftplan evaluate plan.json --fail-under imbalnce=1
  2> ftplan: --fail-under 'imbalnce=1': expected METRIC=VALUE (did you mean 'imbalance'?); metrics: correlation, random-correlation, gain-over-random, imbalance, usable-share, assisted-migrations, max-copies-per-node, zone-separation, lost-groups, recoverable-share, recoverable-load-share, failover-load-ratio, loss-probability, copysets
  [2]
