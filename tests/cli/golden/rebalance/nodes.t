A node that is drained: no key group and no checkpoint stays on it.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --remove n3 --iterations 20 --format table -q
  rebalance
  algorithm              adaptive
  status                 optimal for these inputs; 1 assumption
  latency (min)          1.121
  proven bound           1.121
  gap                    0.0000%
  assumed                a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  drains                 n3
  moves to a checkpoint  50.0% where these are preferred, 50.0% where not
  pays back              never: no overload is saved
  rules                  capacity, drained, phase-capacity, copies-apart, memory, protocol
                                   before   after
  highest utilisation              1.265    0.8432
  of node                          n6       n1
  lowest utilisation               0.273    0.8312
  farthest from the fair share     0.675    0.01052
  overloaded nodes                 2        0
  windows with an overloaded node  1        1
  load above the limit, per s      0.08369  0.09489
  what it takes                    this plan  all direct  to random nodes
  moves                                    9           –                –
  with a checkpoint on the target     0.4444           –           0.2111
  all pauses, each moved alone, s      1.121       3.673             2.08
  all moves, each alone, s             188.6       3.673            200.5
  bytes moved                      1,049,844   3,670,016        2,018,995
  phases                                   4           –                –
  longest pause, s                    0.5228           –                –
  all phases, s                        65.05           –                –
  checkpoints made anew                    2           –                –
  their bytes                      1,048,576           –                –
  protocol  moves  latency, s      bytes  why
  direct        2       1.041  1,048,576  no checkpoint on target
  lazy          3     0.03886          2  full checkpoints: the next one goes to the target
  cpal          4     0.04109      1,267  checkpoint on target
  phase  moves    bytes  duration, s  longest pause, s  highest utilisation
      0      1  524,288       0.5228            0.5228                1.265
      1      4       68        60.26           0.01338                1.265
      2      2      950        2.933           0.01048                1.265
      3      2  524,538        1.327            0.5185               0.8432
  done  key group   phase  from  to  by      latency, s  pause, s  completion, s    bytes  why
  [ ]   sessions/2      0  n4    n1  direct      0.5228    0.5228         0.5228  524,288  no checkpoint on target
  [ ]   alerts/2        1  n2    n4  lazy       0.01338   0.01338          60.26        1  full checkpoints: the next one goes to the target
  [ ]   alerts/1        1  n1    n2  lazy       0.01295   0.01295          60.26        1  full checkpoints: the next one goes to the target
  [ ]   alerts/0        1  n1    n4  lazy       0.01253   0.01253          60.26        0  full checkpoints: the next one goes to the target
  [ ]   alerts/3        1  n2    n4  cpal       0.01006   0.01006         0.3853       67  checkpoint on target
  [ ]   sessions/7      2  n6    n2  cpal       0.01048   0.01048          2.933      550  checkpoint on target
  [ ]   sessions/4      2  n5    n1  cpal       0.01034   0.01034          2.119      400  checkpoint on target
  [ ]   sessions/1      3  n3    n5  cpal       0.01021   0.01021          1.327      250  checkpoint on target
  [ ]   sessions/0      3  n3    n6  direct      0.5185    0.5185         0.5185  524,288  no checkpoint on target
  checkpoint made anew  on  of the state on    bytes
  sessions/1            n1  n5               524,288
  sessions/5            n2  n5               524,288
  node  utilisation before   after
  n1                0.3132  0.8432
  n2                 0.273  0.8312
  n3                0.5421       –
  n4                 0.783  0.8392
  n5                 1.024  0.8432  was overloaded
  n6                 1.265  0.8432  was overloaded
  9 moves undo it, the last phase first, 1.111 s of pauses in all: rollback in the JSON

One that is gone almost at once: what cannot leave before is recovered from its checkpoint, hot key groups first.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --remove n3 --within 400ms --iterations 20 --format table -q
  rebalance
  algorithm              adaptive
  status                 optimal for these inputs; 1 assumption
  latency (min)          3.415
  proven bound           3.415
  gap                    0.0000%
  assumed                a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  drains                 n3
  moves to a checkpoint  50.0% where these are preferred, 50.0% where not
  pays back              never: no overload is saved
  rules                  capacity, drained, phase-capacity, copies-apart, memory, within, protocol
                                   before   after
  highest utilisation              1.265    0.8432
  of node                          n6       n1
  lowest utilisation               0.273    0.8312
  farthest from the fair share     0.675    0.01052
  overloaded nodes                 2        0
  windows with an overloaded node  1        1
  load above the limit, per s      0.08369  0.09489
  what it takes                           this plan  all direct  to random nodes
  moves                                           9           –                –
  with a checkpoint on the target            0.4444           –           0.2111
  all pauses, each moved alone, s             3.415       3.673             2.08
  all moves, each alone, s                    189.6       3.673            200.5
  bytes moved                             1,050,044   3,670,016        2,018,995
  phases                                          4           –                –
  longest pause, s                            1.536           –                –
  all phases, s                               65.25           –                –
  recovered after the loss of their node          2           –                –
  checkpoints made anew                           2           –                –
  their bytes                             1,048,576           –                –
  protocol  moves  latency, s    bytes  why
  direct        1      0.5228  524,288  no checkpoint on target
  lazy          3     0.03886        2  full checkpoints: the next one goes to the target
  cpal          3     0.03088    1,017  checkpoint on target
  recover       1       1.287      250  after loss of its node, checkpoint on target
  fetch         1       1.536  524,488  after loss of its node, no checkpoint on target
  phase  moves    bytes  duration, s  longest pause, s  highest utilisation
      0      1  524,288       0.5228            0.5228                1.265
      1      4       68        60.26           0.01338                1.265
      2      2      950        2.933           0.01048                1.265
      3      2  524,738        1.536             1.536               0.8432
  done  key group   phase  from  to  by      latency, s  pause, s  completion, s    bytes  why
  [ ]   sessions/2      0  n4    n1  direct      0.5228    0.5228         0.5228  524,288  no checkpoint on target
  [ ]   alerts/2        1  n2    n4  lazy       0.01338   0.01338          60.26        1  full checkpoints: the next one goes to the target
  [ ]   alerts/1        1  n1    n2  lazy       0.01295   0.01295          60.26        1  full checkpoints: the next one goes to the target
  [ ]   alerts/0        1  n1    n4  lazy       0.01253   0.01253          60.26        0  full checkpoints: the next one goes to the target
  [ ]   alerts/3        1  n2    n4  cpal       0.01006   0.01006         0.3853       67  checkpoint on target
  [ ]   sessions/7      2  n6    n2  cpal       0.01048   0.01048          2.933      550  checkpoint on target
  [ ]   sessions/4      2  n5    n1  cpal       0.01034   0.01034          2.119      400  checkpoint on target
  done  recovered in this order  phase  from  to  by       latency, s  pause, s  completion, s    bytes  down, s  why
  [ ]   sessions/1                   3  n3    n5  recover       1.287     1.287          1.287      250    64.61  after loss of its node, checkpoint on target: by direct it would take 0.5206 s to leave
  [ ]   sessions/0                   3  n3    n6  fetch         1.536     1.536          1.536  524,488    64.85  after loss of its node, no checkpoint on target: by direct it would take 0.5185 s to leave
  checkpoint made anew  on  of the state on    bytes
  sessions/1            n1  n5               524,288
  sessions/5            n2  n5               524,288
  node  utilisation before   after
  n1                0.3132  0.8432
  n2                 0.273  0.8312
  n3                0.5421       –
  n4                 0.783  0.8392
  n5                 1.024  0.8432  was overloaded
  n6                 1.265  0.8432  was overloaded

A new node gets its share.

  $ sed "s/^  - {id: n1,/  - {id: n7, cpu: 4, memory_mb: 64, zone: b}\n  - {id: n1,/" cluster.yaml > seven.yaml
  $ ftplan rebalance -t topology.yaml -c seven.yaml -s stats --checkpoints copies.json --record-bytes 100 --add n7 --iterations 20 --format table -q
  rebalance
  algorithm              adaptive
  status                 optimal for these inputs; 1 assumption
  latency (min)          0.1121
  proven bound           0.1121
  gap                    0.0000%
  assumed                a core does 0.02965 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  fills                  n7
  tolerance              0.1 (the smallest feasible, for the nodes that are filled)
  moves to a checkpoint  0.0% where these are preferred, 0.0% where not
  pays back after        0.07722 s (0.004743 paused, 0.06142 of overload saved a second)
  rules                  capacity, filled, phase-capacity, copies-apart, memory, protocol
                                   before  after
  highest utilisation              1.476   0.8432
  of node                          n6      n1
  lowest utilisation               0       0.4919
  farthest from the fair share     1.108   0.2973
  overloaded nodes                 3       0
  windows with an overloaded node  1       1
  load above the limit, per s      0.1254  0.06398
  what it takes                    this plan  all direct  to random nodes
  moves                                   10           –                –
  with a checkpoint on the target        0.6           –           0.1667
  all pauses, each moved alone, s     0.1121       4.203            2.686
  all moves, each alone, s             252.5       4.203            205.8
  bytes moved                          2,152   4,194,304        2,621,881
  phases                                   5           –                –
  longest pause, s                   0.01338           –                –
  all phases, s                         68.5           –                –
  protocol  moves  latency, s  bytes  why
  cpal          6     0.06185  2,150  checkpoint on target
  lazy          4     0.05025      2  full checkpoints: the next one goes to the target
  phase  moves  bytes  duration, s  longest pause, s  highest utilisation
      0      5    202        60.26           0.01338                1.476
      1      2    950        2.933           0.01048                1.476
      2      1    250        1.327           0.01021               0.9837
      3      1    450        2.388           0.01039               0.9837
      4      1    300        1.589           0.01026               0.9135
  done  key group   phase  from  to  by    latency, s  pause, s  completion, s  bytes  why
  [ ]   sessions/0      0  n3    n1  cpal     0.01017   0.01017          1.067    200  checkpoint on target
  [ ]   alerts/2        0  n2    n7  lazy     0.01338   0.01338          60.26      1  full checkpoints: the next one goes to the target
  [ ]   alerts/1        0  n1    n7  lazy     0.01295   0.01295          60.26      1  full checkpoints: the next one goes to the target
  [ ]   alerts/0        0  n1    n7  lazy     0.01253   0.01253          60.26      0  full checkpoints: the next one goes to the target
  [ ]   alerts/3        0  n2    n7  lazy      0.0114    0.0114          60.26      0  full checkpoints: the next one goes to the target
  [ ]   sessions/7      1  n6    n2  cpal     0.01048   0.01048          2.933    550  checkpoint on target
  [ ]   sessions/4      1  n5    n1  cpal     0.01034   0.01034          2.119    400  checkpoint on target
  [ ]   sessions/1      2  n3    n5  cpal     0.01021   0.01021          1.327    250  checkpoint on target
  [ ]   sessions/5      3  n5    n3  cpal     0.01039   0.01039          2.388    450  checkpoint on target
  [ ]   sessions/2      4  n4    n5  cpal     0.01026   0.01026          1.589    300  checkpoint on target
  node  utilisation before   after
  n1                0.3654  0.8432
  n2                0.3185  0.7729
  n3                0.6324  0.6324
  n4                0.9135  0.4919  was overloaded
  n5                 1.195  0.7729  was overloaded
  n6                 1.476  0.7027  was overloaded
  n7                     0  0.6839
  10 moves undo it, the last phase first, 0.1023 s of pauses in all: rollback in the JSON
