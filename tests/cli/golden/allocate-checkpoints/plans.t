An optimum, as a table.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --format table
  checkpoint allocation
  algorithm                  exact
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
  key group   primary  checkpoints
  alerts/0    n1       n4
  alerts/1    n1       n5
  alerts/2    n2       n5
  alerts/3    n2       n3
  sessions/0  n3       n1
  sessions/1  n3       n6
  sessions/2  n4       n5
  sessions/3  n4       n6
  sessions/4  n5       n1
  sessions/5  n5       n4
  sessions/6  n6       n3
  sessions/7  n6       n2
  move        from  to    bytes
  alerts/0    n2    n4  262,144
  alerts/1    n2    n5  262,144
  alerts/2    n1    n5  262,144
  alerts/3    n1    n3  262,144
  sessions/0  –     n1  524,288
  sessions/1  –     n6  524,288
  sessions/2  –     n5  524,288
  sessions/3  –     n6  524,288
  sessions/4  –     n1  524,288
  sessions/5  –     n4  524,288
  sessions/6  –     n3  524,288
  sessions/7  –     n2  524,288
  Usable: 70 (more is better); proven optimal, since no plan that keeps the same rules has more.
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]

By the same objective, named.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective usable --format table
  checkpoint allocation
  algorithm                  exact
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
  key group   primary  checkpoints
  alerts/0    n1       n4
  alerts/1    n1       n5
  alerts/2    n2       n5
  alerts/3    n2       n3
  sessions/0  n3       n1
  sessions/1  n3       n6
  sessions/2  n4       n5
  sessions/3  n4       n6
  sessions/4  n5       n1
  sessions/5  n5       n4
  sessions/6  n6       n3
  sessions/7  n6       n2
  move        from  to    bytes
  alerts/0    n2    n4  262,144
  alerts/1    n2    n5  262,144
  alerts/2    n1    n5  262,144
  alerts/3    n1    n3  262,144
  sessions/0  –     n1  524,288
  sessions/1  –     n6  524,288
  sessions/2  –     n5  524,288
  sessions/3  –     n6  524,288
  sessions/4  –     n1  524,288
  sessions/5  –     n4  524,288
  sessions/6  –     n3  524,288
  sessions/7  –     n2  524,288
  Usable: 70 (more is better); proven optimal, since no plan that keeps the same rules has more.
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]

By correlation, as Markdown.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation --balance count --format markdown
  | checkpoint allocation |  |
  |---|---|
  | algorithm | exact |
  | status | optimal for these inputs; 1 assumption |
  | correlation (min) | -549.2 |
  | proven bound | -549.2 |
  | gap | 0.0000% |
  | assumed | a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED] |
  | expected of a random plan | 52.7 |
  | usable share at random | 0.28 |
  | usable share of even | 0.2727 |
  | rules | copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, count, memory |
  | worst loss | zone:b: n6 carries 1.434 times its fair share |
  |  | before | after |
  |---|---:|---:|
  | correlation | -48.76 | -549.2 |
  | usable share | – | 0.3818 |
  | imbalance | 2.205 | 0.4493 |
  | max copies per node | 2 | 2 |
  | copies | 4 | 12 |
  | zone separation | 0 | 1 |
  | failover load ratio | 2.137 | 1.434 |
  | loss probability | – | – |
  | copysets | 1 | 9 |
  | operator | correlation | random plan |
  |---|---:|---:|
  | alerts | -39.69 | 1.425 |
  | sessions | -509.5 | 51.27 |
  | key group | primary | checkpoints |
  |---|---|---|
  | alerts/0 | n1 | n6 |
  | alerts/1 | n1 | n5 |
  | alerts/2 | n2 | n3 |
  | alerts/3 | n2 | n4 |
  | sessions/0 | n3 | n6 |
  | sessions/1 | n3 | n5 |
  | sessions/2 | n4 | n1 |
  | sessions/3 | n4 | n2 |
  | sessions/4 | n5 | n1 |
  | sessions/5 | n5 | n2 |
  | sessions/6 | n6 | n4 |
  | sessions/7 | n6 | n3 |
  | move | from | to | bytes |
  |---|---|---|---:|
  | alerts/0 | n2 | n6 | 262,144 |
  | alerts/1 | n2 | n5 | 262,144 |
  | alerts/2 | n1 | n3 | 262,144 |
  | alerts/3 | n1 | n4 | 262,144 |
  | sessions/0 | – | n6 | 524,288 |
  | sessions/1 | – | n5 | 524,288 |
  | sessions/2 | – | n1 | 524,288 |
  | sessions/3 | – | n2 | 524,288 |
  | sessions/4 | – | n1 | 524,288 |
  | sessions/5 | – | n2 | 524,288 |
  | sessions/6 | – | n4 | 524,288 |
  | sessions/7 | – | n3 | 524,288 |
  Correlation: −549.2 (less is better); proven optimal, since no plan that keeps the same rules has less.
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
