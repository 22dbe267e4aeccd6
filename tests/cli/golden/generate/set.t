A set of inputs from nothing: a topology, a cluster with the topology on it, statistics and a failure.

  $ ftplan generate topology --operators 4 --parallelism 2-3 --joins 0.3 --seed 4 -o topology.yaml --force
  2> ftplan: wrote topology.yaml: 4 operators, 11 tasks, 3 edges
  $ cat topology.yaml
  # ftplan generate topology --seed 4 --operators 4 --parallelism 2-3 --joins 0.3
  format: ftplan/topology
  format_version: '1.0'
  name: tree-4
  operators:
  - id: o0
    parallelism: 3
    inputs: correlated
    key_groups: 64
    cpu: [0.2599, 0.2901, 0.2707]
    input_share: [0.895958459841, 1.0, 0.933032991537]
    state_bytes: [1856000, 2071000, 1932000]
    priority: [3, 8, 2]
  - id: o1
    parallelism: 3
    key_groups: 64
    cpu: [0.2959, 0.2761, 0.2651]
    input_share: [1.0, 0.933032991537, 0.895958459841]
    state_bytes: [11450000, 10680000, 10260000]
  - id: o2
    parallelism: 2
    key_groups: 64
    cpu: [0.3686, 0.3439]
    input_share: [1.0, 0.933032991537]
    state_bytes: [39870000, 37200000]
  - id: o3
    parallelism: 3
    cpu: [0.3381, 0.3155, 0.3029]
    rate_out: [1000, 933.032991537, 895.958459841]
    state_bytes: [18690000, 17440000, 16740000]
  edges:
  - {from: o1, to: o0, partitioning: one-to-one}
  - {from: o2, to: o1, partitioning: split}
  - {from: o3, to: o2, partitioning: merge}
  $ ftplan generate cluster -t topology.yaml --nodes 4 --zones 2 -o cluster.yaml --force
  2> ftplan: wrote cluster.yaml: 4 nodes in 2 zones, 5.552 cores, 11 tasks placed
  $ cat cluster.yaml
  # ftplan generate cluster --topology topology.yaml --nodes 4 --zones 2
  format: ftplan/cluster
  format_version: '1.0'
  nodes:
  - {id: n1, cpu: 1.388, memory_mb: 5685.0, zone: z1, failure_probability: 0.009008}
  - {id: n2, cpu: 1.388, memory_mb: 5685.0, zone: z2, failure_probability: 0.006014}
  - {id: n3, cpu: 1.388, memory_mb: 5685.0, zone: z1, failure_probability: 0.008208}
  - {id: n4, cpu: 1.388, memory_mb: 5685.0, zone: z2, failure_probability: 0.009609}
  zones:
  - {id: z1, failure_probability: 0.001528}
  - {id: z2, failure_probability: 0.003128}
  network: {bandwidth_mb_s: 100.0, delay_s: 0.001}
  placement:
    tasks:
      o0: [n1, n2, n3]
      o1: [n4, n1, n2]
      o2: [n3, n4]
      o3: [n1, n2, n3]
  $ ftplan generate stats -t topology.yaml --windows 48 --window 1h --camps 2 --tasks -o generated
  2> ftplan: wrote generated: 48 windows, 9,216 rows of key_groups, 528 rows of tasks
  $ ftplan generate failure -c cluster.yaml --fail zones --scenarios zones -o failure.yaml
  2> ftplan: wrote failure.yaml: 1 failures, 2 arrivals, 2 scenarios
  $ cat failure.yaml
  # ftplan generate failure --cluster cluster.yaml --fail zones --scenarios zones
  format: ftplan/failure
  format_version: '1.0'
  fail: ['zone:z2']
  arrivals:
  - at_s: 253.713
    node: {id: r1, cpu: 1.388, memory_mb: 5685.0, zone: z2}
  - at_s: 333.537
    node: {id: r2, cpu: 1.388, memory_mb: 5685.0, zone: z2}
  scenarios:
  - id: zone-z1
    probability: 0.001528
    fail: ['zone:z1']
  - id: zone-z2
    probability: 0.003128
    fail: ['zone:z2']
  $ ftplan check topology.yaml cluster.yaml generated failure.yaml --format table
  file           kind      holds                                                      warnings
  topology.yaml  topology  4 operators, 11 tasks, 3 edges, 192 key groups, 1 outputs         0
  cluster.yaml   cluster   4 nodes, 2 zones, 11 placed tasks                                 0
  generated      stats     4 operators, 192 key groups, 48 windows, 2 tables                 0
  failure.yaml   failure   1 failures, 2 arrivals, 2 scenarios                               0

The same options give the same bytes, another seed others.

  $ ftplan generate topology --operators 4 --parallelism 2-3 --joins 0.3 --seed 4 -o again.yaml -q
  $ ftplan generate topology --operators 4 --parallelism 2-3 --joins 0.3 --seed 5 -o other.yaml -q
  $ cmp topology.yaml again.yaml
  $ cmp -s topology.yaml other.yaml
  [1]

Every kind of plan takes them.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s generated --iterations 5 -o checkpoints.json -q
  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml -s generated --budget 3 -o replicas.json -q
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml -f failure.yaml -s generated -o schedule.json -q
  $ ftplan verify checkpoints.json --format table
  valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  not recomputed: bound, summary.even
  taken as stated: algorithm, options, tool_version, warnings
  $ ftplan verify replicas.json --format table
  valid; held to: budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
  not recomputed: bound, summary.random
  taken as stated: algorithm, options, tool_version, warnings
  $ ftplan verify schedule.json --format table
  valid; held to: capacity, arrivals, whole-queries
  not recomputed: bound, plan.steps.objective.bound, summary.before, summary.most_back, summary.random, summary.sampled, summary.step_by_step, plan.steps.recover.prefetch
  taken as stated: algorithm, options, tool_version, warnings, plan.queries.reason
