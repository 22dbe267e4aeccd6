A job whose sessions have more to do than their tasks can, and whose alerts have less.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 4, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 5, checkpoint: {interval_s: 60}}/" topology.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation --iterations 5 -o copies.json -q

As a table, with what there is to say of the inputs.

  $ ftplan scale-out -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --iterations 20 --format table
  scale-out
  algorithm             exact
  status                optimal for these inputs; 2 assumptions
  sustained-load (max)  1
  proven bound          1
  gap                   0.0000%
  assumed               the memory of tasks, or what they may hold, is not known: scores are by cpu and data size; give --task-memory, or memory_mb in the cluster file, and statistics with memory_bytes [NO_MEMORY]
  assumed               no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  fewest cores for it   0 more than now, proven
  thresholds            scale in below 25, prepare from 55, promote above 70; scores lie between 20.42 and 79.58
  rules                 ranges, target, task-memory, max-parallelism, peak, node-cpu, technique
                                          now  this plan  twice the tasks     DS2
  sustained share of the demand        0.9045          1                1  0.9045
  cores of all tasks                        8          8                –       –
  more than now                             –          0                3      -1
  utilisation of the busiest task      0.7739     0.5528                –       –
  fairness: cores had of those needed       1          1                –       –
  longest pause, s                          –      0.001                –       –
  core-seconds for the change               –      180.1                –       –
  state that is sent, bytes                 –  5,242,880                –       –
  operator  score  over time                 state     utilisation  bottleneck
  alerts    20.42  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  scale-in  24%
  sessions  79.58  █████▇▆▆▆▇███████▇▆▆▆▇██  promoted  77%          now
  clicks        –                            normal    –
  changes   tasks   utilisation  technique      pause, s  extra core-s
  alerts    2 -> 1  24% -> 45%   active-backup     0.001         30.01
  sessions  4 -> 5  77% -> 55%   active-backup     0.001         150.1
  operator  why
  alerts    the demand keeps 0.448 tasks busy, 1 at 0.7 if it were even: fewer suffice; with these key ranges the busiest one has 0.448, now 0.24; least extra core-seconds of the techniques that pause at most 1 s; checkpoint would pause 48.8 s for 128 core-s; assisted: 78.8 core-s, pause 0.0101 s
  sessions  the demand keeps 2.21 tasks busy, 4 at 0.7 if it were even; with these key ranges the busiest one has 0.553, now 0.774; least extra core-seconds of the techniques that pause at most 1 s; checkpoint would pause 141 s for 565 core-s; assisted: 521 core-s, pause 0.0122 s
  clicks    nothing is demanded of it, or how many tasks that needs is not known: it stays as it is
  done  step
  [ ]   1 of alerts    start 1 new task on 1 node as a secondary, 30 s
  [ ]   2 of alerts    copy the state by key range, 1 MiB over the network in 0.01 s, and note which record of each input stream was the last
  [ ]   3 of alerts    send what comes after it to the old tasks and to the new one with its key group; keep back what that puts out
  [ ]   4 of alerts    connect the outputs of the new tasks instead of the old ones, 0.001 s
  [ ]   5 of alerts    stop the 2 old tasks
  [ ]   1 of sessions  start 5 new tasks on 5 nodes as a secondary, 30 s
  [ ]   2 of sessions  copy the state by key range, 4 MiB over the network in 0.015 s, and note which record of each input stream was the last
  [ ]   3 of sessions  send what comes after it to the old tasks and to the new one with its key group; keep back what that puts out
  [ ]   4 of sessions  connect the outputs of the new tasks instead of the old ones, 0.001 s, 30 s late: the old tasks go on until then
  [ ]   5 of sessions  stop the 4 old tasks
  bottleneck  share of all output  tasks kept busy  needs, if even  beware
  sessions    100%                           2.211               4
  operator  foretold by     error 60 min ahead  same as yesterday
  alerts    seasonal-naive                   0                  0
  sessions  seasonal-naive                   0                  0
  node  cores in use  memory for state
  n1    6.0% -> 14%   0.8% -> 1.6%
  n2    5.2% -> 10%   0.8% -> 0.8%
  n3    8.3% -> 8.3%  1.6% -> 0.8%
  n4    12% -> 9.2%   1.6% -> 0.8%
  n5    16% -> 14%    1.6% -> 2.3%
  n6    19% -> 11%    1.6% -> 1.6%
  sessions is a bottleneck. 2 operators change. The jobs sustain 100 % of their demand with no task above the target, as they run now 90.5 %. No pause is longer than 0.001 s. Key ranges, nodes and state of each task: in the JSON.
  2> ftplan: algorithm: exact (the default)
  2> ftplan: warning: no statistics for clicks: nothing is said of its tasks; after a source without any, operators count as offered what they got [NO_STATISTICS]
  2> ftplan: warning: the memory of tasks, or what they may hold, is not known: scores are by cpu and data size; give --task-memory, or memory_mb in the cluster file, and statistics with memory_bytes [NO_MEMORY]
  2> ftplan: warning: no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]

Twice the tasks, divided by number, with a checkpoint to start from, as the paper does.

  $ ftplan scale-out -t topology.yaml -s stats --algorithm doubling --split hash --technique checkpoint --format table -q
  scale-out
  algorithm             doubling
  status                optimal for these inputs; 2 assumptions
  sustained-load (max)  1
  proven bound          1
  gap                   0.0000%
  assumed               the memory of tasks, or what they may hold, is not known: scores are by cpu and data size; give --task-memory, or memory_mb in the cluster file, and statistics with memory_bytes [NO_MEMORY]
  assumed               no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  fewest cores for it   1 more than now, proven
  thresholds            scale in below 25, prepare from 55, promote above 70; scores lie between 20.42 and 79.58
  rules                 ranges, target, max-parallelism, peak, technique
                                          now  this plan  twice the tasks     DS2
  sustained share of the demand        0.9045          1                1  0.9045
  cores of all tasks                        8         11                –       –
  more than now                             –          3                3      -1
  utilisation of the busiest task      0.7739     0.4484                –       –
  fairness: cores had of those needed       1          1                –       –
  longest pause, s                          –      91.36                –       –
  core-seconds for the change               –        493                –       –
  state that is sent, bytes                 –  5,242,880                –       –
  operator  score  over time                 state     utilisation  bottleneck
  alerts    20.42  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  scale-in  24%
  sessions  79.58  █████▇▆▆▆▇███████▇▆▆▆▇██  promoted  77%          now
  clicks        –                            normal    –
  changes   tasks   utilisation  technique   pause, s  extra core-s
  alerts    2 -> 1  24% -> 45%   checkpoint     48.79         127.6
  sessions  4 -> 8  77% -> 41%   checkpoint     91.36         365.5
  operator  why
  alerts    the demand keeps 0.448 tasks busy, 1 at 0.7 if it were even: fewer suffice; with these key ranges the busiest one has 0.448, now 0.24; as asked for
  sessions  the demand keeps 2.21 tasks busy, 4 at 0.7 if it were even; with these key ranges the busiest one has 0.405, now 0.774; as asked for
  clicks    nothing is demanded of it, or how many tasks that needs is not known: it stays as it is
  done  step
  [ ]   1 of alerts    go on with its regular checkpoints
  [ ]   2 of alerts    start 1 new task, without state; that takes 30 s
  [ ]   3 of alerts    load the newest checkpoint by key range, 1 MiB in all, the slowest task in 0.01 s
  [ ]   4 of alerts    send what upstream buffers hold to the new task with its key group, and work it off, 26.9 s; with what comes in meanwhile the pause is 48.8 s
  [ ]   5 of alerts    divide the input streams, with sequence numbers to restore the order, and connect the outputs of the new tasks when they agree with the old ones
  [ ]   6 of alerts    stop the 2 old tasks
  [ ]   1 of sessions  go on with its regular checkpoints
  [ ]   2 of sessions  start 8 new tasks, without state; that takes 30 s, of which 30 s are left at the promotion
  [ ]   3 of sessions  load the newest checkpoint by key range, 4 MiB in all, the slowest task in 0.005 s
  [ ]   4 of sessions  send what upstream buffers hold to the new task with its key group, and work it off, 24.3 s; with what comes in meanwhile the pause is 91.4 s
  [ ]   5 of sessions  divide the input streams, with sequence numbers to restore the order, and connect the outputs of the new tasks when they agree with the old ones
  [ ]   6 of sessions  stop the 4 old tasks
  bottleneck  share of all output  tasks kept busy  needs, if even  beware
  sessions    100%                           2.211               4
  operator  foretold by     error 60 min ahead  same as yesterday
  alerts    seasonal-naive                   0                  0
  sessions  seasonal-naive                   0                  0
  sessions is a bottleneck. 2 operators change, from 8 tasks in all to 11. The jobs sustain 100 % of their demand with no task above the target, as they run now 90.5 %. No pause is longer than 91.4 s. Key ranges, nodes and state of each task: in the JSON.

As a list to tick off, within few cores.

  $ ftplan scale-out -t topology.yaml -s stats --free-cpu 6 --forecast none --iterations 20 --format markdown -q
  | scale-out |  |
  |---|---|
  | algorithm | exact |
  | status | optimal for these inputs; 2 assumptions |
  | sustained-load (max) | 1 |
  | proven bound | 1 |
  | gap | 0.0000% |
  | assumed | the memory of tasks, or what they may hold, is not known: scores are by cpu and data size; give --task-memory, or memory_mb in the cluster file, and statistics with memory_bytes [NO_MEMORY] |
  | assumed | no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED] |
  | fewest cores for it | 0 more than now, proven |
  | thresholds | scale in below 25, prepare from 55, promote above 70; scores lie between 20.42 and 79.58 |
  | rules | ranges, target, max-parallelism, peak, free-cpu, technique |
  |  | now | this plan | twice the tasks | DS2 |
  |---|---:|---:|---:|---:|
  | sustained share of the demand | 0.9045 | 1 | 0.9045 | 0.9045 |
  | cores of all tasks | 8 | 8 | – | – |
  | more than now | – | 0 | -1 | -1 |
  | utilisation of the busiest task | 0.7739 | 0.5528 | – | – |
  | fairness: cores had of those needed | 1 | 1 | – | – |
  | longest pause, s | – | 0.001 | – | – |
  | core-seconds for the change | – | 180.1 | – | – |
  | state that is sent, bytes | – | 5,242,880 | – | – |
  | operator | score | over time | state | utilisation | bottleneck |
  |---|---:|---|---|---|---|
  | alerts | 20.42 | ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁ | scale-in | 24% |  |
  | sessions | 79.58 | █████▇▆▆▆▇███████▇▆▆▆▇██ | promoted | 77% | now |
  | clicks | – |                          | normal | – |  |
  | changes | tasks | utilisation | technique | pause, s | extra core-s |
  |---|---|---|---|---:|---:|
  | alerts | 2 -> 1 | 24% -> 45% | active-backup | 0.001 | 30.01 |
  | sessions | 4 -> 5 | 77% -> 55% | active-backup | 0.001 | 150.1 |
  | operator | why |
  |---|---|
  | alerts | the demand keeps 0.448 tasks busy, 1 at 0.7 if it were even: fewer suffice; with these key ranges the busiest one has 0.448, now 0.24; least extra core-seconds of the techniques that pause at most 1 s; checkpoint would pause 48.8 s for 128 core-s; assisted: without a cluster no node holds checkpoints |
  | sessions | the demand keeps 2.21 tasks busy, 4 at 0.7 if it were even; with these key ranges the busiest one has 0.553, now 0.774; least extra core-seconds of the techniques that pause at most 1 s; checkpoint would pause 141 s for 565 core-s; assisted: without a cluster no node holds checkpoints |
  | clicks | nothing is demanded of it, or how many tasks that needs is not known: it stays as it is |
  - [ ] **step 1 of alerts**: start 1 new task as a secondary, 30 s
  - [ ] **step 2 of alerts**: copy the state by key range, 1 MiB over the network in 0.01 s, and note which record of each input stream was the last
  - [ ] **step 3 of alerts**: send what comes after it to the old tasks and to the new one with its key group; keep back what that puts out
  - [ ] **step 4 of alerts**: connect the outputs of the new tasks instead of the old ones, 0.001 s
  - [ ] **step 5 of alerts**: stop the 2 old tasks
  - [ ] **step 1 of sessions**: start 5 new tasks as a secondary, 30 s
  - [ ] **step 2 of sessions**: copy the state by key range, 4 MiB over the network in 0.015 s, and note which record of each input stream was the last
  - [ ] **step 3 of sessions**: send what comes after it to the old tasks and to the new one with its key group; keep back what that puts out
  - [ ] **step 4 of sessions**: connect the outputs of the new tasks instead of the old ones, 0.001 s, 30 s late: the old tasks go on until then
  - [ ] **step 5 of sessions**: stop the 4 old tasks
  | bottleneck | share of all output | tasks kept busy | needs, if even | beware |
  |---|---|---:|---:|---|
  | sessions | 100% | 2.211 | 4 |  |
  sessions is a bottleneck. 2 operators change. The jobs sustain 100 % of their demand with no task above the target, as they run now 90.5 %. No pause is longer than 0.001 s. Key ranges, nodes and state of each task: in the JSON.

Nothing to change.

  $ ftplan scale-out -t topology.yaml -s stats --growth 0.2 --hold 100 --detailed-exitcode -o same.json -q
  $ ftplan scale-out -t topology.yaml -s stats --detailed-exitcode -o more.json -q
  [3]
  $ ftplan diff same.json more.json --format table
  operator  what            from                to
  alerts    parallelism to  2                   1
  alerts    technique       –                   active-backup
  alerts    key ranges      0–1, 2–3            0–3
  alerts    state           normal              scale-in
  sessions  parallelism to  4                   5
  sessions  technique       –                   active-backup
  sessions  key ranges      0–1, 2–3, 4–5, 6–7  0–2, 3–4, 5–5, 6–6, 7–7
                                   before   after
  operators that change                 0       2
  core-seconds for the change           –   180.1
  longest pause, s                      –   0.001
  utilisation of the busiest task  0.1548  0.5528
  option  from  to
  growth   0.2   1
  hold     100   3
  2 of 3 operators change; sustained-load: 1.0 -> 1.0
