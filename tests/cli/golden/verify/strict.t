Rules that the plan was not made for.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --balance none --anti-affinity node -o plan.json -q
  $ ftplan verify plan.json --strict --format table
  code               where                 what
  COPY_IN_SAME_ZONE  key-group:sessions/1  sessions/1 has a copy on n4, in b like its primary on n3
  OVER_BALANCE       node:n1               n1 holds copies of load 720, outside 331.233 to 366.1 (fair share 348.667, balance 0.05)
  OVER_BALANCE       node:n2               n2 holds copies of load 810, outside 331.233 to 366.1 (fair share 348.667, balance 0.05)
  OVER_BALANCE       node:n3               n3 holds copies of load 72, outside 331.233 to 366.1 (fair share 348.667, balance 0.05)
  OVER_BALANCE       node:n4               n4 holds copies of load 234, outside 331.233 to 366.1 (fair share 348.667, balance 0.05)
  OVER_BALANCE       node:n5               n5 holds copies of load 96, outside 331.233 to 366.1 (fair share 348.667, balance 0.05)
  OVER_BALANCE       node:n6               n6 holds copies of load 160, outside 331.233 to 366.1 (fair share 348.667, balance 0.05)
  7 violation(s); held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  not recomputed: bound, summary.even
  taken as stated: algorithm, options, tool_version, warnings
  2> ftplan: plan.json: COPY_IN_SAME_ZONE: sessions/1 has a copy on n4, in b like its primary on n3 (and 6 more)
  [1]
