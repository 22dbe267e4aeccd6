A running query gives way to a failed one that matters more, and comes back with the new node.

  $ cat > topology.yaml <<END
  > {format: ftplan/topology, format_version: "1.0", operators: [
  >   {id: bills, parallelism: 1, cpu: 1, state_bytes: 104857600, priority: 9},
  >   {id: trends, parallelism: 1, cpu: 1, state_bytes: 209715200}], edges: []}
  > END
  $ cat > cluster.yaml <<END
  > {format: ftplan/cluster, format_version: "1.0", nodes: [{id: n1, cpu: 1.25}, {id: n2, cpu: 1.25}],
  >   network: {bandwidth_mb_s: 10}, placement: {tasks: {bills: [n1], trends: [n2]}}}
  > END
  $ cat > failure.yaml <<END
  > {format: ftplan/failure, format_version: "1.0", fail: ["node:n1"], arrivals: [{at_s: 120, node: {id: n3, cpu: 1.25}}]}
  > END
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml -f failure.yaml --objective priority-time --iterations 1 --time-limit 60s --output waits.json -q
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml -f failure.yaml --objective priority-time --iterations 1 --time-limit 60s --pause-lower-priority --output gives-way.json --format table
  2> ftplan: algorithm: auto (the default)
  2> ftplan: warning: 1 node failed, fewer than 2: Su & Zhou then block until there is room for all that failed, 1 cores in sum, which is there at 120 s; this plan recovers step by step all the same [BLOCKING_RECOVERY]
  2> ftplan: assumed: failures are noticed and tasks start again in no time; --costs says what both take [DETECTION_ASSUMED]
  2> recovery schedule
  2> algorithm                  auto
  2> status                     optimal for these inputs; 1 assumption
  2> priority-time (min)        230
  2> proven bound               230
  2> gap                        0.0000%
  2> assumed                    failures are noticed and tasks start again in no time; --costs says what both take [DETECTION_ASSUMED]
  2> failed tasks               1 (1 cores)
  2> failed queries             1 (priority 9)
  2> failed cost shared by all  100.0%
  2> cost from                  topology
  2> rules                      capacity, arrivals, whole-queries
  2>                                 blocking  step by step  this plan  random order (mean of 20)
  2> priority restored by all steps         9             9         10                          9
  2> priority restored by step 0            0             0          9                          0
  2> priority x seconds down            1,170         1,170        230                      1,170
  2> queries back                           1             1          2                          1
  2> priority back                          9             9         10                          9
  2> first query back, s                  130           130         10                        130
  2> last query back, s                   130           130        140                        130
  2> priority back, to 10    from 0 s to 147 s
  2> this plan               ▁▁▁▁▁▁▃▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇████
  2> step by step, blocking  ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▅███████████
  2> at most                 ▂▂▂▂▂▂▃▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇████████████
  2> fails x, arrives +                                                                                       +
  2> step  at, s  trigger     cores free  used  tasks  prefetched  queries  priority  bound
  2>    0      0  failure              0     1      1           0        1         9      9
  2>    1    120  arrival:n3           1     1      1           0        1         1      1
  2> step  task      node  cores  ready, s
  2>    0  bills/0   n2        1        10
  2>    1  trends/0  n3        1       140
  2> step  gives way  node  cores  back, s
  2>    0  trends/0   n2        1      140
  2> query     priority  back, s  reason
  2> bills/0          9       10  whole by step 0
  2> trends/0         1      140  whole by step 1
  2> seconds since the failure (█ restore, ▒ prefetch)
  2> node  0                   28                  56                 84                  112               140
  2> n2    ███████·····························································································
  2> n3    ·····················································································███████████████
  $ ftplan verify gives-way.json --format table
  valid; held to: capacity, arrivals, whole-queries
  not recomputed: bound, plan.steps.objective.bound, summary.before, summary.most_back, summary.random, summary.sampled, summary.step_by_step, plan.steps.recover.prefetch
  taken as stated: algorithm, options, tool_version, warnings, plan.queries.reason
  $ ftplan diff waits.json gives-way.json --format table
  task           what     from  to
  task:bills/0   at_s     120   0
  task:bills/0   node     n3    n2
  task:trends/0  at_s     –     120
  task:trends/0  node     –     n3
  task:trends/0  pause_s  –     0
  query           back before, s  after
  query:bills/0              130     10
  query:trends/0               –    140
  option                from  to
  pause_lower_priority  no    yes
  2 of 2 tasks change, 2 queries; priority-time: 1170.0 -> 230.0
