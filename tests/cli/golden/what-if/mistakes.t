All mistakes of a file are told at once, a line each.

  $ printf '%s\n' \
  >   'format: ftplan/what-if' 'format_version: "1.0"' \
  >   'inputs: {topology: topology.yaml, cluster: clusters.yaml}' \
  >   'run: {command: recovery-schedule, algorithm: best, options: {max-cpus: 0.8}}' \
  >   'measures: [last-back]' \
  >   'cases: [{id: spare, add: {node: {cpu: 4}}}, {id: other, algorithm: exakt}]' \
  >   'grid: [{fail: each zone}, {seed: [1, 1]}]' > what-if.yaml
  $ ftplan what-if what-if.yaml
  2> ftplan: clusters.yaml: no such file (did you mean 'cluster.yaml'?)
  2> ftplan: what-if.yaml: run.algorithm: unknown 'best' (did you mean 'best-density'?): one of operator-centric, best-density, dynamic-programming, local-search, exact, auto
  2> ftplan: what-if.yaml: run.options: recovery-schedule: unknown option 'max_cpus' (did you mean 'max_cpu'?): one of arrivals, bandwidth, capacity, checkpoint_age, checkpoints, complete_failure, coordinator_cpu, costs, gap, horizon, iterations, max_cpu, objective, parallel_recovery, pause_lower_priority, prefetch, replay, replicas, samples, seed, strict_inputs, time_limit_s
  2> ftplan: what-if.yaml: measures[0]: unknown measure 'last-back' (did you mean 'last-back-s'?): one of objective, bound, gap, queries-back-share, priority-back-share, first-back-s, last-back-s, mean-back-s, priority-time, fidelity-time, prefetched-share, restore-s, unrecovered-tasks, or a place in the plan such as summary.after.priority_time
  2> ftplan: what-if.yaml: cases[1]: algorithm: unknown 'exakt' (did you mean 'exact'?): one of operator-centric, best-density, dynamic-programming, local-search, exact, auto
  2> ftplan: what-if.yaml: grid[1]: lists seed=1 twice
  [2]
  $ sed -i 's/seed: \[1, 1\]/seed: one/; s/id: spare/name: spare/' what-if.yaml
  $ ftplan what-if what-if.yaml
  2> ftplan: what-if.yaml: cases[0].id: is missing
  2> ftplan: what-if.yaml: grid[1].seed: expected a list, got 'one'
  [2]
  $ ftplan check what-if.yaml --format table
  2> ftplan: what-if.yaml: cases[0].id: is missing
  2> ftplan: what-if.yaml: grid[1].seed: expected a list, got 'one'
  [2]
  $ ftplan recover --fail zone:a
  2> ftplan: unknown command 'recover' (did you mean 'recovery-schedule'?); see ftplan --help
  [2]
