A ring made by hand at the rates of the statistics: a rack fails, and its neighbours take over.

  $ cat > ring.json <<'END'
  > {"format": "ftplan/plan", "format_version": "1.0", "kind": "peer-ring", "plan": {"ring": [
  >   {"node": "n1", "token": 0}, {"node": "n3", "token": 0.25}, {"node": "n2", "token": 0.5}, {"node": "n4", "token": 0.75}]}}
  > END
  $ ftplan simulate ring ring.json -t topology.yaml -c cluster.yaml -s stats --fail zone:a --interval 10s --bandwidth 10MiB/s -q --format table --until 60s
  1 run; no record lost
                                               figure
  taken over after, s                           6.435
  ready after, s                                11.08
  caught up after, s                                –
  all copies again after, s                     30.23
  moves of load, joins, leaves                      0
  most waiting at a node, records               5.689
  most kept by a node, records                    7.5
  full copies sent, bytes                   5,242,880
  records sent                                  34.87
  lost though a copy should have been left          0
  lost, since all who held them failed              0
  counted twice                                 0.013
  processed again                               2.673
  at, s  event    from -> to  key groups  replayed  decided after, s  ready  foretold  caught up  copies again
  30     failure  n2 -> n4    3                1.7  2.763             11.03  13.14             –  30.23
  30     failure  n1 -> n3    3                  1  6.435             11.08  9.592             –  30.23
  node                                from 0 s to 60 s
  n1    processed, to 0.215 a second  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    processed, to 0.215 a second  ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n3    processed, to 0.215 a second  ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▆▇▇▇▇▇▇▇▇▇▇▇█▇▇▇█▇▇█▇▇█▇
  n4    processed, to 0.215 a second  ▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
  n1    waiting, to 5.689 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    waiting, to 5.689 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n3    waiting, to 5.689 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
  n4    waiting, to 5.689 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▃▃▃▄▄▅▅▅▅▅▅▅▆▆▆▆▆▆▇▇▇▇▇▇█
  n1    kept for others, to 7.5       ▂▂▂▂▂▂▃▃▃▃▂▂▂▂▂▂▃▃▃▃▂▂▂▂▂▂▃▃▃▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    kept for others, to 7.5       ▂▂▂▂▂▂▂▂▂▃▂▂▂▂▂▂▂▂▂▃▂▂▂▂▂▂▂▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n3    kept for others, to 7.5       ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▅▆▆▆▆▇▇▇█
  n4    kept for others, to 7.5       ▂▂▂▂▂▂▂▂▂▂▃▃▂▂▂▂▂▂▂▂▃▃▂▂▂▂▂▂▂▂▃▃▂▂▂▂▂▂▂▃▂▃▃▃▃▃▃▄▄▄▃▃▃▃▃▄▄▄▄▄
  $ ftplan simulate ring ring.json -t topology.yaml -c cluster.yaml -s stats --fail zone:a --interval 10s --bandwidth 10MiB/s -q --format table --until 60s --runs 3 --seed 4
  3 runs: mean (5 … 95 %); no record lost
                                            figure
  taken over after, s                       8.88 (7.502 … 9.827)
  ready after, s                            14.72 (14.16 … 15.43)
  caught up after, s                        –
  all copies again after, s                 29.57 (27.51 … 30.85)
  moves of load, joins, leaves              0
  most waiting at a node, records           5.275 (5.063 … 5.446)
  most kept by a node, records              6.609 (6.555 … 6.668)
  full copies sent, bytes                   5,242,880
  records sent                              34.87
  lost though a copy should have been left  0
  lost, since all who held them failed      0
  counted twice                             0.013
  processed again                           2.674 (2.669 … 2.68)
  run  at, s  event    from -> to  key groups  replayed  decided after, s  ready  foretold  caught up  copies again
    0  30     failure  n2 -> n4    3                1.7  5.179             13.43  13.14             –  30.87
    0  30     failure  n1 -> n3    3                  1  9.495             14.12  9.592             –  30.87
    1  30     failure  n2 -> n4    3                1.7  4.404             12.72  13.14             –  30.68
    1  30     failure  n1 -> n3    3                  1  9.864             14.53  9.592             –  30.68
    2  30     failure  n1 -> n3    3                  1  6.183             10.83  9.592             –  27.16
    2  30     failure  n2 -> n4    3                1.7  7.281             15.53  13.14             –  27.16
  node                                from 0 s to 60 s
  n1    processed, to 0.215 a second  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    processed, to 0.215 a second  ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n3    processed, to 0.215 a second  ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▆▇▇▇▇▇▇▇▇▇▇▇█▇▇█▇▇█▇▇
  n4    processed, to 0.215 a second  ▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
  n1    waiting, to 5.334 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    waiting, to 5.334 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n3    waiting, to 5.334 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
  n4    waiting, to 5.334 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▃▃▃▄▄▅▅▅▅▅▆▆▆▆▆▆▇▇▇▇▇▇█
  n1    kept for others, to 6.55      ▂▂▂▂▂▂▃▃▃▃▂▂▂▂▂▂▃▃▃▃▂▂▂▂▂▂▃▃▃▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    kept for others, to 6.55      ▂▂▂▂▂▂▂▂▃▂▂▂▂▂▂▂▂▃▃▂▂▂▂▂▂▂▂▃▃▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n3    kept for others, to 6.55      ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▄▄▄▅▅▅▅▅▆▆▆▇▇▇█
  n4    kept for others, to 6.55      ▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▂▂▂▂▂▂▃▃▃▃▂▂▂▂▂▂▃▃▃▃▂▂▂▂▂▂▂▂▂▃▃▃▃▃▃▃▃▃▃▄▄▄▄▄▃

Neighbours fail together: what only they hold is gone, which is no fault of the protocol.

  $ ftplan simulate ring ring.json -t topology.yaml -c cluster.yaml -s stats --fail node:n1 --fail node:n3 --interval 10s --bandwidth 10MiB/s --format table --until 60s
  1 run; no record lost of which a copy was left
                                               figure
  taken over after, s                           0.477
  ready after, s                                 6.93
  caught up after, s                                –
  all copies again after, s                     12.89
  moves of load, joins, leaves                      0
  most waiting at a node, records               6.853
  most kept by a node, records                  8.414
  full copies sent, bytes                   2,621,440
  records sent                                  34.87
  lost though a copy should have been left          0
  lost, since all who held them failed          2.893
  counted twice                                 0.007
  processed again                               1.336
  at, s  event    from -> to    key groups  replayed  decided after, s  ready  foretold  caught up  copies again
  30     failure  n1, n3 -> n2  6, 3 lost        1.3  0.477             6.93   15.96             –  12.89
  run  what is wrong                         records  key groups  the first one
    0  lost, since all who held them failed    2.893           3  alerts/0
  node                                from 0 s to 60 s
  n1    processed, to 0.217 a second  ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    processed, to 0.217 a second  ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇█▇█▇█▇█▇█
  n3    processed, to 0.217 a second  ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n4    processed, to 0.217 a second  ▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
  n1    waiting, to 6.853 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    waiting, to 6.853 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▃▃▃▄▄▄▄▄▅▅▅▅▅▅▆▆▆▆▆▆▇▇▇▇▇▇█
  n3    waiting, to 6.853 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n4    waiting, to 6.853 records     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n1    kept for others, to 8.414     ▂▂▂▂▂▂▂▃▃▃▂▂▂▂▂▂▂▃▃▃▂▂▂▂▂▂▂▃▃▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    kept for others, to 8.414     ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▂▂▂▂▂▂▂▃▃▃▂▂▂▂▂▂▂▃▃▃
  n3    kept for others, to 8.414     ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n4    kept for others, to 8.414     ▂▂▂▂▂▂▂▂▂▂▃▃▂▂▂▂▂▂▂▂▃▃▂▂▂▂▂▂▂▂▃▃▂▂▃▃▃▄▄▄▄▅▄▄▅▅▅▆▆▆▆▇▆▆▆▆▇▇▇█
  2> ftplan: warning: all who held some key groups failed before there were copies again [ALL_COPIES_FAILED]
  2> ftplan: warning: more comes in than can be processed after the take-over by n2: --balance lets load move [OVERLOADED]

A clock is a second ahead of the other, and the protocol reckons with 15 ms: records are lost that should not be.

  $ ftplan simulate ring --nodes 3 --rate 60 --interval 1s --fail node:n1 --skew 1s -q --format table --until 8s
  1 run; RECORDS LOST
                                                 figure
  taken over after, s                             0.281
  ready after, s                                  1.225
  caught up after, s                                  –
  all copies again after, s                       3.193
  moves of load, joins, leaves                        0
  most waiting at a node, records                  80.6
  most kept by a node, records                     83.2
  full copies sent, bytes                   134,217,728
  records sent                                      480
  lost though a copy should have been left          6.5
  lost, since all who held them failed                0
  counted twice                                     0.4
  processed again                                  26.9
  at, s  event    from -> to  key groups  replayed  decided after, s  ready  foretold  caught up  copies again
  3      failure  n1 -> n2    64              26.9  0.281             1.225  1.222             –  3.193
  run  what is wrong  records  key groups  the first one
    0  lost               6.5          64  reduce/0
  node                               from 0 s to 8 s
  n1    processed, to 28.6 a second  ▆▆▆▁▁▁▁▁
  n2    processed, to 28.6 a second  ▆▆▆▇█▇██
  n3    processed, to 28.6 a second  ▆▆▆▆▆▆▆▆
  n1    waiting, to 80.6 records     ▁▁▁▁▁▁▁▁
  n2    waiting, to 80.6 records     ▁▁▁▄▅▆▇█
  n3    waiting, to 80.6 records     ▁▁▁▁▁▁▁▁
  n1    kept for others, to 83.2     ▂▂▁▁▁▁▁▁
  n2    kept for others, to 83.2     ▃▃▃▃▄▂▂▂
  n3    kept for others, to 83.2     ▂▂▂▃▆▇▇█
  2> ftplan: 6.5 records are lost though a copy should have been left: reduce/0 and 63 more key groups
  [1]

Load that grows goes to the neighbour; when nobody can take more, a new node joins.

  $ ftplan simulate ring --nodes 3 --rate 300 --interval 1s --capacity-per-core 35 --hot 1.7 --balance --window 2s --provision 3s --spares 1 --until 60s --tick 100ms -q --format table
  1 run; no record lost
                                                figure
  taken over after, s                                –
  ready after, s                                     –
  caught up after, s                                 –
  all copies again after, s                          –
  moves of load, joins, leaves                       1
  most waiting at a node, records                  323
  most kept by a node, records                   501.5
  full copies sent, bytes                   67,108,864
  records sent                                  21,994
  lost though a copy should have been left           0
  lost, since all who held them failed               0
  counted twice                                   4.25
  processed again                                  221
  at, s  event      from -> to  key groups  replayed  decided after, s  ready  foretold  caught up  copies again
  8      scale-out  n1 -> new1  32               221  6.279             7.857         –  9.982      6.279
  node                                from 0 s to 60 s
  n1    processed, to 144.5 a second  ▅▆▆▇▇█▇█▇█▇█▇█▇▇▇▆▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
  n2    processed, to 144.5 a second  ▅▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
  n3    processed, to 144.5 a second  ▅▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
  new1  processed, to 144.5 a second  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▆▇▇▇▆▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
  n1    waiting, to 323 records       ▁▁▁▂▃▃▄▄▅▅▆▆▇█▄▃▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n2    waiting, to 323 records       ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n3    waiting, to 323 records       ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  new1  waiting, to 323 records       ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▄▃▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  n1    kept for others, to 501.5     ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
  n2    kept for others, to 501.5     ▃▃▃▄▅▅▅▆▆▆▇▅▆▆▅▆▄▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
  n3    kept for others, to 501.5     ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  new1  kept for others, to 501.5     ▁▁▁▁▁▁▁▁▁▁▁▃▅█▅▅▄▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃

What does not fit: one line each.

  $ ftplan simulate ring ring.json -t topology.yaml -c cluster.yaml --nodes 4
  2> ftplan: --nodes: PLAN says where its nodes are
  [2]
  $ ftplan simulate ring -t topology.yaml -c cluster.yaml -s stats --fail task:alerts/0
  2> ftplan: --fail: task:alerts/0 is no part of a ring: what fails there is node:ID or zone:ID
  [2]
  $ ftplan simulate ring -t topology.yaml -c cluster.yaml -s stats --leave n9
  2> ftplan: --leave: unknown node 'n9'
  [2]
  $ ftplan simulate ring --nodes 3 --tick 1s --until 5s --every 10s
  2> ftplan: --every: 10 s is more than the 5 s that are simulated
  [2]
  $ ftplan simulate ring --nodes 3 --replication 3 -q
  2> ftplan: a ring of 3 nodes has room for 2 backups of each key group, not 3: owner and backups are different nodes; give --replication 2 at most
  [2]
