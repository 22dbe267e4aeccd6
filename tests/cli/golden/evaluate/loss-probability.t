Nodes and zones fail with the probabilities that the cluster states.

  $ sed -i 's/zone: a}/zone: a, failure_probability: 0.01}/; s/zone: b}/zone: b, failure_probability: 0.02}/' cluster.yaml && echo 'zones: [{id: c, failure_probability: 0.001}]' >> cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact -o plan.json -q
  $ ftplan evaluate plan.json --fail-under failover-load-ratio=1.5 --fail-under loss-probability=1e-9 --format table
  metric                      value  better  unit
  correlation                0.2567  low     load
  random-correlation           52.7  low     load
  gain-over-random           0.9951  high    share
  imbalance                 0.05354  low     share
  usable-share               0.3182  high    share
  assisted-migrations        0.6471  high    share
  max-copies-per-node             3  low     copies
  zone-separation                 1  high    share
  lost-groups                     0  low     key groups
  recoverable-share               1  high    share
  recoverable-load-share          1  high    share
  failover-load-ratio         1.893  low     share
  loss-probability        0.0006521  low     probability
  copysets                        9  low     sets
  2> ftplan: failover-load-ratio is 1.89293, above the limit 1.5
  2> ftplan: loss-probability is 0.000652118, above the limit 1e-09
  [1]
