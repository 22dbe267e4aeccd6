Recovery costs: nothing starts before the failure is noticed, and a query is back when it has caught up.

  $ python3 -c "print('format: ftplan/recovery-costs\nformat_version: 1.0\nstate: remote\nparameters:\n  detection_s: {value: 10}\n  restart_s: {value: 5}\n  bandwidth_mb_s: {value: 2}\n  capacity_records_s: {value: 10}\nfitted_on: {recoveries: 9, rates: [1, 8]}')" > costs.yaml
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail node:n1 --no-arrivals --costs costs.yaml --algorithm exact --objective priority-time -o plan.json
  2> ftplan: warning: by the recovery costs state is remote: a task fetches it from the store wherever it starts, and no copy on a node makes that faster: the placement of checkpoints no longer pays [REMOTE_STATE]
  2> ftplan: warning: 1 node failed, fewer than 2: Su & Zhou then block until there is room for all that failed, 2 cores in sum, which is there at once; this plan recovers step by step all the same [BLOCKING_RECOVERY]
  2> ftplan: warning: the order of recovery gains next to nothing: priority x time lost is 37.8125, that of random orders 37.8125 on average; 50% of the failed cost is shared by all 2 failed queries [ORDER_GAINS_NOTHING]
  2> recovery schedule
  2> algorithm                  exact
  2> status                     optimal
  2> priority-time (min)        37.81
  2> proven bound               37.81
  2> gap                        0.0000%
  2> failed tasks               2 (2 cores)
  2> failed queries             2 (priority 2)
  2> failed cost shared by all  50.0%
  2> cost from                  topology
  2> rules                      capacity, arrivals, whole-queries
  2>                                 blocking  step by step  this plan  random order (mean of 20)
  2> priority restored by all steps         2             2          2                          2
  2> priority restored by step 0            2             2          2                          2
  2> priority x seconds down            37.81         37.81      37.81                      37.81
  2> queries back                           2             2          2                          2
  2> priority back                          2             2          2                          2
  2> first query back, s                18.75         18.75      18.75                      18.75
  2> last query back, s                 19.06         19.06      19.06                      19.06
  2> priority back, to 2                from 0 s to 20.02 s
  2> this plan, step by step, blocking  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▅▇████
  2> at most                            ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▅▇████
  2> step  at, s  trigger  cores free  used  tasks  prefetched  queries  priority  bound
  2>    0      0  failure          10     2      2           0        2         2      2
  2> step  task      node  cores  ready, s  caught up, s
  2>    0  clicks/0  n4        1        15         18.75
  2>    0  alerts/0  n3        1     15.25         19.06
  2> query     priority  back, s  reason
  2> alerts/1         1    18.75  whole by step 0
  2> alerts/0         1    19.06  whole by step 0
  2> seconds since the failure (█ restore, ▒ prefetch, ▁ catching up)
  2> node  0                   3.812               7.625              11.44               15.25           19.06
  2> n4    ███████████████████████████████████████████████████████████████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁··
  2> n3    ████████████████████████████████████████████████████████████████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  $ ftplan verify plan.json --format table
  valid; held to: capacity, arrivals, whole-queries
  not recomputed: bound, plan.steps.objective.bound, summary.before, summary.most_back, summary.random, summary.sampled, summary.step_by_step, plan.steps.recover.prefetch
  taken as stated: algorithm, options, tool_version, warnings, plan.queries.reason
  $ ftplan explain plan.json query:alerts/0 --format table
  query:alerts/0: the failed tasks that it waits for
  task      node  step  ready, s  cores  failed queries that share it  last
  clicks/0  n4       0        15      1                             2  no
  alerts/0  n3       0     15.25      1                             1  yes
  query:alerts/0 of priority 1 is back at 19.0625 s, whole by step 0
  back means caught up: with what is processed again, and with what came in while it was down
  alerts/0 is the last to catch up: 15 s until it starts, 0.25 s fetching it, 3.8125 s catching up
  sooner: not by its order
  $ sed 's/"ready_s": 15.25/"ready_s": 15.0/' plan.json > early.json
  $ ftplan verify early.json --format table
  code             where           what
  READY_TOO_EARLY  task:alerts/0   step 0 has alerts/0 ready at 15 s, the earliest is 15.25 s
  WRONG_CAUGHT_UP  task:alerts/0   step 0 has alerts/0 caught up at 19.0625 s, it is at 18.75 s
  WRONG_RESTORED   query:alerts/0  step 0 has query:alerts/0 back at 19.0625 s, it is whole at 18.75 s
  WRONG_QUERIES    query:alerts/0  queries: query:alerts/0 is back at 19.0625 s in the plan, but it is back at 18.75 s
  WRONG_TIMELINE   timeline[0]     timeline[0] states 1 queries of priority 1 at 18.75 s, it is 2 queries of priority 2 at 18.75 s
  5 violation(s); held to: capacity, arrivals, whole-queries
  not recomputed: bound, plan.steps.objective.bound, plan.steps.recover.prefetch
  taken as stated: algorithm, options, tool_version, warnings, plan.queries.reason
  2> ftplan: early.json: READY_TOO_EARLY: step 0 has alerts/0 ready at 15 s, the earliest is 15.25 s (and 4 more)
  [1]
  $ sed 's/"bandwidth_mb_s": 2.0/"bandwidth_mb_s": 3.0/' plan.json > faster.json
  $ ftplan verify faster.json --format table
  code               where                   what
  OPTION_DIFFERS     options.bandwidth_mb_s  options.bandwidth_mb_s states 3, it is 2
  OBJECTIVE_DIFFERS  objective.value         the plan states priority-time 37.8125, what it holds is worth 37.7083333333
  OBJECTIVE_DIFFERS  objective.bound         the plan is worth 37.7083333333, less than its bound 37.8125
  GAP_DIFFERS        objective.scale         the plan states a scale of 37.8125, value and bound have 37.7083333333
  GAP_DIFFERS        objective.gap           the plan states a gap of 0, value and bound lie 0.00276243093923 apart
  STATUS_DIFFERS     status                  the status is optimal, but the gap is 0.00276243
  6 violation(s); held to: capacity, arrivals, whole-queries
  not recomputed: bound, plan.steps.objective.bound, summary.before, summary.most_back, summary.random, summary.sampled, summary.step_by_step, plan.steps.recover.prefetch
  taken as stated: algorithm, options, tool_version, warnings, plan.queries.reason
  2> ftplan: faster.json: OPTION_DIFFERS: options.bandwidth_mb_s states 3, it is 2 (and 5 more)
  [1]
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail node:n1 --no-arrivals --costs costs.yaml --bandwidth 1MB --format table
  recovery schedule
  algorithm                  auto
  status                     optimal
  priority-time (min)        38.16
  proven bound               38.16
  gap                        0.0000%
  failed tasks               2 (2 cores)
  failed queries             2 (priority 2)
  failed cost shared by all  50.0%
  cost from                  topology
  rules                      capacity, arrivals, whole-queries
                                  blocking  step by step  this plan  random order (mean of 20)
  priority restored by all steps         2             2          2                          2
  priority restored by step 0            2             2          2                          2
  priority x seconds down            38.16         38.16      38.16                      38.16
  queries back                           2             2          2                          2
  priority back                          2             2          2                          2
  first query back, s                18.75         18.75      18.75                      18.75
  last query back, s                 19.41         19.41      19.41                      19.41
  priority back, to 2                from 0 s to 20.38 s
  this plan, step by step, blocking  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▅▅▅▇████
  at most                            ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▅▅▅▇████
  step  at, s  trigger  cores free  used  tasks  prefetched  queries  priority  bound
     0      0  failure          10     2      2           0        2         2      2
  step  task      node  cores  ready, s  caught up, s
     0  clicks/0  n4        1        15         18.75
     0  alerts/0  n3        1     15.52         19.41
  query     priority  back, s  reason
  alerts/1         1    18.75  whole by step 0
  alerts/0         1    19.41  whole by step 0
  seconds since the failure (█ restore, ▒ prefetch, ▁ catching up)
  node  0                   3.881               7.762              11.64               15.52           19.41
  n4    █████████████████████████████████████████████████████████████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁···
  n3    ████████████████████████████████████████████████████████████████████████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  2> ftplan: algorithm: auto (the default)
  2> ftplan: warning: by the recovery costs state is remote: a task fetches it from the store wherever it starts, and no copy on a node makes that faster: the placement of checkpoints no longer pays [REMOTE_STATE]
  2> ftplan: warning: 1 node failed, fewer than 2: Su & Zhou then block until there is room for all that failed, 2 cores in sum, which is there at once; this plan recovers step by step all the same [BLOCKING_RECOVERY]
  2> ftplan: warning: the order of recovery gains next to nothing: priority x time lost is 38.1554, that of random orders 38.1554 on average; 50% of the failed cost is shared by all 2 failed queries [ORDER_GAINS_NOTHING]

A plan is stale where its costs changed, and a job that never catches up has no schedule.

  $ sed -i 's/value: 10}$/value: 20}/' costs.yaml
  $ ftplan verify plan.json --format table
  code             where           what
  STALE_INPUT      costs           costs costs.yaml is not what the plan was made from: its sha256 begins f0a3f36eba94, the plan's 3f847a8815f5; plan again, or pass --ignore-stale
  READY_TOO_EARLY  task:clicks/0   step 0 has clicks/0 ready at 15 s, the earliest is 25 s
  WRONG_CAUGHT_UP  task:clicks/0   step 0 has clicks/0 caught up at 18.75 s, it is at 16.6666666667 s
  READY_TOO_EARLY  task:alerts/0   step 0 has alerts/0 ready at 15.25 s, the earliest is 25.25 s
  WRONG_CAUGHT_UP  task:alerts/0   step 0 has alerts/0 caught up at 19.0625 s, it is at 16.9444444444 s
  WRONG_RESTORED   query:alerts/0  step 0 has query:alerts/0 back at 19.0625 s, it is whole at 16.9444444444 s
  WRONG_RESTORED   query:alerts/1  step 0 has query:alerts/1 back at 18.75 s, it is whole at 16.6666666667 s
  WRONG_QUERIES    query:alerts/0  queries: query:alerts/0 is back at 19.0625 s in the plan, but it is back at 16.9444444444 s
  WRONG_QUERIES    query:alerts/1  queries: query:alerts/1 is back at 18.75 s in the plan, but it is back at 16.6666666667 s
  WRONG_TIMELINE   timeline[0]     timeline[0] states 1 queries of priority 1 at 18.75 s, it is 1 queries of priority 1 at 16.6666666667 s
  10 violation(s); held to: capacity, arrivals, whole-queries
  not recomputed: bound, plan.steps.objective.bound, plan.steps.recover.prefetch
  taken as stated: algorithm, options, tool_version, warnings, plan.queries.reason
  2> ftplan: plan.json: STALE_INPUT: costs costs.yaml is not what the plan was made from: its sha256 begins f0a3f36eba94, the plan's 3f847a8815f5; plan again, or pass --ignore-stale (and 9 more)
  [1]
  $ sed -i 's/capacity_records_s: {value: 20}/capacity_records_s: {value: 2}/' costs.yaml
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail node:n1 --costs costs.yaml
  2> ftplan: --costs: the job can process 2 records/s and gets 2: it never catches up after a failure
  [1]
  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 1 --costs costs.yaml
  2> ftplan: --costs: say what the recovery afterwards takes: give --then-recover too
  [2]
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --costs costs.yaml --algorithm even -o copies.json
  2> ftplan: warning: by the recovery costs state is remote: a task fetches it from the store wherever it starts, and no copy on a node makes that faster: the placement of checkpoints no longer pays [REMOTE_STATE]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> checkpoint allocation
  2> algorithm                  even
  2> status                     feasible; 1 assumption
  2> usable (max)               60
  2> proven bound               –
  2> gap                        –
  2> assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> expected of a random plan  61.6
  2> usable share at random     0.28
  2> rules                      copy-not-with-primary, copies-on-distinct-nodes, even-count
  2> worst loss                 node:n3: n6 carries 2.151 times its fair share
  2>                      before   after
  2> usable                    0      60
  2> usable share              –  0.2727
  2> imbalance             2.205  0.4627
  2> max copies per node       2       2
  2> copies                    4      12
  2> zone separation           0  0.8333
  2> failover load ratio       5   2.151
  2> loss probability          –       –
  2> copysets                  1      10
  2> operator  usable  random plan
  2> alerts         0            0
  2> sessions      60         61.6
  2> key group   primary  checkpoints
  2> alerts/0    n1       n5
  2> alerts/1    n1       n2
  2> alerts/2    n2       n4
  2> alerts/3    n2       n3
  2> sessions/0  n3       n6
  2> sessions/1  n3       n6
  2> sessions/2  n4       n1
  2> sessions/3  n4       n2
  2> sessions/4  n5       n4
  2> sessions/5  n5       n3
  2> sessions/6  n6       n5
  2> sessions/7  n6       n1
  2> move        from  to    bytes
  2> alerts/0    n2    n5  262,144
  2> alerts/2    n1    n4  262,144
  2> alerts/3    n1    n3  262,144
  2> sessions/0  –     n6  524,288
  2> sessions/1  –     n6  524,288
  2> sessions/2  –     n1  524,288
  2> sessions/3  –     n2  524,288
  2> sessions/4  –     n4  524,288
  2> sessions/5  –     n3  524,288
  2> sessions/6  –     n5  524,288
  2> sessions/7  –     n1  524,288
  2> Usable: 60 (more is better); no bound was asked for, so nothing is proven about how much better another plan could be.
