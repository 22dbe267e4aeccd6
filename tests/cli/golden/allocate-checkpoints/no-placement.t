A cluster that does not say where tasks run.

  $ sed -i "/^placement/,\$d" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats
  2> ftplan: operator 'alerts': the cluster does not say on which nodes its key groups are: give placement.tasks.alerts or placement.key_groups.alerts, or place round robin with --spread
  [2]

Placed round robin instead.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --spread --balance none --format table
  checkpoint allocation
  algorithm                  auto
  status                     optimal for these inputs; 1 assumption
  usable (max)               114
  proven bound               114
  gap                        0.0000%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  usable share at random     0.28
  usable share of even       0.2727
  rules                      copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, memory
  worst loss                 zone:b: n6 carries 1.434 times its fair share
                        after
  usable                  114
  usable share         0.5182
  imbalance             1.323
  max copies per node       3
  copies                   12
  zone separation           1
  failover load ratio   1.434
  loss probability          –
  copysets                  9
  operator  usable  random plan
  alerts         0            0
  sessions     114         61.6
  key group   primary  checkpoints
  alerts/0    n1       n3
  alerts/1    n1       n4
  alerts/2    n2       n5
  alerts/3    n2       n6
  sessions/0  n3       n6
  sessions/1  n3       n5
  sessions/2  n4       n1
  sessions/3  n4       n2
  sessions/4  n5       n1
  sessions/5  n5       n2
  sessions/6  n6       n1
  sessions/7  n6       n2
  Usable: 114 (more is better); proven optimal, since no plan that keeps the same rules has more.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: warning: tasks are placed round robin in file order, not where they really run [SPREAD]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
