Nodes that are full.

  $ sed "s/cpu: [0-9.]*/cpu: 0.1/" cluster.yaml > tight.yaml
  $ ftplan replicate-tasks -t topology.yaml -c tight.yaml --budget 4 --algorithm exact --format table
  task replication
  algorithm            exact
  status               infeasible; 1 assumption
  assumed              each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
  reason               the budget holds 4 replicas, such as that of task:alerts/0 that find no node with room outside their primary's zone: they need 4 cores of the 0 that are free (memory: 1 of 2^20 bytes without a node)
  limit                room on a node
  current              0
  needed               4
  smallest fix         add to the nodes of the cluster file: {id: extra-1, cpu: 5, memory_mb: 1}
  budget               4 replicas
  tasks that may fail  8 of 8
  failures             worst-case
  outputs weigh by     rate
  rules                budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
  2> ftplan: assumed: each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
  2> ftplan: no plan: the budget holds 4 replicas, such as that of task:alerts/0 that find no node with room outside their primary's zone: they need 4 cores of the 0 that are free (memory: 1 of 2^20 bytes without a node)
  2> ftplan: smallest fix: add to the nodes of the cluster file: {id: extra-1, cpu: 5, memory_mb: 1}
  [1]
