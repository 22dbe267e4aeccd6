An optimum, as a table.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --format table
  checkpoint allocation
  algorithm                  exact
  status                     optimal for these inputs; 1 assumption
  usable (max)               72
  proven bound               72
  gap                        0.0000%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  usable share at random     0.28
  usable share of even       0.2727
  rules                      copy-not-with-primary, copies-on-distinct-nodes, balance, memory
  balance                    0.05354 (the smallest feasible)
  worst loss                 node:n4: n6 carries 2.008 times its fair share
                       before    after
  usable                    0       72
  usable share              –   0.3273
  imbalance             2.205  0.05354
  max copies per node       2        3
  copies                    4       12
  zone separation           0   0.9167
  failover load ratio       5    2.008
  loss probability          –        –
  copysets                  1       10
  operator  usable  random plan
  alerts         0            0
  sessions      72         61.6
  key group   primary  checkpoints
  alerts/0    n1       n5
  alerts/1    n1       n3
  alerts/2    n2       n5
  alerts/3    n2       n1
  sessions/0  n3       n2
  sessions/1  n3       n6
  sessions/2  n4       n5
  sessions/3  n4       n6
  sessions/4  n5       n2
  sessions/5  n5       n3
  sessions/6  n6       n1
  sessions/7  n6       n4
  move        from  to    bytes
  alerts/0    n2    n5  262,144
  alerts/1    n2    n3  262,144
  alerts/2    n1    n5  262,144
  sessions/0  –     n2  524,288
  sessions/1  –     n6  524,288
  sessions/2  –     n5  524,288
  sessions/3  –     n6  524,288
  sessions/4  –     n2  524,288
  sessions/5  –     n3  524,288
  sessions/6  –     n1  524,288
  sessions/7  –     n4  524,288
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]

By the same objective, named.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective usable --format table
  checkpoint allocation
  algorithm                  exact
  status                     optimal for these inputs; 1 assumption
  usable (max)               72
  proven bound               72
  gap                        0.0000%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  usable share at random     0.28
  usable share of even       0.2727
  rules                      copy-not-with-primary, copies-on-distinct-nodes, balance, memory
  balance                    0.05354 (the smallest feasible)
  worst loss                 node:n4: n6 carries 2.008 times its fair share
                       before    after
  usable                    0       72
  usable share              –   0.3273
  imbalance             2.205  0.05354
  max copies per node       2        3
  copies                    4       12
  zone separation           0   0.9167
  failover load ratio       5    2.008
  loss probability          –        –
  copysets                  1       10
  operator  usable  random plan
  alerts         0            0
  sessions      72         61.6
  key group   primary  checkpoints
  alerts/0    n1       n5
  alerts/1    n1       n3
  alerts/2    n2       n5
  alerts/3    n2       n1
  sessions/0  n3       n2
  sessions/1  n3       n6
  sessions/2  n4       n5
  sessions/3  n4       n6
  sessions/4  n5       n2
  sessions/5  n5       n3
  sessions/6  n6       n1
  sessions/7  n6       n4
  move        from  to    bytes
  alerts/0    n2    n5  262,144
  alerts/1    n2    n3  262,144
  alerts/2    n1    n5  262,144
  sessions/0  –     n2  524,288
  sessions/1  –     n6  524,288
  sessions/2  –     n5  524,288
  sessions/3  –     n6  524,288
  sessions/4  –     n2  524,288
  sessions/5  –     n3  524,288
  sessions/6  –     n1  524,288
  sessions/7  –     n4  524,288
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]

By correlation, as Markdown.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective correlation --balance count --format markdown
  | checkpoint allocation |  |
  |---|---|
  | algorithm | exact |
  | status | optimal for these inputs; 1 assumption |
  | correlation (min) | -582.6 |
  | proven bound | -582.6 |
  | gap | 0.0000% |
  | assumed | a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED] |
  | expected of a random plan | 52.7 |
  | usable share at random | 0.28 |
  | usable share of even | 0.2727 |
  | rules | copy-not-with-primary, copies-on-distinct-nodes, count, memory |
  | worst loss | node:n5: n6 carries 2.151 times its fair share |
  |  | before | after |
  |---|---:|---:|
  | correlation | -48.76 | -582.6 |
  | usable share | – | 0.2727 |
  | imbalance | 2.205 | 0.6444 |
  | max copies per node | 2 | 2 |
  | copies | 4 | 12 |
  | zone separation | 0 | 0.9167 |
  | failover load ratio | 5 | 2.151 |
  | loss probability | – | – |
  | copysets | 1 | 8 |
  | operator | correlation | random plan |
  |---|---:|---:|
  | alerts | -30.27 | 1.425 |
  | sessions | -552.4 | 51.27 |
  | key group | primary | checkpoints |
  |---|---|---|
  | alerts/0 | n1 | n4 |
  | alerts/1 | n1 | n5 |
  | alerts/2 | n2 | n3 |
  | alerts/3 | n2 | n5 |
  | sessions/0 | n3 | n6 |
  | sessions/1 | n3 | n2 |
  | sessions/2 | n4 | n1 |
  | sessions/3 | n4 | n2 |
  | sessions/4 | n5 | n1 |
  | sessions/5 | n5 | n6 |
  | sessions/6 | n6 | n4 |
  | sessions/7 | n6 | n3 |
  | move | from | to | bytes |
  |---|---|---|---:|
  | alerts/0 | n2 | n4 | 262,144 |
  | alerts/1 | n2 | n5 | 262,144 |
  | alerts/2 | n1 | n3 | 262,144 |
  | alerts/3 | n1 | n5 | 262,144 |
  | sessions/0 | – | n6 | 524,288 |
  | sessions/1 | – | n2 | 524,288 |
  | sessions/2 | – | n1 | 524,288 |
  | sessions/3 | – | n2 | 524,288 |
  | sessions/4 | – | n1 | 524,288 |
  | sessions/5 | – | n6 | 524,288 |
  | sessions/6 | – | n4 | 524,288 |
  | sessions/7 | – | n3 | 524,288 |
  2> ftplan: warning: usable share 0.2727, no better than random copies (0.28) and --algorithm even (0.2727): in windows of overload this plan helps no more than chance; take --objective usable, or even [NO_GAIN_IN_USABLE_SHARE]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
