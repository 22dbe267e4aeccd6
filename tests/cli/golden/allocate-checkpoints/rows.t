A long table shows what is asked for, and the table ends with what is proven.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --rows 2 --format table -q
  checkpoint allocation
  algorithm                  auto
  status                     optimal for these inputs; 1 assumption
  usable (max)               70
  proven bound               70
  gap                        0.0000%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  usable share at random     0.28
  usable share of even       0.2727
  rules                      copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  balance                    0.05354 (the smallest feasible)
  worst loss                 zone:b: n6 carries 1.893 times its fair share
                       before    after
  usable                    0       70
  usable share              –   0.3182
  imbalance             2.205  0.05354
  max copies per node       2        3
  copies                    4       12
  zone separation           0        1
  failover load ratio   2.137    1.893
  loss probability          –        –
  copysets                  1        9
  operator  usable  random plan
  alerts         0            0
  sessions      70         61.6
  first 2 … and 10 more (--rows all shows them)
  key group  primary  checkpoints
  alerts/0   n1       n4
  alerts/1   n1       n5
  first 2 … and 10 more (--rows all shows them)
  move      from  to    bytes
  alerts/0  n2    n4  262,144
  alerts/1  n2    n5  262,144
  Usable: 70 (more is better); proven optimal, since no plan that keeps the same rules has more.
