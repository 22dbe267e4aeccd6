A node that is drained: no key group and no checkpoint stays on it.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --remove n3 --iterations 20 --format table -q
  rebalance
  algorithm              adaptive
  status                 optimal for these inputs; 1 assumption
  latency (min)          1.141
  proven bound           1.141
  gap                    0.0000%
  assumed                a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  drains                 n3
  moves to a checkpoint  100.0% where these are preferred, 100.0% where not
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
  with a checkpoint on the target     0.4444           –           0.2389
  all pauses, each moved alone, s      1.141       3.673            2.079
  all moves, each alone, s             186.2       3.673            185.6
  bytes moved                      1,049,394   3,670,016        2,019,034
  phases                                   5           –                –
  longest pause, s                    0.5317           –                –
  all phases, s                        124.5           –                –
  checkpoints made anew                    3           –                –
  their bytes                      1,572,864           –                –
  protocol  moves  latency, s      bytes  why
  direct        2       1.061  1,048,576  no checkpoint on target
  cpal          4     0.04069        817  checkpoint on target
  lazy          3     0.03886          2  full checkpoints: the next one goes to the target
  phase  moves    bytes  duration, s  longest pause, s  highest utilisation
      0      2  524,488        1.067            0.5295                1.265
      1      1      300        1.589           0.01026                1.265
      2      3       68        60.26           0.01338                1.265
      3      1      250        1.327           0.01021                1.265
      4      2  524,289        60.26            0.5317               0.8432
  done  key group   phase  from  to  by      latency, s  pause, s  completion, s    bytes  why
  [ ]   sessions/5      0  n5    n2  direct      0.5295    0.5295         0.5295  524,288  no checkpoint on target
  [ ]   sessions/0      0  n3    n1  cpal       0.01017   0.01017          1.067      200  checkpoint on target
  [ ]   sessions/2      1  n4    n5  cpal       0.01026   0.01026          1.589      300  checkpoint on target
  [ ]   alerts/2        2  n2    n4  lazy       0.01338   0.01338          60.26        1  full checkpoints: the next one goes to the target
  [ ]   alerts/0        2  n1    n4  lazy       0.01253   0.01253          60.26        0  full checkpoints: the next one goes to the target
  [ ]   alerts/3        2  n2    n4  cpal       0.01006   0.01006         0.3853       67  checkpoint on target
  [ ]   sessions/1      3  n3    n2  cpal       0.01021   0.01021          1.327      250  checkpoint on target
  [ ]   sessions/6      4  n6    n1  direct      0.5317    0.5317         0.5317  524,288  no checkpoint on target
  [ ]   alerts/1        4  n1    n6  lazy       0.01295   0.01295          60.26        1  full checkpoints: the next one goes to the target
  checkpoint made anew  on  of the state on    bytes
  sessions/0            n6  n1               524,288
  sessions/1            n5  n2               524,288
  sessions/7            n4  n6               524,288
  node  utilisation before   after
  n1                0.3132  0.8432
  n2                 0.273  0.8432
  n3                0.5421       –
  n4                 0.783  0.8392
  n5                 1.024  0.8432  was overloaded
  n6                 1.265  0.8312  was overloaded
  9 moves undo it, the last phase first, 1.635 s of pauses in all: rollback in the JSON

One that is gone almost at once: what cannot leave before is recovered from its checkpoint, hot key groups first.

  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --remove n3 --within 400ms --iterations 20 --format table -q
  rebalance
  algorithm              adaptive
  status                 optimal for these inputs; 1 assumption
  latency (min)          3.434
  proven bound           3.434
  gap                    0.0000%
  assumed                a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  drains                 n3
  moves to a checkpoint  100.0% where these are preferred, 100.0% where not
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
  with a checkpoint on the target            0.4444           –           0.2389
  all pauses, each moved alone, s             3.434       3.673            2.079
  all moves, each alone, s                    186.1       3.673            185.6
  bytes moved                             1,049,394   3,670,016        2,019,034
  phases                                          6           –                –
  longest pause, s                            1.287           –                –
  all phases, s                               124.5           –                –
  recovered after the loss of their node          2           –                –
  checkpoints made anew                           3           –                –
  their bytes                             1,572,864           –                –
  protocol  moves  latency, s      bytes  why
  direct        2       1.061  1,048,576  no checkpoint on target
  cpal          2     0.02031        367  checkpoint on target
  lazy          3     0.03886          2  full checkpoints: the next one goes to the target
  recover       2       2.314        450  after loss of its node, checkpoint on target
  phase  moves    bytes  duration, s  longest pause, s  highest utilisation
      0      1  524,288       0.5295            0.5295                1.265
      1      1      300        1.589           0.01026                1.265
      2      3       68        60.26           0.01338                1.265
      3      1  524,288       0.5317            0.5317               0.8432
      4      1        1        60.26           0.01295               0.8432
      5      2      450        1.287             1.287               0.8432
  done  key group   phase  from  to  by      latency, s  pause, s  completion, s    bytes  why
  [ ]   sessions/5      0  n5    n2  direct      0.5295    0.5295         0.5295  524,288  no checkpoint on target
  [ ]   sessions/2      1  n4    n5  cpal       0.01026   0.01026          1.589      300  checkpoint on target
  [ ]   alerts/2        2  n2    n4  lazy       0.01338   0.01338          60.26        1  full checkpoints: the next one goes to the target
  [ ]   alerts/0        2  n1    n4  lazy       0.01253   0.01253          60.26        0  full checkpoints: the next one goes to the target
  [ ]   alerts/3        2  n2    n4  cpal       0.01006   0.01006         0.3853       67  checkpoint on target
  [ ]   sessions/6      3  n6    n1  direct      0.5317    0.5317         0.5317  524,288  no checkpoint on target
  [ ]   alerts/1        4  n1    n6  lazy       0.01295   0.01295          60.26        1  full checkpoints: the next one goes to the target
  done  recovered in this order  phase  from  to  by       latency, s  pause, s  completion, s  bytes  down, s  why
  [ ]   sessions/1                   5  n3    n2  recover       1.287     1.287          1.287    250    124.1  after loss of its node, checkpoint on target: by direct it would take 0.5206 s to leave
  [ ]   sessions/0                   5  n3    n1  recover       1.027     1.027          1.027    200    123.8  after loss of its node, checkpoint on target: by direct it would take 0.5185 s to leave
  checkpoint made anew  on  of the state on    bytes
  sessions/0            n6  n1               524,288
  sessions/1            n5  n2               524,288
  sessions/7            n4  n6               524,288
  node  utilisation before   after
  n1                0.3132  0.8432
  n2                 0.273  0.8432
  n3                0.5421       –
  n4                 0.783  0.8392
  n5                 1.024  0.8432  was overloaded
  n6                 1.265  0.8312  was overloaded

A new node gets its share.

  $ sed "s/^  - {id: n1,/  - {id: n7, cpu: 4, memory_mb: 64, zone: b}\n  - {id: n1,/" cluster.yaml > seven.yaml
  $ ftplan rebalance -t topology.yaml -c seven.yaml -s stats --checkpoints copies.json --record-bytes 100 --add n7 --iterations 20 --format table -q
  rebalance
  algorithm              adaptive
  status                 optimal for these inputs; 1 assumption
  latency (min)          0.1018
  proven bound           0.1018
  gap                    0.0000%
  assumed                a core does 0.02965 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  fills                  n7
  tolerance              0.1 (the smallest feasible, for the nodes that are filled)
  moves to a checkpoint  50.0% where these are preferred, 0.0% where not
  pays back after        0.1026 s (0.004052 paused, 0.0395 of overload saved a second)
  rules                  capacity, filled, phase-capacity, copies-apart, memory, protocol
                                   before  after
  highest utilisation              1.476   0.8432
  of node                          n6      n1
  lowest utilisation               0       0.4216
  farthest from the fair share     1.108   0.3977
  overloaded nodes                 3       0
  windows with an overloaded node  1       1
  load above the limit, per s      0.1254  0.0859
  what it takes                    this plan  all direct  to random nodes
  moves                                    9           –                –
  with a checkpoint on the target     0.5556           –           0.1667
  all pauses, each moved alone, s     0.1018       3.676            2.245
  all moves, each alone, s             250.3       3.676            205.1
  bytes moved                          1,752   3,670,016        2,184,908
  phases                                   2           –                –
  longest pause, s                   0.01338           –                –
  all phases, s                         63.2           –                –
  protocol  moves  latency, s  bytes  why
  cpal          5     0.05151  1,750  checkpoint on target
  lazy          4     0.05025      2  full checkpoints: the next one goes to the target
  phase  moves  bytes  duration, s  longest pause, s  highest utilisation
      0      6    452        60.26           0.01338                1.476
      1      3  1,300        2.933           0.01048                1.476
  done  key group   phase  from  to  by    latency, s  pause, s  completion, s  bytes  why
  [ ]   sessions/1      0  n3    n2  cpal     0.01021   0.01021          1.327    250  checkpoint on target
  [ ]   sessions/0      0  n3    n1  cpal     0.01017   0.01017          1.067    200  checkpoint on target
  [ ]   alerts/2        0  n2    n7  lazy     0.01338   0.01338          60.26      1  full checkpoints: the next one goes to the target
  [ ]   alerts/1        0  n1    n7  lazy     0.01295   0.01295          60.26      1  full checkpoints: the next one goes to the target
  [ ]   alerts/0        0  n1    n7  lazy     0.01253   0.01253          60.26      0  full checkpoints: the next one goes to the target
  [ ]   alerts/3        0  n2    n7  lazy      0.0114    0.0114          60.26      0  full checkpoints: the next one goes to the target
  [ ]   sessions/7      1  n6    n3  cpal     0.01048   0.01048          2.933    550  checkpoint on target
  [ ]   sessions/4      1  n5    n1  cpal     0.01034   0.01034          2.119    400  checkpoint on target
  [ ]   sessions/3      1  n4    n2  cpal      0.0103    0.0103          1.853    350  checkpoint on target
  node  utilisation before   after
  n1                0.3654  0.8432
  n2                0.3185  0.8432
  n3                0.6324  0.7729
  n4                0.9135  0.4216  was overloaded
  n5                 1.195  0.6324  was overloaded
  n6                 1.476  0.7027  was overloaded
  n7                     0  0.6839
  9 moves undo it, the last phase first, 0.09192 s of pauses in all: rollback in the JSON
