What failed fits nowhere.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --no-arrivals --max-cpu 0.3 --algorithm best-density --objective priority --format table
  recovery schedule
  algorithm                  best-density
  status                     infeasible
  reason                     no query returns within 600 s: the cheapest, query:alerts/0, needs 3 cores and there are 0.8 in all: it lacks 2.2
  limit                      capacity
  current                    0.8
  needed                     3
  smallest fix               add to the arrivals of the failure file: {at_s: 300, node: {id: extra-1, cpu: 10}}, and drop --no-arrivals
  failed tasks               4 (4 cores)
  failed queries             2 (priority 2)
  failed cost shared by all  50.0%
  cost from                  topology
  rules
                                  blocking  this plan  random order (mean of 20)
  priority restored by all steps         0          –                          0
  priority restored by step 0            0          –                          0
  priority x seconds down            1,200          –                      1,200
  queries back                           0          –                          0
  priority back                          0          –                          0
  first query back, s                    –          –                          –
  last query back, s                     –          –                          –
  2> ftplan: warning: the failed tasks hold 1 MiB of state, but no bandwidth is known: restores count as taking no time; give --bandwidth, or network.bandwidth_mb_s in the cluster file [RESTORE_TIME_UNKNOWN]
  2> ftplan: no plan: no query returns within 600 s: the cheapest, query:alerts/0, needs 3 cores and there are 0.8 in all: it lacks 2.2
  2> ftplan: smallest fix: add to the arrivals of the failure file: {at_s: 300, node: {id: extra-1, cpu: 10}}, and drop --no-arrivals
  [1]

With the node that the smallest fix asks for.

  $ cat > failure.yaml <<END
  > format: ftplan/failure
  > format_version: "1.0"
  > arrivals:
  >   - {at_s: 300, node: {id: extra-1, cpu: 10}}
  > END
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml -f failure.yaml --fail zone:a --max-cpu 0.3 --algorithm best-density --objective priority --format table
  recovery schedule
  algorithm                  best-density
  status                     optimal
  priority (max)             1
  proven bound               1
  gap                        0.0000%
  failed tasks               4 (4 cores)
  failed queries             2 (priority 2)
  failed cost shared by all  50.0%
  cost from                  topology
  rules                      capacity, arrivals, whole-queries
                                  blocking  step by step  this plan  random order (mean of 20)
  priority restored by all steps         0             1          1                          1
  priority restored by step 0            0             0          0                          0
  priority x seconds down            1,200           900        900                        900
  queries back                           0             1          1                          1
  priority back                          0             1          1                          1
  first query back, s                    –           300        300                        300
  last query back, s                     –             –          –                          –
  priority back, to 1      from 0 s to 315 s
  this plan, step by step  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▆████
  blocking                 ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  fails x, arrives +                                                                                                      +
  step  at, s  trigger          cores free  used  tasks  prefetched  queries  priority  bound
     0      0  failure                 0.8     0      0           0        0         0      0
     1    300  arrival:extra-1         3.8     3      3           0        1         1      1
  step  task      node     cores  ready, s
     1  clicks/0  extra-1      1       300
     1  clicks/1  extra-1      1       300
     1  alerts/0  extra-1      1       300
  query     priority  back, s  reason
  alerts/0         1      300  whole by step 1
  alerts/1         1        –  needs 1 more cores, 0.8 are free after the last step at 300 s
  seconds since the failure (█ restore, ▒ prefetch)
  node     0                   60                  120                180                 240               300
  extra-1  ···································································································█
  not recovered  reason
  alerts/1       needs 1 cores, the node with most room has 0.2 left
  2> ftplan: warning: the failed tasks hold 1 MiB of state, but no bandwidth is known: restores count as taking no time; give --bandwidth, or network.bandwidth_mb_s in the cluster file [RESTORE_TIME_UNKNOWN]
