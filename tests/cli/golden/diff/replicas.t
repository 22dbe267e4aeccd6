Two budgets.

  $ ftplan replicate-tasks -t topology.yaml --budget 4 --algorithm exact -o one.json -q
  $ ftplan replicate-tasks -t topology.yaml --budget 6 --algorithm exact -o two.json -q
  $ ftplan diff one.json two.json --format table
  replica of       what      from  to
  task:clicks/1    activate     –   –
  task:sessions/1  activate     –   –
  option        from  to
  budget        4     6
  budget_limit  4     6
  2 replicas start, 0 stop, 0 move; output-fidelity: 0.125 -> 0.5
