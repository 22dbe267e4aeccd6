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
  pays back      never: no overload is saved
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
  latency (min)          0.5539
  proven bound           0.5539
  gap                    0.0000%
  drains                 n4, n5
  moves to a checkpoint  75.0% where these are preferred, 25.0% where not
  pays back              never: no overload is saved
  rules                  capacity, drained, phase-capacity, copies-apart, memory, protocol
                                   before  after
  highest utilisation              0.5469  0.7812
  of node                          n6      n6
  lowest utilisation               0.1181  0.3003
  farthest from the fair share     0.74    0.7208
  overloaded nodes                 0       0
  windows with an overloaded node  0       0.4167
  load above the limit, per s      0       0.008924
  what it takes                    this plan  all direct  to random nodes
  moves                                    4           –                –
  with a checkpoint on the target       0.75           –           0.1875
  all pauses, each moved alone, s     0.5539       2.105            1.717
  all moves, each alone, s             6.883       2.105            3.299
  bytes moved                        525,488   2,097,152        1,704,236
  phases                                   1           –                –
  longest pause, s                    0.5228           –                –
  all phases, s                        2.388           –                –
  checkpoints made anew                    8           –                –
  their bytes                      3,407,872           –                –
  protocol  moves  latency, s    bytes  why
  cpal          3     0.03103    1,200  checkpoint on target
  direct        1      0.5228  524,288  no checkpoint on target
  phase  moves    bytes  duration, s  longest pause, s  highest utilisation
      0      4  525,488        2.388            0.5228               0.7812
  done  key group   phase  from  to  by      latency, s  pause, s  completion, s    bytes  why
  [ ]   sessions/5      0  n5    n6  cpal       0.01039   0.01039          2.388      450  checkpoint on target
  [ ]   sessions/4      0  n5    n1  cpal       0.01034   0.01034          2.119      400  checkpoint on target
  [ ]   sessions/3      0  n4    n2  cpal        0.0103    0.0103          1.853      350  checkpoint on target
  [ ]   sessions/2      0  n4    n3  direct      0.5228    0.5228         0.5228  524,288  no checkpoint on target
  checkpoint made anew  on  of the state on    bytes
  alerts/1              n2  n1               262,144
  alerts/2              n3  n2               262,144
  alerts/3              n3  n2               262,144
  sessions/2            n1  n3               524,288
  sessions/3            n6  n2               524,288
  sessions/4            n6  n1               524,288
  sessions/5            n2  n6               524,288
  sessions/6            n1  n6               524,288
  node  utilisation before   after
  n1                0.1354  0.3438
  n2                0.1181  0.3003
  n3                0.2344  0.3906
  n4                0.3385       –
  n5                0.4427       –
  n6                0.5469  0.7812
  4 moves undo it, the last phase first, 2.105 s of pauses in all: rollback in the JSON
  $ sed "s/^  - {id: n1,/  - {id: n7, cpu: 4, memory_mb: 64, zone: b}\n  - {id: n1,/" cluster.yaml > seven.yaml
  $ ftplan rebalance -t topology.yaml -c seven.yaml -s stats --checkpoints copies.json --record-bytes 100 --capacity-per-core 0.03 --suggest --iterations 20 -o more.json -q
  $ jq -r '.summary.suggestion | .text, .next[]' more.json
  add 1 node: n7, and add 1 new node like n1 (no fewer do)
  add to the nodes of the cluster file: {id: extra-1, cpu: 4, memory_mb: 64, zone: a}
  ftplan rebalance --add n7 --add extra-1
