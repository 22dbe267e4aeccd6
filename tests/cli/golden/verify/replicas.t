  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 4 --algorithm exact -o plan.json -q
  $ ftplan verify plan.json --strict --format table
  valid; held to: budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
  not recomputed: bound, summary.random
  taken as stated: algorithm, options, tool_version, warnings
