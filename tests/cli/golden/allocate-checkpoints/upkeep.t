Copies in place are moved until two moves or four megabytes are spent.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm even -o now.json -q
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --balance 0.6 --current now.json --max-moves 2 --max-bytes 4MB --detailed-exitcode --format table
  checkpoint allocation
  algorithm                  auto
  status                     feasible; 1 assumption
  reason                     moved 2 copies (2 to mend broken rules): --max-moves 2 allows no more; a fresh plan is better by 0.4688 of what a random plan loses against a fresh one
  usable (max)               82
  proven bound               100
  gap                        21.9512%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  usable share at random     0.28
  usable share of even       0.2727
  rules                      copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  worst loss                 zone:b: n6 carries 1.721 times its fair share
  upkeep
  before               60
  after                82
  fresh                100
  difference           0.4688
  threshold            0
  max moves            2
  max bytes            4,000,000
  moves                2
  bytes                786,432
  moves to mend rules  2
  moves to mend all    –
  still broken
  bound by             max-moves
                       before   after
  usable                   60      82
  usable share         0.2727  0.3727
  imbalance            0.4627  0.5526
  max copies per node       2       2
  copies                   12      12
  zone separation      0.8333       1
  failover load ratio   1.721   1.721
  loss probability          –       –
  copysets                 10       9
  operator  usable  random plan
  alerts         0            0
  sessions      82         61.6
  key group   primary  checkpoints
  alerts/0    n1       n5
  alerts/1    n1       n5
  alerts/2    n2       n4
  alerts/3    n2       n3
  sessions/0  n3       n6
  sessions/1  n3       n6
  sessions/2  n4       n1
  sessions/3  n4       n2
  sessions/4  n5       n4
  sessions/5  n5       n3
  sessions/6  n6       n2
  sessions/7  n6       n1
  move        from  to    bytes
  alerts/1    n2    n5  262,144
  sessions/6  n5    n2  524,288
  Usable: 82 (more is better); it is proven that no plan that keeps the same rules gets above 100. The gap between the two is 22.0 % of the value: the best possible plan is no further away than that.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: moved 2 copies (2 to mend broken rules): --max-moves 2 allows no more; a fresh plan is better by 0.4688 of what a random plan loses against a fresh one
  [3]

They are moved until the plan is close enough to a fresh one.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --balance none --current now.json --threshold 0.1 --format table --detailed-exitcode
  checkpoint allocation
  algorithm                  auto
  status                     feasible; 1 assumption
  reason                     moved 4 copies (2 to mend broken rules): 0.03817 of what a random plan loses against a fresh one is left, within --threshold 0.1
  usable (max)               112
  proven bound               114
  gap                        1.7857%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  usable share at random     0.28
  usable share of even       0.2727
  rules                      copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, memory
  worst loss                 zone:c: n1 carries 1.962 times its fair share
  upkeep
  before               60
  after                112
  fresh                114
  difference           0.03817
  threshold            0.1
  max moves            –
  max bytes            –
  moves                4
  bytes                1,835,008
  moves to mend rules  2
  moves to mend all    –
  still broken
  bound by             threshold
                       before   after
  usable                   60     112
  usable share         0.2727  0.5091
  imbalance            0.4627   2.011
  max copies per node       2       4
  copies                   12      12
  zone separation      0.8333       1
  failover load ratio   1.721   1.962
  loss probability          –       –
  copysets                 10       8
  operator  usable  random plan
  alerts         0            0
  sessions     112         61.6
  key group   primary  checkpoints
  alerts/0    n1       n5
  alerts/1    n1       n3
  alerts/2    n2       n4
  alerts/3    n2       n3
  sessions/0  n3       n6
  sessions/1  n3       n6
  sessions/2  n4       n1
  sessions/3  n4       n2
  sessions/4  n5       n1
  sessions/5  n5       n2
  sessions/6  n6       n1
  sessions/7  n6       n1
  move        from  to    bytes
  alerts/1    n2    n3  262,144
  sessions/4  n4    n1  524,288
  sessions/5  n3    n2  524,288
  sessions/6  n5    n1  524,288
  Usable: 112 (more is better); it is proven that no plan that keeps the same rules gets above 114. The gap between the two is 1.8 % of the value: the best possible plan is no further away than that.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: moved 4 copies (2 to mend broken rules): 0.03817 of what a random plan loses against a fresh one is left, within --threshold 0.1
  [3]

Copies that break rules, and too few moves to mend them all.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --max-moves 3 --format table
  checkpoint allocation
  algorithm                  auto
  status                     feasible; 1 assumption
  reason                     moved 3 copies: --max-moves 3 allows no more, and mending all rules that the copies in place break takes at least 12 moves of 5242880 bytes; still broken: copies-on-distinct-nodes, copies-in-distinct-zones, balance
  usable (max)               14
  proven bound               114
  gap                        714.2857%
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  usable share at random     0.2464
  usable share of even       0.2727
  rules                      copy-not-with-primary, memory
  worst loss                 zone:b: n5 carries 1.377 times its fair share
  upkeep
  before               0
  after                14
  fresh                70
  difference           6.667
  threshold            0
  max moves            3
  max bytes            –
  moves                3
  bytes                1,572,864
  moves to mend rules  3
  moves to mend all    12
  still broken         copies-on-distinct-nodes, copies-in-distinct-zones, balance
  bound by             max-moves
                       before   after
  usable                    0      14
  usable share              –   0.125
  imbalance             2.205       1
  max copies per node       2       2
  copies                    4       7
  zone separation           0  0.4286
  failover load ratio   2.137   1.377
  loss probability          –       –
  copysets                  1       7
  operator  usable  random plan
  alerts         0            0
  sessions      14         27.6
  key group   primary  checkpoints
  alerts/0    n1       n2
  alerts/1    n1       n2
  alerts/2    n2       n1
  alerts/3    n2       n1
  sessions/0  n3
  sessions/1  n3
  sessions/2  n4
  sessions/3  n4       n5
  sessions/4  n5
  sessions/5  n5
  sessions/6  n6       n4
  sessions/7  n6       n3
  move        from  to    bytes
  sessions/3     –  n5  524,288
  sessions/6     –  n4  524,288
  sessions/7     –  n3  524,288
  Usable: 14 (more is better); it is proven that no plan that keeps the same rules gets above 114. The gap between the two is 714.3 % of the value: the best possible plan is no further away than that.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: warning: moved 3 copies: --max-moves 3 allows no more, and mending all rules that the copies in place break takes at least 12 moves of 5242880 bytes; still broken: copies-on-distinct-nodes (sessions/0 has 0 copies instead of 1 and 4 more), copies-in-distinct-zones (alerts/0 has a copy on n2, in a like its primary on n1 and 3 more), balance (n1 holds copies of load 136, outside 178.566 to 198.768 (fair share 188.667, balance 0.053538) and 5 more); the bound is that of any plan, also one that breaks rules [RULES_STILL_BROKEN]
  2> ftplan: warning: usable share 0.125, no better than random copies (0.2464) and --algorithm even (0.2727): in windows of overload this plan helps no more than chance; --algorithm even does as well [NO_GAIN_IN_USABLE_SHARE]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: moved 3 copies: --max-moves 3 allows no more, and mending all rules that the copies in place break takes at least 12 moves of 5242880 bytes; still broken: copies-on-distinct-nodes, copies-in-distinct-zones, balance

No copies in place.

  $ sed -i '/checkpoints:/,$d' cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --max-moves 3
  2> ftplan: --threshold, --max-moves and --max-bytes need the checkpoints now in place: give --current PLAN, or placement.checkpoints in the cluster file
  [2]
