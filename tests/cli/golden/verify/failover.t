A stricter limit than the plan keeps.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --balance none --anti-affinity node --failover-limit 1.6 -o plan.json -q
  $ sed -i 's/"failover_limit": 1.6/"failover_limit": 1.5/' plan.json
  $ ftplan verify plan.json --format table
  valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, memory, failover
  not recomputed: bound, summary.even
