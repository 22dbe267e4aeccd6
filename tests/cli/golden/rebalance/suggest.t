How many nodes would be enough: none, fewer, one that stands idle, new ones.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --suggest --band 0.6-0.8 --iterations 20 -o plan.json -q
  $ jq .summary.suggestion plan.json
  {
    "action": "none",
    "band": [
      0.6,
      0.8
    ],
    "count": 0,
    "fewest": true,
    "for_peaks": 0,
    "in_band": true,
    "new_nodes": [],
    "next": [],
    "nodes": [],
    "p95_after": 0.777629063099,
    "p95_before": 0.777629063099,
    "text": "neither add nor remove nodes",
    "utilisation_after": 0.700000000001,
    "utilisation_before": 0.700000000001,
    "why": "utilisation is in the band"
  }
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --capacity-per-core 0.08 --suggest --iterations 20 --format table -q
  rebalance
  algorithm      adaptive
  status         optimal
  latency (min)  0
  proven bound   0
  gap            0.0000%
  reason         no change: no node is above 0.85 of its capacity
  rules          capacity, phase-capacity, copies-apart, memory, protocol
                                   before  after
  highest utilisation              0.5469  0.5469
  of node                          n6      n6
  lowest utilisation               0.1181  0.1181
  farthest from the fair share     0.8069  0.8069
  overloaded nodes                 0       0
  windows with an overloaded node  0       0
  load above the limit, per s      0       0
  node  utilisation before   after
  n1                0.1354  0.1354
  n2                0.1181  0.1181
  n3                0.2344  0.2344
  n4                0.3385  0.3385
  n5                0.4427  0.4427
  n6                0.5469  0.5469
  for 50% to 75%
  suggestion                       remove 3 nodes: n1, n2, n3 (no fewer do)
  why                              utilisation is below the band
  mean utilisation now             0.3027
  then                             0.6053
  in 95 % of windows at most, now  0.3362
  then                             0.6725
  run next                         ftplan rebalance --remove n1 --remove n2 --remove n3
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --capacity-per-core 0.08 --remove n1 --remove n2 --remove n3 --iterations 20 --format table -q
  rebalance
  algorithm              adaptive
  status                 optimal
  latency (min)          0.5723
  proven bound           0.5723
  gap                    0.0000%
  drains                 n1, n2, n3
  moves to a checkpoint  66.7% where these are preferred, 33.3% where not
  pays back              never: no overload is saved
  rules                  capacity, drained, phase-capacity, copies-apart, memory, protocol
                                   before  after
  highest utilisation              0.5469  0.6823
  of node                          n6      n6
  lowest utilisation               0.1181  0.5608
  farthest from the fair share     0.4407  0.1272
  overloaded nodes                 0       0
  windows with an overloaded node  0       0
  load above the limit, per s      0       0
  what it takes                    this plan  all direct  to random nodes
  moves                                    6           –                –
  with a checkpoint on the target     0.6667           –           0.2222
  all pauses, each moved alone, s     0.5723       2.089            0.917
  all moves, each alone, s             63.91       2.089            182.7
  bytes moved                        524,865   2,097,152          874,007
  phases                                   2           –                –
  longest pause, s                    0.5185           –                –
  all phases, s                        61.59           –                –
  checkpoints made anew                    9           –                –
  their bytes                      3,670,016           –                –
  protocol  moves  latency, s    bytes  why
  cpal          4     0.04049      577  checkpoint on target
  direct        1      0.5185  524,288  no checkpoint on target
  lazy          1     0.01338        1  full checkpoints: the next one goes to the target
  phase  moves    bytes  duration, s  longest pause, s  highest utilisation
      0      5  524,865        1.327            0.5185               0.6823
      1      1        1        60.26           0.01338               0.6823
  done  key group   phase  from  to  by      latency, s  pause, s  completion, s    bytes  why
  [ ]   sessions/1      0  n3    n5  cpal       0.01021   0.01021          1.327      250  checkpoint on target
  [ ]   sessions/0      0  n3    n4  direct      0.5185    0.5185         0.5185  524,288  no checkpoint on target
  [ ]   alerts/1        0  n1    n6  cpal       0.01012   0.01012         0.7584      140  checkpoint on target
  [ ]   alerts/0        0  n1    n6  cpal        0.0101    0.0101         0.6562      120  checkpoint on target
  [ ]   alerts/3        0  n2    n4  cpal       0.01006   0.01006         0.3853       67  checkpoint on target
  [ ]   alerts/2        1  n2    n4  lazy       0.01338   0.01338          60.26        1  full checkpoints: the next one goes to the target
  checkpoint made anew  on  of the state on    bytes
  alerts/0              n4  n6               262,144
  alerts/1              n4  n6               262,144
  alerts/2              n5  n4               262,144
  alerts/3              n6  n4               262,144
  sessions/0            n5  n4               524,288
  sessions/1            n6  n5               524,288
  sessions/4            n4  n5               524,288
  sessions/5            n6  n5               524,288
  sessions/7            n5  n6               524,288
  node  utilisation before   after
  n1                0.1354       –
  n2                0.1181       –
  n3                0.2344       –
  n4                0.3385  0.5608
  n5                0.4427  0.5729
  n6                0.5469  0.6823
  in so many phases  longest pause, s  all phases, s  largest phase, bytes
                  2            0.5185          60.78               524,288
                  1            0.5201          60.77               524,865
  6 moves undo it, the last phase first, 1.089 s of pauses in all: rollback in the JSON
  $ sed "s/^  - {id: n1,/  - {id: n7, cpu: 4, memory_mb: 64, zone: b}\n  - {id: n1,/" cluster.yaml > seven.yaml
  $ ftplan rebalance -t topology.yaml -c seven.yaml -s stats --checkpoints copies.json --record-bytes 100 --capacity-per-core 0.03 --suggest --iterations 20 -o more.json -q
  $ jq -r '.summary.suggestion | .text, .next[]' more.json
  add 1 node: n7, and add 1 new node like n1 (no fewer do)
  add to the nodes of the cluster file: {id: extra-1, cpu: 4, memory_mb: 64, zone: a}
  ftplan rebalance --add n7 --add extra-1
