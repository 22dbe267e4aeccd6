By what replicas save in the recovery afterwards; the schedules that follow are held to their rules.

  $ printf 'network: {bandwidth_mb_s: 0.5}\n' >> cluster.yaml
  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --fail node:n1 --fail node:n3 --budget 2 --then-recover --iterations 5 --format table
  task replication
  algorithm            auto
  status               optimal for these inputs; 2 assumptions
  priority-time (min)  0
  proven bound         0
  gap                  0.0000%
  assumed              no arrivals are given: 2 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better) [DEFAULT_ARRIVALS]
  assumed              failures are noticed and tasks start again in no time; --costs says what both take [DETECTION_ASSUMED]
  budget               2 replicas
  tasks that may fail  3 of 8
  failures             failure
  outputs weigh by     rate
  rules                budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
                           before  this plan  most fidelity  random choice (mean of 20)
  output fidelity          0.1875       0.25           0.75                      0.4625
  internal completeness    0.3542     0.4167         0.8333                      0.5771
  priority x seconds down       4          0              4                           –
  replicas                      0          1              2                           –
  cores of replicas             0          1              2                           –
  state of replicas, MiB        0          1            0.5                           –
  replica of  node
  sessions/0  n5
  2> ftplan: algorithm: auto (the default)
  2> ftplan: warning: no arrivals are given: 2 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better) [DEFAULT_ARRIVALS]
  2> ftplan: assumed: failures are noticed and tasks start again in no time; --costs says what both take [DETECTION_ASSUMED]
  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --fail node:n1 --fail node:n3 --budget 2 --then-recover --iterations 5 -o plan.json --quiet
  $ ftplan verify plan.json --format table
  valid; held to: budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
  not recomputed: bound, summary.before.priority_time, summary.most_fidelity, summary.random, assumptions[0]
  taken as stated: algorithm, options, tool_version, warnings
  $ ftplan evaluate plan.json --format table
  failed: node:n1, node:n3
  metric                  value  better  unit
  output-fidelity          0.25  high    share
  key-aligned-fidelity     0.25  high    share
  internal-completeness  0.4167  high    share
  replicas                    1  low     replicas
  priority-time               0  low     s

What does not go with it.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --fail node:n1 --budget 2 --then-recover --algorithm exact
  2> ftplan: --then-recover: exact knows fidelity only: --algorithm auto, structure-aware or greedy
  [2]
  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --fail node:n1 --target 0.5 --then-recover
  2> ftplan: --then-recover: does not go with --target: its value is of fidelity: give a budget
  [2]
  $ ftplan replicate-tasks -t topology.yaml --budget 2 --then-recover
  2> ftplan: --then-recover: where is room for what comes back? give --cluster with placement.tasks
  [2]
  $ ftplan explain plan.json task:clicks/0
  {
    "candidates": [
      {
        "MiB free": 63.0,
        "chosen": false,
        "cores free": 2.2,
        "node": "n3",
        "ruled out by": null,
        "zone": "b"
      },
      {
        "MiB free": 63.0,
        "chosen": false,
        "cores free": 2.2,
        "node": "n4",
        "ruled out by": null,
        "zone": "b"
      },
      {
        "MiB free": 63.0,
        "chosen": false,
        "cores free": 2.2,
        "node": "n6",
        "ruled out by": null,
        "zone": "c"
      },
      {
        "MiB free": 62.0,
        "chosen": false,
        "cores free": 1.2,
        "node": "n5",
        "ruled out by": null,
        "zone": "c"
      },
      {
        "MiB free": 63.5,
        "chosen": false,
        "cores free": 1.2,
        "node": "n1",
        "ruled out by": "REPLICA_WITH_PRIMARY: the task itself runs there",
        "zone": "a"
      },
      {
        "MiB free": 63.5,
        "chosen": false,
        "cores free": 1.2,
        "node": "n2",
        "ruled out by": "REPLICA_IN_SAME_ZONE: a, like the task itself on n1",
        "zone": "a"
      }
    ],
    "notes": [
      "has no replica: with one priority-time would fall by 0, from 0, in the recoveries that follow",
      "it takes 1 of the budget and fits into the 1 that are left",
      "n3 and 3 more could take it",
      "it has none because alone it would gain nothing"
    ],
    "rows": [
      {
        "priority-time": 4.0,
        "ruled out by": "worth less",
        "saved": -4.0,
        "task": "sessions/0"
      }
    ],
    "selector": "task:clicks/0",
    "title": "task:clicks/0: what it could stand in place of"
  }
