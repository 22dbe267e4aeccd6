Another failure than the plan was made for.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 4 --algorithm exact -o plan.json -q
  $ ftplan evaluate plan.json --fail operator:clicks --fail-under output-fidelity=0.99 --format table
  failed: operator:clicks
  metric                 value  better  unit
  output-fidelity          0.5  high    share
  key-aligned-fidelity     0.5  high    share
  internal-completeness    0.5  high    share
  replicas                   4  low     replicas
  priority-time              –  low     s
  2> ftplan: output-fidelity is 0.5, below the limit 0.99
  [1]
