No survivor above 1.6 times its fair share, whichever node is lost.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --balance none --failover-limit 1.6 --format table
  checkpoint allocation
  algorithm                  exact
  status                     optimal for these inputs; 1 assumption
  usable (max)               114
  proven bound               114
  gap                        0.0000%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  usable share at random     0.28
  usable share of even       0.2727
  rules                      copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, memory, failover
  failover limit             1.6
  worst loss                 zone:b: n6 carries 1.434 times its fair share
                       before   after
  usable                    0     114
  usable share              –  0.5182
  imbalance             2.205   1.323
  max copies per node       2       3
  copies                    4      12
  zone separation           0       1
  failover load ratio   2.137   1.434
  loss probability          –       –
  copysets                  1       9
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
  move        from  to    bytes
  alerts/0    n2    n3  262,144
  alerts/1    n2    n4  262,144
  alerts/2    n1    n5  262,144
  alerts/3    n1    n6  262,144
  sessions/0  –     n6  524,288
  sessions/1  –     n5  524,288
  sessions/2  –     n1  524,288
  sessions/3  –     n2  524,288
  sessions/4  –     n1  524,288
  sessions/5  –     n2  524,288
  sessions/6  –     n1  524,288
  sessions/7  –     n2  524,288
  Usable: 114 (more is better); proven optimal, since no plan that keeps the same rules has more.
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]

The smallest limit that can be kept when a zone is lost, then the best objective under it.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --copies 2 --anti-affinity zone --minimise failover --format table
  checkpoint allocation
  algorithm                  exact
  status                     optimal for these inputs; 1 assumption
  usable (max)               158
  proven bound               158
  gap                        0.0000%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  123.2
  usable share at random     0.28
  usable share of even       0.2864
  rules                      copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory, failover
  balance                    0.3203 (the smallest feasible)
  failover limit             1.205 (the smallest feasible)
  worst loss                 zone:a: n6 carries 1.205 times its fair share
                       before   after
  usable                    0     158
  usable share              –  0.3591
  imbalance             2.205  0.3203
  max copies per node       2       5
  copies                    4      24
  zone separation           0       1
  failover load ratio   2.137   1.205
  loss probability          –       –
  copysets                  1       8
  operator  usable  random plan
  alerts         0            0
  sessions     158        123.2
  key group   primary  checkpoints
  alerts/0    n1       n5, n4
  alerts/1    n1       n4, n6
  alerts/2    n2       n4, n5
  alerts/3    n2       n4, n5
  sessions/0  n3       n2, n5
  sessions/1  n3       n1, n5
  sessions/2  n4       n1, n6
  sessions/3  n4       n2, n6
  sessions/4  n5       n4, n2
  sessions/5  n5       n1, n3
  sessions/6  n6       n3, n1
  sessions/7  n6       n2, n3
  first 20 … and 4 more (--rows all shows them)
  move        from  to    bytes
  alerts/0    n2    n5  262,144
  alerts/0    –     n4  262,144
  alerts/1    n2    n4  262,144
  alerts/1    –     n6  262,144
  alerts/2    n1    n4  262,144
  alerts/2    –     n5  262,144
  alerts/3    n1    n4  262,144
  alerts/3    –     n5  262,144
  sessions/0  –     n2  524,288
  sessions/0  –     n5  524,288
  sessions/1  –     n1  524,288
  sessions/1  –     n5  524,288
  sessions/2  –     n1  524,288
  sessions/2  –     n6  524,288
  sessions/3  –     n2  524,288
  sessions/3  –     n6  524,288
  sessions/4  –     n4  524,288
  sessions/4  –     n2  524,288
  sessions/5  –     n1  524,288
  sessions/5  –     n3  524,288
  Usable: 158 (more is better); proven optimal, since no plan that keeps the same rules has more.
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
