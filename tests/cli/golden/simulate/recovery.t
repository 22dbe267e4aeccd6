A plan, and one that is made as nodes arrive: in figures, query by query and over time.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a -o plan.json -q
  $ ftplan simulate recovery plan.json --until 5m --warm-up 20s --batch 1s --checkpoint-interval 10s --format table
  1 run                    incremental
  priority x seconds down           98
  first query back, s               52
  last query back, s                52
  peak lag, records                 30
  lag, records x s               443.5
  peak queue, records               44
  peak buffer, bytes             2,400
  spilled, bytes                     0
  duplicates dropped                 0
  query     priority  back, s: incremental
  alerts/0         1                    52
  alerts/1         1                    52
               priority available, lag  from -5 s to 300 s
  incremental  back, of 2               ██▅▁▁▁▁▁▁▁▁▁▅█████████████████████████████████████████████████
  incremental  lag, to 28               ▅▆█▇▇▆▅▅▅▄▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  2> ftplan: warning: no arrivals are given: 2 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail zone:a --no-arrivals --until 60s --warm-up 20s --batch 1s --checkpoint-interval 10s --every 20s -o simulated.json
  2> 1 run                    incremental
  2> priority x seconds down           98
  2> first query back, s               52
  2> last query back, s                52
  2> peak lag, records                 30
  2> lag, records x s               443.5
  2> peak queue, records               44
  2> peak buffer, bytes             2,400
  2> spilled, bytes                     0
  2> duplicates dropped                 0
  2> query     priority  back, s: incremental
  2> alerts/0         1                    52
  2> alerts/1         1                    52
  2>              priority available, lag  from 20 s to 60 s
  2> incremental  back, of 2               ▂▁▄
  2> incremental  lag, to 22               █▅▂
  $ ftplan check simulated.json --format table
  file            kind        holds                     warnings
  simulated.json  simulation  1 recoveries, 0 warnings         0

Modes, and another plan: on the same random numbers.

  $ ftplan simulate recovery plan.json --mode incremental --mode blocking --mode task-local --runs 3 --jobs 1 --until 5m --warm-up 20s --batch 1s --checkpoint-interval 10s --detection 5s --format table -q
  3 runs: mean ± 95 % confidence  incremental    blocking        task-local
  priority x seconds down         140.7 ± 23.48  593.3 ± 7.589   593.3 ± 7.589
  first query back, s             73.67 ± 8.724  –               –
  last query back, s              73.67 ± 8.724  –               –
  peak lag, records               39.33 ± 7.589  299.3 ± 7.589   299.3 ± 7.589
  lag, records x s                1,021 ± 358    47,184 ± 1,742  47,184 ± 1,742
  peak queue, records             53.33 ± 7.589  307.3 ± 7.589   307.3 ± 7.589
  peak buffer, bytes              2,400 ± 0      0 ± 0           0 ± 0
  spilled, bytes                  0 ± 0          0 ± 0           0 ± 0
  duplicates dropped              0 ± 0          0 ± 0           0 ± 0
  blocking, more than incremental    mean  95 %             less in runs  equal  more
  priority x seconds down           452.7  435.2 … 470.1               0      0     3
  peak lag, records                   260  260 … 260                   0      0     3
  lag, records x s                 46,163  44,778 … 47,547             0      0     3
  peak queue, records                 254  254 … 254                   0      0     3
  peak buffer, bytes               -2,400  -2,400 … -2,400             3      0     0
  spilled, bytes                        0  0 … 0                       0      3     0
  duplicates dropped                    0  0 … 0                       0      3     0
  task-local, more than incremental    mean  95 %             less in runs  equal  more
  priority x seconds down             452.7  435.2 … 470.1               0      0     3
  peak lag, records                     260  260 … 260                   0      0     3
  lag, records x s                   46,163  44,778 … 47,547             0      0     3
  peak queue, records                   254  254 … 254                   0      0     3
  peak buffer, bytes                 -2,400  -2,400 … -2,400             3      0     0
  spilled, bytes                          0  0 … 0                       0      3     0
  duplicates dropped                      0  0 … 0                       0      3     0
  query     priority  back, s: incremental  back, s: blocking  back, s: task-local
  alerts/0         1                 73.67  not back           not back
  alerts/1         1                 73.67  not back           not back
               priority available, lag  from -5 s to 300 s
  incremental  back, of 2               ██▆▁▁▁▁▁▁▁▁▁▁▁▁▁▄▇████████████████████████████████████████████
  incremental  lag, to 299.3            ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  blocking     back, of 2               ██▆▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  blocking     lag, to 299.3            ▂▂▂▂▂▃▃▃▃▃▃▃▃▃▃▃▄▄▄▄▄▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇█
  task-local   back, of 2               ██▆▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  task-local   lag, to 299.3            ▂▂▂▂▂▃▃▃▃▃▃▃▃▃▃▃▄▄▄▄▄▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇█
  $ sed 's/"node": "n[456]"/"node": "n3"/' plan.json > crowded.json
  $ ftplan simulate recovery plan.json --against crowded.json --runs 2 --jobs 1 --until 5m --warm-up 20s --batch 1s --checkpoint-interval 10s --format table
  2 runs: mean ± 95 % confidence (median, 5 … 95 %)  incremental, plan.json              incremental, crowded.json
  priority x seconds down                            87 ± 139.8 (87, 77.1 … 96.9)        592 ± 25.41 (592, 590.2 … 593.8)
  first query back, s                                47.5 ± 57.18 (47.5, 43.45 … 51.55)  –
  last query back, s                                 47.5 ± 57.18 (47.5, 43.45 … 51.55)  –
  peak lag, records                                  28 ± 25.41 (28, 26.2 … 29.8)        144 ± 25.41 (144, 142.2 … 145.8)
  lag, records x s                                   383 ± 769.3 (383, 328.5 … 437.5)    22,663 ± 5,953 (22,663, 22,242 … 23,085)
  peak queue, records                                42 ± 25.41 (42, 40.2 … 43.8)        160 ± 25.41 (160, 158.2 … 161.8)
  peak buffer, bytes                                 2,400 ± 0 (2,400, 2,400 … 2,400)    3,000 ± 0 (3,000, 3,000 … 3,000)
  spilled, bytes                                     0 ± 0 (0, 0 … 0)                    0 ± 0 (0, 0 … 0)
  duplicates dropped                                 0 ± 0 (0, 0 … 0)                    0 ± 0 (0, 0 … 0)
  incremental, crowded.json, more than incremental, plan.json    mean  95 %             less in runs  equal  more
  priority x seconds down                                         505  390.6 … 619.4               0      0     2
  peak lag, records                                               116  116 … 116                   0      0     2
  lag, records x s                                             22,281  17,097 … 27,464             0      0     2
  peak queue, records                                             118  118 … 118                   0      0     2
  peak buffer, bytes                                              600  600 … 600                   0      0     2
  spilled, bytes                                                    0  0 … 0                       0      2     0
  duplicates dropped                                                0  0 … 0                       0      2     0
  query     priority  back, s: incremental, plan.json  back, s: incremental, crowded.json
  alerts/0         1                             47.5  not back
  alerts/1         1                             47.5  not back
                             priority available, lag  from -5 s to 300 s
  incremental, plan.json     back, of 2               ██▆▁▁▁▁▁▁▁▃▅▆█████████████████████████████████████████████████
  incremental, plan.json     lag, to 144              ▂▂▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  incremental, crowded.json  back, of 2               ██▆▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  incremental, crowded.json  lag, to 144              ▂▂▃▃▃▃▃▃▃▃▃▃▃▄▄▄▄▄▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇█
  2> ftplan: warning: no arrivals are given: 2 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  2> ftplan: warning: crowded.json: OVER_CAPACITY: after step 0, n3 runs 1.8 cores more than it may; see verify [PLAN_BREAKS_RULES]
  2> ftplan: warning: incremental: 2 queries are not back at 300 s in up to 2 of 2 runs: --until simulates longer [NOT_BACK]
  $ ftplan simulate recovery plan.json --until 2m --batch 1s --checkpoint-interval 10s --max-down 10 -q -o down.json
  2> ftplan: priority x seconds down are 156, above --max-down 10
  [1]
