What draining a node changes.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --iterations 20 -o plan.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --remove n3 --iterations 20 -o drained.json -q
  $ ftplan diff plan.json drained.json --format table --detailed-exitcode
  key group             what         from  to
  key-group:alerts/0    move         –     n4
  key-group:alerts/0    checkpoints  n6    n1
  key-group:alerts/1    move         –     n2
  key-group:alerts/1    checkpoints  n6    n1
  key-group:alerts/2    to           n3    n4
  key-group:alerts/2    protocol     cpal  lazy
  key-group:alerts/2    phase        0     1
  key-group:alerts/3    move         –     n4
  key-group:alerts/3    checkpoints  n4    n2
  key-group:sessions/0  move         –     n6
  key-group:sessions/1  move         –     n5
  key-group:sessions/1  checkpoints  n5    n1
  key-group:sessions/2  move         –     n1
  key-group:sessions/2  checkpoints  n5    n4
  key-group:sessions/4  phase        0     2
  key-group:sessions/5  checkpoints  n3    n2
  key-group:sessions/7  phase        1     2
                                    before      after
  moves                                  3          9
  all pauses, each moved alone, s  0.03096      1.121
  bytes moved                        1,110  1,049,844
  phases                                 2          4
  all phases, s                      5.052      65.05
  longest pause, s                 0.01048     0.5228
  checkpoints made anew                  0          2
  option  from  to
  remove        n3
  10 of 12 key groups change; latency: 0.0309603120663 -> 1.12124531383
  [3]
  $ ftplan diff plan.json plan.json --format table --detailed-exitcode
  0 of 12 key groups change; latency: 0.0309603120663 -> 0.0309603120663
