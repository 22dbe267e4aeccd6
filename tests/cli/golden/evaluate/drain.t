What a schedule does to the job, and what if a node fails meanwhile.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 2 --no-limits --algorithm greedy -o plan.json -q
  $ ftplan evaluate plan.json --format table --fail-under lowest-fidelity=0.2
  metric            value  better  unit
  rounds                3  low     rounds
  duration-s          360  low     s
  lowest-fidelity  0.1875  high    share
  lost-output-s       255  low     s
  queries-down          2  low     queries
  priority-down         2  low     priority
  nodes-at-once         2  low     nodes
  moved-tasks           0  low     moves
  unplaced-nodes        0  low     nodes
  2> ftplan: lowest-fidelity is 0.1875, below the limit 0.2
  [1]
  $ ftplan evaluate plan.json --format table --fail node:n5
  failed: node:n5
  metric           value  better  unit
  rounds               3  low     rounds
  duration-s         360  low     s
  lowest-fidelity  0.125  high    share
  lost-output-s      270  low     s
  queries-down         2  low     queries
  priority-down        2  low     priority
  nodes-at-once        2  low     nodes
  moved-tasks          0  low     moves
  unplaced-nodes       0  low     nodes
