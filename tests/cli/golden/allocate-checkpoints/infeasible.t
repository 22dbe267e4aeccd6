No plan is so balanced; the fix says how balanced one can be.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --balance 0.01 --format table
  checkpoint allocation
  algorithm                  auto
  status                     infeasible; 1 assumption
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  reason                     no allocation keeps every node within 1 % of its fair share of load
  limit                      balance
  current                    0.01
  needed                     0.05354
  smallest fix               --balance 0.053538
  rules                      copy-not-with-primary, copies-on-distinct-nodes, balance, memory
  No plan keeps all rules: no allocation keeps every node within 1 % of its fair share of load.
  2> ftplan: algorithm: auto (the default; exact proves the optimum)
  2> ftplan: warning: no allocation keeps every node within 1 % of its fair share of load: copies lie on other nodes, if need be in the zone of their primary [ZONES_NOT_APART]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: no plan: no allocation keeps every node within 1 % of its fair share of load
  2> ftplan: smallest fix: --balance 0.053538
  [1]

Fewer zones than copies.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --copies 3 --anti-affinity zone --format table
  checkpoint allocation
  algorithm                  auto
  status                     infeasible; 1 assumption
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  184.8
  reason                     key-group:alerts/0 with its primary on n1 has 2 other zones for 3 copies
  limit                      copies
  current                    2
  needed                     3
  smallest fix               --copies 2 (or 1 more zone with nodes that accept checkpoints)
  rules                      copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, memory
  No plan keeps all rules: key-group:alerts/0 with its primary on n1 has 2 other zones for 3 copies.
  2> ftplan: algorithm: auto (the default; exact proves the optimum)
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: no plan: key-group:alerts/0 with its primary on n1 has 2 other zones for 3 copies
  2> ftplan: smallest fix: --copies 2 (or 1 more zone with nodes that accept checkpoints)
  [1]

No plan keeps the failover limit.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --anti-affinity zone --balance 0.5 --failover-limit 1.21 --format table
  checkpoint allocation
  algorithm                  exact
  status                     infeasible; 1 assumption
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  reason                     after the loss of zone:b, n6 carries 1.434034 times its fair share at best, above the failover limit 1.21
  limit                      failover_limit
  current                    1.21
  needed                     1.434
  smallest fix               --failover-limit 1.434035
  rules                      copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory, failover
  failover limit             1.21
  No plan keeps all rules: after the loss of zone:b, n6 carries 1.434034 times its fair share at best, above the failover limit 1.21.
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: no plan: after the loss of zone:b, n6 carries 1.434034 times its fair share at best, above the failover limit 1.21
  2> ftplan: smallest fix: --failover-limit 1.434035
  [1]

The primaries alone exceed the failover limit.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --failover-limit 1.2 --format table
  checkpoint allocation
  algorithm                  auto
  status                     infeasible; 1 assumption
  assumed                    a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  expected of a random plan  61.6
  reason                     after the loss of node:n1, n6 carries 1.505736 times its fair share by its own primaries alone, above the failover limit 1.2
  limit                      failover_limit
  current                    1.2
  needed                     1.506
  smallest fix               --failover-limit 1.505737
  rules                      copy-not-with-primary, copies-on-distinct-nodes, balance, memory, failover
  failover limit             1.2
  No plan keeps all rules: after the loss of node:n1, n6 carries 1.505736 times its fair share by its own primaries alone, above the failover limit 1.2.
  2> ftplan: algorithm: auto (the default; exact proves the optimum)
  2> ftplan: warning: after the loss of zone:a, n6 carries 1.204589 times its fair share by its own primaries alone, above the failover limit 1.2: copies lie on other nodes, if need be in the zone of their primary [ZONES_NOT_APART]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: no plan: after the loss of node:n1, n6 carries 1.505736 times its fair share by its own primaries alone, above the failover limit 1.2
  2> ftplan: smallest fix: --failover-limit 1.505737
  [1]
