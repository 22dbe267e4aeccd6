A plan that is as good as a fresh one stays.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats -o now.json -q
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --current now.json --detailed-exitcode --format table
  checkpoint allocation
  algorithm                  auto
  status                     optimal for these inputs; 1 assumption
  reason                     no change: a fresh plan is no better than the copies in place
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
  upkeep
  before               70
  after                70
  fresh                70
  difference           0
  threshold            0
  max moves            –
  max bytes            –
  moves                0
  bytes                0
  moves to mend rules  0
  moves to mend all    –
  still broken
  bound by             best
                        before    after
  usable                    70       70
  usable share          0.3182   0.3182
  imbalance            0.05354  0.05354
  max copies per node        3        3
  copies                    12       12
  zone separation            1        1
  failover load ratio    1.893    1.893
  loss probability           –        –
  copysets                   9        9
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
  Usable: 70 (more is better); proven optimal, since no plan that keeps the same rules has more.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: no change: a fresh plan is no better than the copies in place
