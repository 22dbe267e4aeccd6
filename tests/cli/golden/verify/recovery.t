A schedule as it was made.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --fail node:n3 --capacity 2 --bandwidth 0.02MiB/s --algorithm best-density --objective priority -o plan.json -q
  $ ftplan verify plan.json --format table
  valid; held to: capacity, arrivals, whole-queries
  not recomputed: bound, plan.steps.objective.bound, summary.before, summary.most_back, summary.random, summary.sampled, summary.step_by_step, plan.steps.recover.prefetch, assumptions[0]
  taken as stated: algorithm, options, tool_version, warnings, plan.queries.reason

A task on a node that has failed, and a query too many.

  $ python3 -c "import json; p = json.load(open('plan.json')); p['plan']['steps'][0]['recover'][0]['node'] = 'n1'; p['plan']['timeline'][0]['queries'] += 1; json.dump(p, open('plan.json', 'w'))"
  $ ftplan verify plan.json --format table
  code            where          what
  NODE_NOT_THERE  task:clicks/0  step 0 recovers clicks/0 on n1, which has failed or not arrived yet
  WRONG_CAPACITY  steps[1]       step 1 states capacity 3.2, it is 4.2 cores
  WRONG_CAPACITY  steps[2]       step 2 states capacity 3.4, it is 4.4 cores
  WRONG_CAPACITY  steps[3]       step 3 states capacity 6.6, it is 7.6 cores
  WRONG_TIMELINE  timeline[0]    timeline[0] states 2 queries of priority 1 at 255 s, it is 1 queries of priority 1 at 255 s
  5 violation(s); held to: capacity, arrivals, whole-queries
  not recomputed: bound, plan.steps.objective.bound, plan.steps.recover.prefetch, assumptions[0]
  taken as stated: algorithm, options, tool_version, warnings, plan.queries.reason
  2> ftplan: plan.json: NODE_NOT_THERE: step 0 recovers clicks/0 on n1, which has failed or not arrived yet (and 4 more)
  [1]
