A plan as it was made; then one with a move to another node, and with rules that it does not keep.

  $ sed -i "s/state_bytes: 1048576}/state_bytes: 1048576, record_time_s: 0.5, checkpoint: {interval_s: 60}}/; s/state_bytes: 524288}/state_bytes: 524288, record_time_s: 0.5, checkpoint: {interval_s: 60, kind: full}}/" topology.yaml
  $ sed -i "s/^placement:/network: {bandwidth_mb_s: 1, delay_s: 0.01}\nplacement:/" cluster.yaml
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation -o copies.json -q
  $ ftplan rebalance -t topology.yaml -c cluster.yaml -s stats --checkpoints copies.json --record-bytes 100 --iterations 20 -o plan.json -q
  $ ftplan verify plan.json --format table
  valid; held to: capacity, phase-capacity, copies-apart, memory, protocol
  not recomputed: bound, summary.assisted, summary.front
  taken as stated: algorithm, options, tool_version, warnings, plan.moves.reason
  $ ftplan verify plan.json --format table --strict
  valid; held to: capacity, phase-capacity, copies-apart, memory, protocol
  not recomputed: bound, summary.assisted, summary.front
  taken as stated: algorithm, options, tool_version, warnings, plan.moves.reason
  $ python3 -c "import json; p = json.load(open('plan.json')); p['plan']['moves'][0]['to'] = 'n5'; json.dump(p, open('wrong.json', 'w'))"
  $ ftplan verify wrong.json --format table
  code                 where                              what
  WRONG_MOVE           key-group:sessions/4               moves key-group:sessions/4 to n5, where it is
  OVER_CAPACITY        node:n5                            n5 has a load of 510 afterwards, at most 423.381 is no overload
  OVER_PHASE_CAPACITY  node:n5                            phase 0: n5 has a load of 750, at most 510 may be
  WRONG_PROTOCOL       key-group:sessions/4               key-group:sessions/4 to n5 by cpal: direct can be
  WRONG_PHASE          phases[0].highest_utilisation      phases[0].highest_utilisation states 1.26481835564, it is 1.50573613767
  WRONG_ROLLBACK       rollback[1].bytes                  rollback[1].bytes states 400, it is 524288
  WRONG_ROLLBACK       rollback[1].completion_s           rollback[1].completion_s states 2.1193601411, it is 0.52724137931
  WRONG_ROLLBACK       rollback[1].from                   rollback[1].from states n1, it is n5
  WRONG_ROLLBACK       rollback[1].latency_s              rollback[1].latency_s states 0.0103448275862, it is 0.52724137931
  WRONG_ROLLBACK       rollback[1].protocol               rollback[1].protocol states cpal, it is direct
  WRONG_CHECKPOINTS    key-group:sessions/4               checkpoints of key-group:sessions/4 state n5, it is n1
  SUMMARY_DIFFERS      summary.after.busiest_node         summary.after.busiest_node states n1, it is n5
  SUMMARY_DIFFERS      summary.after.excess               summary.after.excess states 0.0423682760144, it is 0.0513117283954
  SUMMARY_DIFFERS      summary.after.highest_utilisation  summary.after.highest_utilisation states 0.795028680689, it is 1.02390057362
  SUMMARY_DIFFERS      summary.after.imbalance            summary.after.imbalance states 0.225621414914, it is 0.55258126195
  SUMMARY_DIFFERS      summary.after.lowest_utilisation   summary.after.lowest_utilisation states 0.542065009561, it is 0.313193116635
  SUMMARY_DIFFERS      summary.after.overload_share       summary.after.overload_share states 0.875, it is 1
  SUMMARY_DIFFERS      summary.after.overloaded_nodes     summary.after.overloaded_nodes states 0, it is 1
  SUMMARY_DIFFERS      summary.nodes[0].after             summary.nodes[0].after states 0.795028680689, it is 0.313193116635
  SUMMARY_DIFFERS      summary.nodes[4].after             summary.nodes[4].after states 0.542065009561, it is 1.02390057362
  SUMMARY_DIFFERS      summary.payback.payback_s          summary.payback.payback_s states 0.0464767525074, it is 0.0593133923315
  SUMMARY_DIFFERS      summary.payback.saved_per_s        summary.payback.saved_per_s states 0.041324404762, it is 0.032380952381
  22 violation(s); held to: capacity, phase-capacity, copies-apart, memory, protocol
  not recomputed: bound, summary.assisted, summary.front
  taken as stated: algorithm, options, tool_version, warnings, plan.moves.reason
  2> ftplan: wrong.json: WRONG_MOVE: moves key-group:sessions/4 to n5, where it is (and 21 more)
  [1]

By hand: only the moves.

  $ printf '{"format": "ftplan/plan", "format_version": "1.0", "kind": "rebalance", "plan": {"moves": [{"operator": "sessions", "key_group": 6, "from": "n6", "to": "n2"}]}}' > hand.json
  $ ftplan verify hand.json -t topology.yaml -c cluster.yaml -s stats --format table
  code                 where    what
  OVER_CAPACITY        node:n2  n2 has a load of 436 afterwards, at most 423.381 is no overload
  OVER_CAPACITY        node:n5  n5 has a load of 510 afterwards, at most 423.381 is no overload
  OVER_PHASE_CAPACITY  node:n2  phase 0: n2 has a load of 436, at most 423.381 may be
  3 violation(s); held to: capacity, phase-capacity, copies-apart, memory, protocol
  not stated: algorithm, inputs, objective, options, rules, status, summary
  2> ftplan: hand.json: OVER_CAPACITY: n2 has a load of 436 afterwards, at most 423.381 is no overload (and 2 more)
  [1]
