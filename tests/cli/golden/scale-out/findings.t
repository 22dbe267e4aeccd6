What else the statistics say: policies over time, thresholds, and a log of keys.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 4}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 5}/" topology.yaml
  $ printf "operator,key,records\nsessions,ann,400\nsessions,bob,300\nsessions,cat,300\nsessions,dan,200\nsessions,eve,100\n" > keys.csv
  $ ftplan scale-out -t topology.yaml -s stats --key-log keys.csv --alarming auto --max-rescales-per-day 4 --max-overloaded 0.2 --split hash --iterations 5 --format table -q
  scale-out
  algorithm             exact
  status                optimal for these inputs; 2 assumptions
  sustained-load (max)  1
  proven bound          1
  gap                   0.0000%
  assumed               the memory of tasks, or what they may hold, is not known: scores are by cpu and data size; give --task-memory, or memory_mb in the cluster file, and statistics with memory_bytes [NO_MEMORY]
  assumed               no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  fewest cores for it   1 more than now, proven
  thresholds            scale in below 25, prepare from 69.5, promote above 70; scores lie between 20.42 and 79.58
  rules                 ranges, target, max-parallelism, peak, technique
                                          now  this plan  twice the tasks     DS2
  sustained share of the demand        0.9045          1                1  0.9045
  cores of all tasks                        8          9                –       –
  more than now                             –          1                3      -1
  utilisation of the busiest task      0.7739     0.6265                –       –
  fairness: cores had of those needed       1          1                –       –
  longest pause, s                          –      0.001                –       –
  core-seconds for the change               –     21,630                –       –
  state that is sent, bytes                 –  5,242,880                –       –
  operator  score  over time                 state     utilisation  bottleneck
  alerts    20.42  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  scale-in  24%
  sessions  79.58  █████▇▆▆▆▇███████▇▆▆▆▇██  promoted  77%          now
  clicks        –                            normal    –
  changes   tasks   utilisation  technique      pause, s  extra core-s
  alerts    2 -> 1  24% -> 45%   active-backup     0.001         30.01
  sessions  4 -> 6  77% -> 63%   active-backup     0.001        21,600
  operator  why
  alerts    the demand keeps 0.448 tasks busy, 1 at 0.7 if it were even: fewer suffice; with these key ranges the busiest one has 0.448, now 0.24; least extra core-seconds of the techniques that pause at most 1 s; checkpoint would pause 24.4 s for 78.8 core-s; assisted: without a cluster no node holds checkpoints
  sessions  the demand keeps 2.21 tasks busy, 4 at 0.7 if it were even; with these key ranges the busiest one has 0.626, now 0.774; least extra core-seconds of the techniques that pause at most 1 s; checkpoint would pause 101 s for 585 core-s; assisted: without a cluster no node holds checkpoints
  clicks    nothing is demanded of it, or how many tasks that needs is not known: it stays as it is
  done  step
  [ ]   1 of alerts    start 1 new task as a secondary, 30 s
  [ ]   2 of alerts    copy the state by key range, 1 MiB over the network in 0.01 s, and note which record of each input stream was the last
  [ ]   3 of alerts    send what comes after it to the old tasks and to the new one with its key group; keep back what that puts out
  [ ]   4 of alerts    connect the outputs of the new tasks instead of the old ones, 0.001 s
  [ ]   5 of alerts    stop the 2 old tasks
  [ ]   1 of sessions  start 6 new tasks as a secondary, 30 s
  [ ]   2 of sessions  copy the state by key range, 4 MiB over the network in 0.01 s, and note which record of each input stream was the last
  [ ]   3 of sessions  send what comes after it to the old tasks and to the new one with its key group; keep back what that puts out
  [ ]   4 of sessions  connect the outputs of the new tasks instead of the old ones, 0.001 s
  [ ]   5 of sessions  stop the 4 old tasks
  bottleneck  share of all output  tasks kept busy  needs, if even  beware
  sessions    100%                           2.211               4
  operator  foretold by     error 60 min ahead  same as yesterday
  alerts    seasonal-naive                   0                  0
  sessions  seasonal-naive                   0                  0
  prepared from  ready in time  share of time with backups
           69.5              1                     0.01389
             70              0                           0
  judged on unseen time: at most 4 rescales a day, and 20% of it overloaded
  operator  rescaled by                   core-hours  windows late  rescales  above the bound  how
  alerts    thresholds                            24             0         0                0  out above 0.7, to 0.6, in below 0.3 for 3600 s
  alerts    foretold                              24             0         0                0  out above 0.7, to 0.6, in below 0.3 for 3600 s, foretold 7200 s
  alerts    planned                               24             0         0                0  plans the day for 1.0 x what is foretold
  alerts    at best, all demand known             24             0         0                –  overloaded windows count, not late ones
  alerts    the same, late windows count          24             –         –                –
  alerts    as it is                              48             0         0           0.9993
  sessions  thresholds                            72             0         0           0.1247  out above 0.9, to 0.9, in below 0.765 for 3600 s
  sessions  foretold                              72             0         0           0.1247  out above 0.9, to 0.9, in below 0.765 for 3600 s, foretold 7200 s
  sessions  planned                               72             0         0           0.1247  plans the day for 1.0 x what is foretold
  sessions  at best, all demand known          64.02        0.1667         1                –  overloaded windows count, not late ones
  sessions  the same, late windows count          72             –         –                –
  sessions  as it is                              96             0         0           0.4994
  by the log of keys  keys  max parallelism now           best                           beware
  sessions               5  8 (5 tasks, the busiest 68%)  88 (4 tasks, the busiest 68%)  worse than fewer: 3, 4, 6, 7, 9, 10 and 114 more
  sessions is a bottleneck. 2 operators change, from 8 tasks in all to 9. The jobs sustain 100 % of their demand with no task above the target, as they run now 90.5 %. No pause is longer than 0.001 s. Key ranges, nodes and state of each task: in the JSON.

Keys of an operator that there is not.

  $ sed -i "s/sessions,ann/session,ann/" keys.csv
  $ ftplan scale-out -t topology.yaml -s stats --key-log keys.csv
  2> ftplan: key log: operator 'session' is not in the topology (did you mean 'sessions'?)
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --key-log nowhere.csv
  2> ftplan: nowhere.csv: no such file
  [2]
