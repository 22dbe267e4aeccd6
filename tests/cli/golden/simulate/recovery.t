A plan, and one that is made as nodes arrive: in figures, query by query and over time.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a -o plan.json -q
  $ ftplan simulate recovery plan.json --until 5m --warm-up 20s --batch 1s --checkpoint-interval 10s --format table
  1 run                    incremental
  priority x seconds down          102
  first query back, s               59
  last query back, s                59
  peak lag, records                 30
  lag, records x s                 840
  peak queue, records               44
  peak buffer, bytes             2,400
  spilled, bytes                     0
  duplicates dropped                 0
  query     priority  back, s: incremental
  alerts/0         1                    59
  alerts/1         1                    59
               priority available, lag  from -5 s to 300 s
  incremental  back, of 2               ███▅▁▁▁▁▁▁▁▁▁▃████████████████████████████████████████████████
  incremental  lag, to 28               ▂▂█▇▇▆▅▅▅▄▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  2> ftplan: warning: no arrivals are given: 2 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  $ ftplan simulate recovery -t topology.yaml -c cluster.yaml --fail zone:a --no-arrivals --until 60s --warm-up 20s --batch 1s --checkpoint-interval 10s --every 20s -o simulated.json
  2> 1 run                    incremental
  2> priority x seconds down          102
  2> first query back, s               59
  2> last query back, s                59
  2> peak lag, records                 30
  2> lag, records x s                 840
  2> peak queue, records               44
  2> peak buffer, bytes             2,400
  2> spilled, bytes                     0
  2> duplicates dropped                 0
  2> query     priority  back, s: incremental
  2> alerts/0         1                    59
  2> alerts/1         1                    59
  2>              priority available, lag  from 20 s to 60 s
  2> incremental  back, of 2               ▄▁▂
  2> incremental  lag, to 22               █▅▂
  $ ftplan check simulated.json --format table
  file            kind        holds                     warnings
  simulated.json  simulation  1 recoveries, 0 warnings         0

Modes, and another plan: on the same random numbers.

  $ ftplan simulate recovery plan.json --mode incremental --mode blocking --mode task-local --runs 3 --jobs 1 --until 5m --warm-up 20s --batch 1s --checkpoint-interval 10s --detection 5s --format table -q
  3 runs: mean ± 95 % confidence  incremental    blocking       task-local
  priority x seconds down         148.7 ± 29.95  148.7 ± 29.95  148.7 ± 29.95
  first query back, s             81.33 ± 16.54  81.33 ± 16.54  81.33 ± 16.54
  last query back, s              81.33 ± 16.54  81.33 ± 16.54  81.33 ± 16.54
  peak lag, records               39.33 ± 7.589  39.33 ± 7.589  39.33 ± 7.589
  lag, records x s                1,505 ± 574.7  1,505 ± 574.7  1,505 ± 574.7
  peak queue, records             53.33 ± 7.589  53.33 ± 7.589  53.33 ± 7.589
  peak buffer, bytes              2,400 ± 0      0 ± 0          0 ± 0
  spilled, bytes                  0 ± 0          0 ± 0          0 ± 0
  duplicates dropped              0 ± 0          0 ± 0          0 ± 0
  blocking, more than incremental    mean  95 %             less in runs  equal  more
  priority x seconds down               0  0 … 0                       0      3     0
  first query back, s                   0  0 … 0                       0      3     0
  last query back, s                    0  0 … 0                       0      3     0
  peak lag, records                     0  0 … 0                       0      3     0
  lag, records x s                      0  0 … 0                       0      3     0
  peak queue, records                   0  0 … 0                       0      3     0
  peak buffer, bytes               -2,400  -2,400 … -2,400             3      0     0
  spilled, bytes                        0  0 … 0                       0      3     0
  duplicates dropped                    0  0 … 0                       0      3     0
  task-local, more than incremental    mean  95 %             less in runs  equal  more
  priority x seconds down                 0  0 … 0                       0      3     0
  first query back, s                     0  0 … 0                       0      3     0
  last query back, s                      0  0 … 0                       0      3     0
  peak lag, records                       0  0 … 0                       0      3     0
  lag, records x s                        0  0 … 0                       0      3     0
  peak queue, records                     0  0 … 0                       0      3     0
  peak buffer, bytes                 -2,400  -2,400 … -2,400             3      0     0
  spilled, bytes                          0  0 … 0                       0      3     0
  duplicates dropped                      0  0 … 0                       0      3     0
  query     priority  back, s: incremental  back, s: blocking  back, s: task-local
  alerts/0         1                 81.33              81.33                81.33
  alerts/1         1                 81.33              81.33                81.33
               priority available, lag  from -5 s to 300 s
  incremental  back, of 2               ███▄▁▁▁▁▁▁▁▁▁▁▁▁▂▄▄▇██████████████████████████████████████████
  incremental  lag, to 37.33            ▂▂▃█▇▇▇▆▆▅▅▄▄▄▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  blocking     back, of 2               ███▄▁▁▁▁▁▁▁▁▁▁▁▁▂▄▄▇██████████████████████████████████████████
  blocking     lag, to 37.33            ▂▂▃█▇▇▇▆▆▅▅▄▄▄▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  task-local   back, of 2               ███▄▁▁▁▁▁▁▁▁▁▁▁▁▂▄▄▇██████████████████████████████████████████
  task-local   lag, to 37.33            ▂▂▃█▇▇▇▆▆▅▅▄▄▄▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  $ sed 's/"node": "n[456]"/"node": "n3"/' plan.json > crowded.json
  $ ftplan simulate recovery plan.json --against crowded.json --runs 2 --jobs 1 --until 5m --warm-up 20s --batch 1s --checkpoint-interval 10s --format table
  2 runs: mean ± 95 % confidence (median, 5 … 95 %)  incremental, plan.json              incremental, crowded.json
  priority x seconds down                            95 ± 88.94 (95, 88.7 … 101.3)       586 ± 25.41 (586, 584.2 … 587.8)
  first query back, s                                54.5 ± 57.18 (54.5, 50.45 … 58.55)  –
  last query back, s                                 54.5 ± 57.18 (54.5, 50.45 … 58.55)  –
  peak lag, records                                  28 ± 25.41 (28, 26.2 … 29.8)        144 ± 25.41 (144, 142.2 … 145.8)
  lag, records x s                                   732 ± 1,372 (732, 634.8 … 829.2)    24,908 ± 7,624 (24,908, 24,368 … 25,448)
  peak queue, records                                42 ± 25.41 (42, 40.2 … 43.8)        160 ± 25.41 (160, 158.2 … 161.8)
  peak buffer, bytes                                 2,400 ± 0 (2,400, 2,400 … 2,400)    3,000 ± 0 (3,000, 3,000 … 3,000)
  spilled, bytes                                     0 ± 0 (0, 0 … 0)                    0 ± 0 (0, 0 … 0)
  duplicates dropped                                 0 ± 0 (0, 0 … 0)                    0 ± 0 (0, 0 … 0)
  incremental, crowded.json, more than incremental, plan.json    mean  95 %             less in runs  equal  more
  priority x seconds down                                         491  376.6 … 605.4               0      0     2
  peak lag, records                                               116  116 … 116                   0      0     2
  lag, records x s                                             24,176  17,925 … 30,427             0      0     2
  peak queue, records                                             118  118 … 118                   0      0     2
  peak buffer, bytes                                              600  600 … 600                   0      0     2
  spilled, bytes                                                    0  0 … 0                       0      2     0
  duplicates dropped                                                0  0 … 0                       0      2     0
  query     priority  back, s: incremental, plan.json  back, s: incremental, crowded.json
  alerts/0         1                             54.5  not back
  alerts/1         1                             54.5  not back
                             priority available, lag  from -5 s to 300 s
  incremental, plan.json     back, of 2               ███▄▁▁▁▁▁▁▁▁▅▅████████████████████████████████████████████████
  incremental, plan.json     lag, to 144              ▂▂▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  incremental, crowded.json  back, of 2               ███▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  incremental, crowded.json  lag, to 144              ▂▂▃▃▃▃▃▃▃▃▃▃▃▄▄▄▄▄▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅▅▅▅▅▆▆▆▆▆▆▆▆▆▆▆▆▇▇▇▇▇▇▇▇▇▇▇▇█
  2> ftplan: warning: no arrivals are given: 2 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  2> ftplan: warning: crowded.json: OVER_CAPACITY: after step 0, n3 runs 1.8 cores more than it may; see verify [PLAN_BREAKS_RULES]
  2> ftplan: warning: incremental: 2 queries are not back at 300 s in up to 2 of 2 runs: --until simulates longer [NOT_BACK]
  $ ftplan simulate recovery plan.json --until 2m --batch 1s --checkpoint-interval 10s --max-down 10 -q -o down.json
  2> ftplan: priority x seconds down are 104, above --max-down 10
  [1]
