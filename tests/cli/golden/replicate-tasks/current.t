Replicas in place, of which two may change.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 3 --algorithm exact -o plan.json -q
  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 6 --algorithm exact --current plan.json --max-changes 2 --format table
  task replication
  algorithm              exact
  status                 optimal for these inputs; 1 assumption
  output-fidelity (max)  0.25
  proven bound           0.25
  gap                    0.0000%
  assumed                each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
  budget                 6 replicas
  tasks that may fail    8 of 8
  failures               worst-case
  outputs weigh by       rate
  rules                  budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
                          before  this plan  random choice (mean of 20)
  output fidelity         0.0625       0.25                      0.2375
  internal completeness   0.2292     0.3333                      0.4625
  replicas                     3          5                           –
  cores of replicas            3          5                           –
  state of replicas, MiB     1.5          3                           –
  replica of  node
  alerts/0    n3
  alerts/1    n4
  clicks/0    n4
  sessions/0  n5
  sessions/1  n6
  activate    node
  alerts/1    n4
  sessions/1  n6
  2> ftplan: warning: the budget holds a replica of task:clicks/1 that finds no node with room outside their primary's zone: it needs 1 cores of the 6.2 that are free; for all of these, add to the nodes of the cluster file: {id: extra-1, cpu: 1.25} [NO_ROOM]
  2> ftplan: assumed: each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
