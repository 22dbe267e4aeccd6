A job with checkpoints; two of its nodes have more to do than they can.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q

As a table, with what there is to say of the inputs.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --iterations 20 --format table
  rebalance
  algorithm              adaptive
  status                 optimal for these inputs; 1 assumption
  latency (min)          0.03096
  proven bound           0.03096
  gap                    0.0000%
  assumed                a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  moves to a checkpoint  100.0% where these are preferred, 0.0% where not
  pays back after        0.04648 s (0.001921 paused, 0.04132 of overload saved a second)
  rules                  capacity, phase-capacity, copies-apart, memory, protocol
                                   before   after
  highest utilisation              1.265    0.795
  of node                          n6       n1
  lowest utilisation               0.273    0.5421
  farthest from the fair share     0.8069   0.2256
  overloaded nodes                 2        0
  windows with an overloaded node  1        0.875
  load above the limit, per s      0.08369  0.04237
  what it takes                    this plan  all direct  to random nodes
  moves                                    3           –                –
  with a checkpoint on the target          1           –              0.2
  all pauses, each moved alone, s    0.03096       1.325           0.8659
  all moves, each alone, s             5.913       1.325            50.24
  bytes moved                          1,110   1,310,720          839,083
  phases                                   2           –                –
  longest pause, s                   0.01048           –                –
  all phases, s                        5.052           –                –
  protocol  moves  latency, s  bytes  why
  cpal          3     0.03096  1,110  checkpoint on target
  phase  moves  bytes  duration, s  longest pause, s  highest utilisation
      0      2    560        2.119           0.01034                1.265
      1      1    550        2.933           0.01048                1.265
  done  key group   phase  from  to  by    latency, s  pause, s  completion, s  bytes  why
  [ ]   sessions/4      0  n5    n1  cpal     0.01034   0.01034          2.119    400  checkpoint on target
  [ ]   alerts/2        0  n2    n3  cpal     0.01014   0.01014          0.861    160  checkpoint on target
  [ ]   sessions/7      1  n6    n2  cpal     0.01048   0.01048          2.933    550  checkpoint on target
  node  utilisation before   after
  n1                0.3132   0.795
  n2                 0.273  0.7428
  n3                0.5421  0.7348
  n4                 0.783   0.783
  n5                 1.024  0.5421  was overloaded
  n6                 1.265  0.6023  was overloaded
  3 moves undo it, the last phase first, 0.03096 s of pauses in all: rollback in the JSON
  2> ftplan: algorithm: adaptive (the default)
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]

As a list to tick off.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --iterations 20 --format markdown -q
  | rebalance |  |
  |---|---|
  | algorithm | adaptive |
  | status | optimal for these inputs; 1 assumption |
  | latency (min) | 0.03096 |
  | proven bound | 0.03096 |
  | gap | 0.0000% |
  | assumed | a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED] |
  | moves to a checkpoint | 100.0% where these are preferred, 0.0% where not |
  | pays back after | 0.04648 s (0.001921 paused, 0.04132 of overload saved a second) |
  | rules | capacity, phase-capacity, copies-apart, memory, protocol |
  |  | before | after |
  |---|---|---|
  | highest utilisation | 1.265 | 0.795 |
  | of node | n6 | n1 |
  | lowest utilisation | 0.273 | 0.5421 |
  | farthest from the fair share | 0.8069 | 0.2256 |
  | overloaded nodes | 2 | 0 |
  | windows with an overloaded node | 1 | 0.875 |
  | load above the limit, per s | 0.08369 | 0.04237 |
  | what it takes | this plan | all direct | to random nodes |
  |---|---:|---:|---:|
  | moves | 3 | – | – |
  | with a checkpoint on the target | 1 | – | 0.2 |
  | all pauses, each moved alone, s | 0.03096 | 1.325 | 0.8659 |
  | all moves, each alone, s | 5.913 | 1.325 | 50.24 |
  | bytes moved | 1,110 | 1,310,720 | 839,083 |
  | phases | 2 | – | – |
  | longest pause, s | 0.01048 | – | – |
  | all phases, s | 5.052 | – | – |
  | protocol | moves | latency, s | bytes | why |
  |---|---:|---:|---:|---|
  | cpal | 3 | 0.03096 | 1,110 | checkpoint on target |
  | phase | moves | bytes | duration, s | longest pause, s | highest utilisation |
  |---:|---:|---:|---:|---:|---:|
  | 0 | 2 | 560 | 2.119 | 0.01034 | 1.265 |
  | 1 | 1 | 550 | 2.933 | 0.01048 | 1.265 |
  - [ ] **key group sessions/4**: phase: 0; from: n5; to: n1; by: cpal; latency, s: 0.01034; pause, s: 0.01034; completion, s: 2.119; bytes: 400; why: checkpoint on target
  - [ ] **key group alerts/2**: phase: 0; from: n2; to: n3; by: cpal; latency, s: 0.01014; pause, s: 0.01014; completion, s: 0.861; bytes: 160; why: checkpoint on target
  - [ ] **key group sessions/7**: phase: 1; from: n6; to: n2; by: cpal; latency, s: 0.01048; pause, s: 0.01048; completion, s: 2.933; bytes: 550; why: checkpoint on target
  | node | utilisation before | after |  |
  |---|---:|---:|---|
  | n1 | 0.3132 | 0.795 |  |
  | n2 | 0.273 | 0.7428 |  |
  | n3 | 0.5421 | 0.7348 |  |
  | n4 | 0.783 | 0.783 |  |
  | n5 | 1.024 | 0.5421 | was overloaded |
  | n6 | 1.265 | 0.6023 | was overloaded |
  3 moves undo it, the last phase first, 0.03096 s of pauses in all: rollback in the JSON

The same as JSON: moves, phases, where checkpoints lie afterwards, the way back.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --iterations 20 -o plan.json -q
  $ jq -c '.objective' plan.json
  {"bound":0.0309603120663,"gap":1.68091665768e-15,"name":"latency","scale":0.0309603120663,"sense":"min","value":0.0309603120663}
  $ jq -c '.plan.moves[0]' plan.json
  {"bytes":400,"completion_s":2.1193601411,"from":"n5","key_group":4,"latency_s":0.0103448275862,"operator":"sessions","pause_s":0.0103448275862,"phase":0,"protocol":"cpal","reason":"checkpoint on target","to":"n1"}
  $ jq -c '.plan.phases[0]' plan.json
  {"bytes":560,"duration_s":2.1193601411,"highest_utilisation":1.26481835564,"longest_pause_s":0.0103448275862,"moves":2,"phase":0}
  $ jq -c '.plan.checkpoints[]' plan.json
  {"key_group":0,"nodes":["n6"],"operator":"alerts"}
  {"key_group":1,"nodes":["n6"],"operator":"alerts"}
  {"key_group":2,"nodes":["n2"],"operator":"alerts"}
  {"key_group":3,"nodes":["n4"],"operator":"alerts"}
  {"key_group":0,"nodes":["n1"],"operator":"sessions"}
  {"key_group":1,"nodes":["n5"],"operator":"sessions"}
  {"key_group":2,"nodes":["n5"],"operator":"sessions"}
  {"key_group":3,"nodes":["n6"],"operator":"sessions"}
  {"key_group":4,"nodes":["n5"],"operator":"sessions"}
  {"key_group":5,"nodes":["n3"],"operator":"sessions"}
  {"key_group":6,"nodes":["n4"],"operator":"sessions"}
  {"key_group":7,"nodes":["n6"],"operator":"sessions"}
  $ jq -c '.plan.rollback[] | [.phase, .operator, .key_group, .from, .to, .protocol]' plan.json
  [0,"sessions",7,"n2","n6","cpal"]
  [1,"sessions",4,"n1","n5","cpal"]
  [1,"alerts",2,"n3","n2","cpal"]
  $ jq -c '.summary | keys' plan.json
  ["after","assisted","before","front","nodes","payback","peers","random"]
  $ jq -c '.summary.peers, .summary.payback' plan.json
  {"all_direct":{"bytes":1310720,"completion_s":1.32463722494,"latency_s":1.32463722494}}
  {"paused":0.00192062413264,"payback_s":0.0464767525074,"saved_per_s":0.041324404762}

Sent as they are, and proven to be the cheapest.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --protocol direct --algorithm exact --format table -q
  rebalance
  algorithm              exact
  status                 optimal for these inputs; 1 assumption
  latency (min)          1.32
  proven bound           1.32
  gap                    0.0000%
  assumed                a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  moves to a checkpoint  100.0% where these are preferred, 0.0% where not
  pays back after        2.404 s (0.08237 paused, 0.03426 of overload saved a second)
  rules                  capacity, phase-capacity, copies-apart, memory, protocol
                                   before   after
  highest utilisation              1.265    0.795
  of node                          n6       n1
  lowest utilisation               0.273    0.5421
  farthest from the fair share     0.8069   0.2256
  overloaded nodes                 2        0
  windows with an overloaded node  1        0.875
  load above the limit, per s      0.08369  0.04943
  what it takes                    this plan  all direct  to random nodes
  moves                                    3           –                –
  all pauses, each moved alone, s       1.32        1.32             1.32
  all moves, each alone, s              1.32        1.32             1.32
  bytes moved                      1,310,720   1,310,720        1,310,720
  phases                                   2           –                –
  longest pause, s                    0.5317           –                –
  all phases, s                        1.059           –                –
  protocol  moves  latency, s      bytes  why
  direct        3        1.32  1,310,720  --protocol direct
  phase  moves    bytes  duration, s  longest pause, s  highest utilisation
      0      2  786,432       0.5272            0.5272                1.265
      1      1  524,288       0.5317            0.5317                0.795
  done  key group   phase  from  to  by      latency, s  pause, s  completion, s    bytes  why
  [ ]   sessions/4      0  n5    n1  direct      0.5272    0.5272         0.5272  524,288  --protocol direct
  [ ]   alerts/3        0  n2    n3  direct      0.2614    0.2614         0.2614  262,144  --protocol direct
  [ ]   sessions/6      1  n6    n2  direct      0.5317    0.5317         0.5317  524,288  --protocol direct
  node  utilisation before   after
  n1                0.3132   0.795
  n2                 0.273   0.795
  n3                0.5421  0.6224
  n4                 0.783   0.783
  n5                 1.024  0.5421  was overloaded
  n6                 1.265  0.6625  was overloaded
  3 moves undo it, the last phase first, 1.32 s of pauses in all: rollback in the JSON

Within a quarter of even.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --tolerance 0.25 --iterations 20 --format table -q
  rebalance
  algorithm              adaptive
  status                 optimal for these inputs; 1 assumption
  latency (min)          0.03096
  proven bound           0.03096
  gap                    0.0000%
  assumed                a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  moves to a checkpoint  50.0% where these are preferred, 0.0% where not
  pays back after        0.04648 s (0.001921 paused, 0.04132 of overload saved a second)
  rules                  capacity, balance, phase-capacity, copies-apart, memory, protocol
                                   before   after
  highest utilisation              1.265    0.795
  of node                          n6       n1
  lowest utilisation               0.273    0.5421
  farthest from the fair share     0.8069   0.2256
  overloaded nodes                 2        0
  windows with an overloaded node  1        0.875
  load above the limit, per s      0.08369  0.04237
  what it takes                    this plan  all direct  to random nodes
  moves                                    3           –                –
  with a checkpoint on the target          1           –              0.2
  all pauses, each moved alone, s    0.03096       1.325           0.8659
  all moves, each alone, s             5.913       1.325            50.24
  bytes moved                          1,110   1,310,720          839,083
  phases                                   2           –                –
  longest pause, s                   0.01048           –                –
  all phases, s                        5.052           –                –
  protocol  moves  latency, s  bytes  why
  cpal          3     0.03096  1,110  checkpoint on target
  phase  moves  bytes  duration, s  longest pause, s  highest utilisation
      0      2    560        2.119           0.01034                1.265
      1      1    550        2.933           0.01048                1.265
  done  key group   phase  from  to  by    latency, s  pause, s  completion, s  bytes  why
  [ ]   sessions/4      0  n5    n1  cpal     0.01034   0.01034          2.119    400  checkpoint on target
  [ ]   alerts/2        0  n2    n3  cpal     0.01014   0.01014          0.861    160  checkpoint on target
  [ ]   sessions/7      1  n6    n2  cpal     0.01048   0.01048          2.933    550  checkpoint on target
  node  utilisation before   after
  n1                0.3132   0.795
  n2                 0.273  0.7428
  n3                0.5421  0.7348
  n4                 0.783   0.783
  n5                 1.024  0.5421  was overloaded
  n6                 1.265  0.6023  was overloaded
  3 moves undo it, the last phase first, 0.03096 s of pauses in all: rollback in the JSON

Nothing is above its limit: nothing moves, and the exit code of --detailed-exitcode says so.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --overload 1.5 --detailed-exitcode --format table -q
  rebalance
  algorithm      adaptive
  status         optimal for these inputs; 1 assumption
  latency (min)  0
  proven bound   0
  gap            0.0000%
  assumed        a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason         no change: no node is above 1.5 of its capacity
  rules          capacity, phase-capacity, copies-apart, memory, protocol
                                   before  after
  highest utilisation              1.265   1.265
  of node                          n6      n6
  lowest utilisation               0.273   0.273
  farthest from the fair share     0.8069  0.8069
  overloaded nodes                 0       0
  windows with an overloaded node  0       0
  load above the limit, per s      0       0
  node  utilisation before   after
  n1                0.3132  0.3132
  n2                 0.273   0.273
  n3                0.5421  0.5421
  n4                 0.783   0.783
  n5                 1.024   1.024
  n6                 1.265   1.265
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --iterations 20 --detailed-exitcode -o other.json -q
  [3]
