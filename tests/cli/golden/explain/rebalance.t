Why a key group moves or stays, what becomes of a node and a zone, and how an operator's key groups move.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --iterations 20 -o plan.json -q
  $ ftplan explain plan.json key-group:sessions/6 --format table
  key-group:sessions/6: stays on n6
  node  zone  utilisation then  latency by cpa, s  latency by cpal, s  latency by direct, s  chosen  ruled out by                      limit  would be
  n6    c               0.6023                  –                   –                     –  yes     –                                     –         –
  n4    b                1.385              2.619             0.01043                0.5317  no      capacity: n4 would be overloaded  423.4       690
  n1    a                1.397                  –                   –                0.5317  no      capacity: n1 would be overloaded  423.4       696
  n2    a                1.345                  –                   –                0.5317  no      capacity: n2 would be overloaded  423.4       670
  n3    b                1.337                  –                   –                0.5317  no      capacity: n3 would be overloaded  423.4       666
  n5    c                1.144                  –                   –                0.5317  no      capacity: n5 would be overloaded  423.4       570
  load 300 per window, 0.0833333 records/s, state 524,288 bytes; checkpoints on n4, afterwards on n4
  n6 has a load of 300 with it, at most 423.381 may be: it can stay
  $ ftplan explain plan.json key-group:sessions/0 --format table
  key-group:sessions/0: stays on n3
  node  zone  utilisation then  latency by cpa, s  latency by cpal, s  latency by direct, s  chosen  ruled out by                      limit  would be
  n3    b               0.7348                  –                   –                     –  yes     –                                     –         –
  n5    c                0.783                  –                   –                0.5185  no      –                                     –         –
  n6    c               0.8432                  –                   –                0.5185  no      –                                     –         –
  n1    a                1.036              1.027             0.01017                0.5185  no      capacity: n1 would be overloaded  423.4       516
  n2    a               0.9837                  –                   –                0.5185  no      capacity: n2 would be overloaded  423.4       490
  n4    b                1.024                  –                   –                0.5185  no      capacity: n4 would be overloaded  423.4       510
  load 120 per window, 0.0333333 records/s, state 524,288 bytes; checkpoints on n1, afterwards on n1
  n3 has a load of 366 with it, at most 423.381 may be: it can stay
  $ ftplan explain plan.json node:n6 --format table
  node:n6: key groups that come: 0, that go: 1
  key group   way   from  to  by    phase  load  latency, s  pause, s
  sessions/7  goes  n6    n2  cpal      1   330     0.01048   0.01048
  load 630 (1.265 of its capacity), afterwards 300 (0.602 of its capacity)
  at most 423.381 may be
  it is overloaded in 100.0% of the windows, afterwards in 33.3%
  3 checkpoints lie on it, afterwards 4
  to be relieved of 206.619 it has to give up 1 of its 2 key groups at least
  $ ftplan explain plan.json zone:c --format table
  zone:c: what its nodes carry
  node  utilisation before   after  comes  goes  copies before  after all
  n5                 1.024  0.5421      0     1              2          3
  n6                 1.265  0.6023      0     1              3          4
  key groups that come from other zones: 0, that go to them: 2, within the zone: 0
  $ ftplan explain plan.json operator:sessions --format table
  operator:sessions: 2 of its key groups move
  key group   from  to  by    phase  load  latency, s  pause, s  why
  sessions/4  n5    n1  cpal      0   240     0.01034   0.01034  checkpoint on target
  sessions/7  n6    n2  cpal      1   330     0.01048   0.01048  checkpoint on target
  6 of its 8 key groups stay
  2 of 2 moves use a checkpoint on their target; 0.0208252 s of pauses
  load 570 per window moves, of 1800
  $ ftplan explain plan.json node:n6 -o said.json -q
  $ jq -c '.rows[0], .notes' said.json
  {"by":"cpal","from":"n6","key group":"sessions/7","latency, s":0.010480349345,"load":330,"pause, s":0.010480349345,"phase":1,"to":"n2","way":"goes"}
  ["load 630 (1.265 of its capacity), afterwards 300 (0.602 of its capacity)","at most 423.381 may be","it is overloaded in 100.0% of the windows, afterwards in 33.3%","3 checkpoints lie on it, afterwards 4","to be relieved of 206.619 it has to give up 1 of its 2 key groups at least"]

What is not there.

  $ ftplan explain plan.json key-group:sessions/8
  2> ftplan: key-group:sessions/8: there is no such key group among those that can move
  [2]
  $ ftplan explain plan.json operator:clicks
  2> ftplan: operator:clicks: has no key groups that could move, or there is no such operator
  [2]
  $ ftplan explain plan.json node:n9
  2> ftplan: unknown node 'n9'
  [2]
  $ ftplan explain plan.json task:sessions/0
  2> ftplan: task:sessions/0: a rebalance explains key-group:OPERATOR/NUMBER, node:ID, zone:ID and operator:ID
  [2]
