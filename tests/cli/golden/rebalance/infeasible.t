Which node cannot be relieved, by how much, and what would help.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --overload 0.5 --iterations 20 --format table -q
  rebalance
  algorithm     adaptive
  status        infeasible; 1 assumption
  assumed       a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason        not all nodes can be relieved: at best n2 keeps a load of 360, 110.952 above its limit of 249.048; all nodes together may have 1494.29, the load is 2092
  limit         capacity
  current       0.5
  needed        0.7228
  smallest fix  --overload 0.722754
  rules         capacity, phase-capacity, copies-apart, memory, protocol
                                   before
  highest utilisation              1.265
  of node                          n6
  lowest utilisation               0.273
  farthest from the fair share     0.8069
  overloaded nodes                 4
  windows with an overloaded node  1
  load above the limit, per s      0.2253
  2> ftplan: no plan: not all nodes can be relieved: at best n2 keeps a load of 360, 110.952 above its limit of 249.048; all nodes together may have 1494.29, the load is 2092
  2> ftplan: smallest fix: --overload 0.722754
  [1]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --max-moves 1 --iterations 20 --format table -q
  rebalance
  algorithm     adaptive
  status        infeasible; 1 assumption
  assumed       a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason        3 key groups have to move, at most 1 may
  limit         max-moves
  current       1
  needed        3
  smallest fix  --max-moves 3
  rules         capacity, phase-capacity, copies-apart, memory, max-moves, protocol
                                   before
  highest utilisation              1.265
  of node                          n6
  lowest utilisation               0.273
  farthest from the fair share     0.8069
  overloaded nodes                 2
  windows with an overloaded node  1
  load above the limit, per s      0.08369
  2> ftplan: no plan: 3 key groups have to move, at most 1 may
  2> ftplan: smallest fix: --max-moves 3
  [1]
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --tolerance 0 --iterations 20 --format table -q
  rebalance
  algorithm     adaptive
  status        infeasible; 1 assumption
  assumed       a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason        no placement is within 0 of even: at best n5 has a load of 330, 0.0535 away from its share of 348.667
  limit         balance
  current       0
  needed        0.05354
  smallest fix  --tolerance 0.0535373
  rules         capacity, balance, phase-capacity, copies-apart, memory, protocol
                                   before
  highest utilisation              1.265
  of node                          n6
  lowest utilisation               0.273
  farthest from the fair share     0.8069
  overloaded nodes                 2
  windows with an overloaded node  1
  load above the limit, per s      0.08369
  2> ftplan: no plan: no placement is within 0 of even: at best n5 has a load of 330, 0.0535 away from its share of 348.667
  2> ftplan: smallest fix: --tolerance 0.0535373
  [1]
