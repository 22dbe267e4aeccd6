A stricter limit than the plan keeps.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --balance none --anti-affinity node --failover-limit 1.6 -o plan.json -q
  $ sed -i 's/"failover_limit": 1.6/"failover_limit": 1.5/' plan.json
  $ ftplan verify plan.json --format table
  code           where    what
  OVER_FAILOVER  node:n1  after the loss of node:n1, n6 carries 630, 1.50574 times its fair share 418.4 (failover limit 1.5)
  1 violation(s); held to: copy-not-with-primary, copies-on-distinct-nodes, memory, failover
  not recomputed: bound, summary.even
  taken as stated: algorithm, options, tool_version, warnings
  not stated: rules.balance
  2> ftplan: plan.json: OVER_FAILOVER: after the loss of node:n1, n6 carries 630, 1.50574 times its fair share 418.4 (failover limit 1.5)
  [1]
