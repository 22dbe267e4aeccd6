The way that carries most, as a log of tasks and substreams tells.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml -s stats-tasks --budget 3 --algorithm exact -o plan.json
  2> task replication
  2> algorithm              exact
  2> status                 optimal
  2> output-fidelity (max)  0.7371
  2> proven bound           0.7371
  2> gap                    0.0000%
  2> budget                 3 replicas
  2> tasks that may fail    8 of 8
  2> failures               worst-case
  2> outputs weigh by       rate
  2> rules                  budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
  2>                         before  this plan  random choice (mean of 20)
  2> output fidelity              0     0.7371                     0.00559
  2> internal completeness        0     0.7887                      0.2395
  2> replicas                     0          3                           –
  2> cores of replicas            0     0.6533                           –
  2> state of replicas, MiB       0        1.5                           –
  2> replica of  node
  2> alerts/0    n4
  2> clicks/1    n6
  2> sessions/2  n3
  $ ftplan replicate-tasks -t topology.yaml --budget 3 --algorithm exact -o plain.json
  2> ftplan: assumed: each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
  2> task replication
  2> algorithm              exact
  2> status                 optimal for these inputs; 1 assumption
  2> output-fidelity (max)  0.0625
  2> proven bound           0.0625
  2> gap                    0.0000%
  2> assumed                each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
  2> budget                 3 replicas
  2> tasks that may fail    8 of 8
  2> failures               worst-case
  2> outputs weigh by       rate
  2> rules                  budget
  2>                         before  this plan  random choice (mean of 20)
  2> output fidelity              0     0.0625                     0.01875
  2> internal completeness        0     0.2292                      0.1979
  2> replicas                     0          3                           –
  2> cores of replicas            0          3                           –
  2> state of replicas, MiB       0        1.5                           –
  2> operator  replicas  tasks
  2> alerts           1  0
  2> clicks           1  0
  2> sessions         1  0
  $ ftplan verify plan.json --strict --format table
  valid; held to: budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
  not recomputed: bound, summary.random
  taken as stated: algorithm, options, tool_version, warnings
  $ ftplan evaluate plain.json -s stats-tasks --format table
  failed: worst-case
  metric                   value  better  unit
  output-fidelity        0.01351  high    share
  key-aligned-fidelity   0.01351  high    share
  internal-completeness  0.07804  high    share
  replicas                     3  low     replicas
  priority-time                –  low     s
  $ ftplan verify plan.json -s stats --format table
  code               where                                what
  STALE_INPUT        stats                                stats stats is not what the plan was made from: its sha256 begins e73795675f43, the plan's 0dbc42b39fab; plan again, or pass --ignore-stale
  OBJECTIVE_DIFFERS  objective.value                      the plan states output-fidelity 0.737100737101, what it holds is worth 0.0625
  GAP_DIFFERS        objective.scale                      the plan states a scale of 0.737100737101, value and bound have 0.0625
  GAP_DIFFERS        objective.gap                        the plan states a gap of 0, value and bound lie 10.7936117936 apart
  STATUS_DIFFERS     status                               the status is optimal, but the gap is 10.7936
  SUMMARY_DIFFERS    summary.after.cpu                    summary.after.cpu states 0.653333333333, it is 3
  SUMMARY_DIFFERS    summary.after.internal_completeness  summary.after.internal_completeness states 0.788710431935, it is 0.229166666667
  SUMMARY_DIFFERS    summary.after.output_fidelity        summary.after.output_fidelity states 0.737100737101, it is 0.0625
  8 violation(s); held to: budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
  not recomputed: bound, summary.random
  taken as stated: algorithm, options, tool_version, warnings
  2> ftplan: plan.json: STALE_INPUT: stats stats is not what the plan was made from: its sha256 begins e73795675f43, the plan's 0dbc42b39fab; plan again, or pass --ignore-stale (and 7 more)
  [1]

A topology that states something else.

  $ sed 's/id: clicks, parallelism: 2/&, rate_out: [1, 1]/; s/sessions, partitioning: full/sessions, substreams: [[0, 0, 1], [1, 1, 1]]/' topology.yaml > other.yaml
  $ ftplan replicate-tasks -t other.yaml -s stats-tasks --budget 3 --algorithm exact -o other.json
  2> ftplan: warning: clicks/0 -> sessions/0 carries 1 records/s by the topology, 0.0166667 by the statistics (98.3% apart): these weigh (and 2 more) [RATES_DISAGREE]
  2> ftplan: warning: the statistics have 0.5 records/s from clicks/1 to sessions/2, which do not meet in the topology, and 0.105556 between 4 more pairs of them [SUBSTREAM_NOT_IN_TOPOLOGY]
  2> task replication
  2> algorithm              exact
  2> status                 optimal
  2> output-fidelity (max)  0.8378
  2> proven bound           0.8378
  2> gap                    0.0000%
  2> budget                 3 replicas
  2> tasks that may fail    8 of 8
  2> failures               worst-case
  2> outputs weigh by       rate
  2> rules                  budget
  2>                         before  this plan  random choice (mean of 20)
  2> output fidelity              0     0.8378                      0.1716
  2> internal completeness        0     0.2548                      0.3752
  2> replicas                     0          3                           –
  2> cores of replicas            0     0.4422                           –
  2> state of replicas, MiB       0        2.5                           –
  2> operator  replicas  tasks
  2> alerts           1  0
  2> sessions         2  2-3
  $ ftplan check other.yaml stats-tasks --format table
  file         kind      holds                                                    warnings
  other.yaml   topology  3 operators, 8 tasks, 2 edges, 12 key groups, 1 outputs         0
  stats-tasks  stats     3 operators, 0 key groups, 3 windows, 3 tables                  2
  2> ftplan: warning: clicks/0 -> sessions/0 carries 1 records/s by the topology, 0.0166667 by the statistics (98.3% apart): these weigh (and 2 more) [RATES_DISAGREE]
  2> ftplan: warning: the statistics have 0.5 records/s from clicks/1 to sessions/2, which do not meet in the topology, and 0.105556 between 4 more pairs of them [SUBSTREAM_NOT_IN_TOPOLOGY]
