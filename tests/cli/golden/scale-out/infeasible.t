Fewer cores than there are, or less time than there has to be.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 6}/" topology.yaml

Fewer cores than the tasks take already.

  $ ftplan scale-out -t topology.yaml -s stats --quota 3 --iterations 5 --format table -q
  scale-out
  algorithm     exact
  status        infeasible; 2 assumptions
  assumed       the memory of tasks, or what they may hold, is not known: scores are by cpu and data size; give --task-memory, or memory_mb in the cluster file, and statistics with memory_bytes [NO_MEMORY]
  assumed       no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  reason        the tasks that run now take 8 cores, --quota allows 3
  limit         quota
  current       3
  needed        8
  smallest fix  --quota 8
  thresholds    scale in below 25, prepare from 55, promote above 70; scores lie between 20.42 and 79.58
  rules         none
                                          now
  sustained share of the demand         0.603
  cores of all tasks                        8
  utilisation of the busiest task       1.161
  fairness: cores had of those needed  0.8496
  bottleneck  share of all output  tasks kept busy  needs, if even  beware
  sessions    100%                           3.317               5
  operator  foretold by     error 60 min ahead  same as yesterday
  sessions  seasonal-naive                   0                  0
  2> ftplan: no plan: the tasks that run now take 8 cores, --quota allows 3
  2> ftplan: smallest fix: --quota 8
  [1]

No technique pauses that little.

  $ ftplan scale-out -t topology.yaml -s stats --technique checkpoint --latency-budget 100ms --iterations 5 -o no.json -q
  2> ftplan: no plan: operator 'sessions' pauses at least 76.6 s, by checkpoint
  2> ftplan: smallest fix: --technique auto, or --latency-budget 76.571s
  [1]
