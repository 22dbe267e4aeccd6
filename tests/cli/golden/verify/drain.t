A schedule as it was made, and held to every rule.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 2 --max-per-zone 1 --min-fidelity 0.1 --keep-copies none --algorithm greedy -o plan.json -q
  $ ftplan verify plan.json --format table
  valid; held to: max, max-per-zone, min-fidelity
  not recomputed: bound, summary.ok_to_stop.bound, summary.ok_to_stop.nodes, summary.random
  taken as stated: algorithm, options, tool_version, warnings
  $ ftplan verify plan.json --format table --strict
  valid; held to: copies-apart, max, max-per-zone, min-fidelity
  not recomputed: bound, summary.ok_to_stop.bound, summary.ok_to_stop.nodes, summary.random
  taken as stated: algorithm, options, tool_version, warnings

Nodes swapped between rounds, one left out, one that is not there.

  $ python3 -c "import json; p = json.load(open('plan.json')); r = p['plan']['rounds']; r[0]['nodes'][-1], r[1]['nodes'][-1] = r[1]['nodes'][-1], r[0]['nodes'][-1]; r[2]['nodes'].pop(); json.dump(p, open('plan.json', 'w'))"
  $ ftplan verify plan.json --format table
  code             where                        what
  MISSING_NODE     node:n6                      node:n6 is to restart and in no round
  WRONG_ZONES      rounds[0]                    round 0 states zones[1] c, it is b
  WRONG_ZONES      rounds[1]                    round 1 states zones[1] b, it is c
  WRONG_ZONES      rounds[2]                    round 2 states zones a list of 2, it is a list of 1
  WRONG_FIDELITY   rounds[2]                    round 2 states fidelity 0.5, it is 0.75
  SUMMARY_DIFFERS  summary.after.lost_output_s  summary.after.lost_output_s states 255, it is 225
  SUMMARY_DIFFERS  summary.after.nodes          summary.after.nodes states 6, it is 5
  7 violation(s); held to: max, max-per-zone, min-fidelity
  not recomputed: bound, summary.ok_to_stop.bound, summary.ok_to_stop.nodes, summary.random
  taken as stated: algorithm, options, tool_version, warnings
  2> ftplan: plan.json: MISSING_NODE: node:n6 is to restart and in no round (and 6 more)
  [1]
  $ sed -i 's/"n1"/"n7"/' plan.json
  $ ftplan verify plan.json --format table
  code          where    what
  UNKNOWN_NODE  node:n7  round 0: the cluster has no node 'n7'
  1 violation(s); held to: max, max-per-zone, min-fidelity
  not recomputed: bound
  taken as stated: algorithm, options, tool_version, warnings
  2> ftplan: plan.json: UNKNOWN_NODE: round 0: the cluster has no node 'n7'
  [1]

A schedule made by hand.

  $ echo '{"format": "ftplan/plan", "format_version": "1.0", "kind": "drain-schedule", "plan": {"rounds": [{"nodes": ["n1", "n2"]}, {"nodes": ["n3"]}]}}' > hand.json
  $ ftplan verify hand.json -t topology.yaml -c cluster.yaml --format table
  code             where               what
  COPIES_TOGETHER  key-group:alerts/0  round 0: n1 and n2 hold copies of key-group:alerts/0
  1 violation(s); held to: copies-apart
  not stated: algorithm, inputs, objective, options, rules, status, summary
  2> ftplan: hand.json: COPIES_TOGETHER: round 0: n1 and n2 hold copies of key-group:alerts/0
  [1]
