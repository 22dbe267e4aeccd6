Half of the tasks, as a table.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 50% --format table
  task replication
  algorithm              auto
  status                 optimal for these inputs; 1 assumption
  output-fidelity (max)  0.125
  proven bound           0.125
  gap                    0.0000%
  assumed                each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
  budget                 4 replicas
  tasks that may fail    8 of 8
  failures               worst-case
  outputs weigh by       rate
  rules                  budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
                          before  this plan  random choice (mean of 20)
  output fidelity              0      0.125                      0.0875
  internal completeness        0       0.25                      0.3229
  replicas                     0          4                           –
  cores of replicas            0          4                           –
  state of replicas, MiB       0          2                           –
  replica of  node
  alerts/0    n3
  alerts/1    n4
  clicks/0    n6
  sessions/0  n5
  2> ftplan: algorithm: auto (the default)
  2> ftplan: assumed: each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]

An optimum, as JSON.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 4 --algorithm exact --format json
  {
    "algorithm": "exact",
    "assumptions": [
      {
        "code": "RATES_ASSUMED",
        "text": "each task of a source sends 1 record/s; rate_out in the topology, or statistics, say",
        "value": 1.0
      }
    ],
    "format": "ftplan/plan",
    "format_version": "1.0",
    "infeasible": null,
    "inputs": [
      {
        "path": "topology.yaml",
        "role": "topology",
        "sha256": "e3130fb7c52fc440fc4c0208437265e63ec6f8a19d5bbdf3a7e4b5e2c354cf5b"
      },
      {
        "path": "cluster.yaml",
        "role": "cluster",
        "sha256": "d1d3171a896d69edf920e7529201fea9e26f00c6686782d63215e0b9fa59754a"
      }
    ],
    "kind": "replicate-tasks",
    "objective": {
      "bound": 0.125,
      "gap": 0.0,
      "name": "output-fidelity",
      "scale": 0.125,
      "sense": "max",
      "value": 0.125
    },
    "options": {
      "budget": "4",
      "budget_cpu": null,
      "budget_limit": 4.0,
      "budget_mb": null,
      "budget_unit": "tasks",
      "by_probability": false,
      "cases": [
        "worst-case"
      ],
      "costs": null,
      "current": null,
      "curve": false,
      "fail": [],
      "gap": 0.001,
      "iterations": null,
      "least": "replicas",
      "max_changes": null,
      "max_cpu": 0.8,
      "metric": "output-fidelity",
      "same_zone": "never",
      "spread": false,
      "target": null,
      "then_recover": false,
      "threshold": null,
      "time_limit_s": 10.0,
      "weight": "rate",
      "worst_case": false
    },
    "plan": {
      "activate": null,
      "curve": null,
      "deactivate": null,
      "replicas": [
        {
          "index": 0,
          "node": "n3",
          "operator": "alerts"
        },
        {
          "index": 1,
          "node": "n4",
          "operator": "alerts"
        },
        {
          "index": 0,
          "node": "n6",
          "operator": "clicks"
        },
        {
          "index": 0,
          "node": "n5",
          "operator": "sessions"
        }
      ]
    },
    "reason": null,
    "rules": [
      "budget",
      "replica-not-with-primary",
      "replica-not-in-primary-zone",
      "capacity",
      "memory"
    ],
    "seed": 0,
    "status": "optimal",
    "summary": {
      "after": {
        "by_case": null,
        "cpu": 4.0,
        "internal_completeness": 0.25,
        "memory_mb": 2.0,
        "output_fidelity": 0.125,
        "replicas": 4
      },
      "before": {
        "cpu": 0.0,
        "internal_completeness": 0.0,
        "memory_mb": 0.0,
        "output_fidelity": 0.0,
        "replicas": 0
      },
      "cases": 1,
      "failing_tasks": 8,
      "random": {
        "choices": 20,
        "internal_completeness": 0.322916666667,
        "output_fidelity": 0.0875
      },
      "tasks": 8
    },
    "tool_version": "0.1.0",
    "warnings": []
  }
  2> ftplan: assumed: each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]

For the failure of a zone.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 2 --fail zone:a --format table
  task replication
  algorithm              auto
  status                 optimal for these inputs; 1 assumption
  output-fidelity (max)  0.25
  proven bound           0.25
  gap                    0.0000%
  assumed                each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
  budget                 2 replicas
  tasks that may fail    4 of 8
  failures               failure
  outputs weigh by       rate
  rules                  budget, replica-not-with-primary, replica-not-in-primary-zone, capacity, memory
                          before  this plan  random choice (mean of 20)
  output fidelity              0       0.25                       0.175
  internal completeness        0     0.4167                       0.425
  replicas                     0          2                           –
  cores of replicas            0          2                           –
  state of replicas, MiB       0        0.5                           –
  replica of  node
  alerts/0    n3
  clicks/0    n4
  2> ftplan: algorithm: auto (the default)
  2> ftplan: assumed: each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]

The fewest replicas for a fidelity, in a job without a cluster.

  $ ftplan replicate-tasks -t topology.yaml --target 0.5 --algorithm exact --format table
  task replication
  algorithm            exact
  status               optimal
  replicas (min)       6
  proven bound         6
  gap                  0.0000%
  target               0.5
  tasks that may fail  8 of 8
  failures             worst-case
  outputs weigh by     rate
  rules                target
                          before  this plan  random choice (mean of 20)
  output fidelity              0        0.5                      0.3438
  internal completeness        0     0.6667                      0.5604
  replicas                     0          6                           –
  cores of replicas            0          6                           –
  state of replicas, MiB       0          3                           –
  operator  replicas  tasks
  alerts           2  0-1
  clicks           2  0-1
  sessions         2  0-1

Every budget up to four, as Markdown.

  $ ftplan replicate-tasks -t topology.yaml --budget 4 --algorithm exact --curve --format markdown
  | task replication |  |
  |---|---|
  | algorithm | exact |
  | status | optimal for these inputs; 1 assumption |
  | output-fidelity (max) | 0.125 |
  | proven bound | 0.125 |
  | gap | 0.0000% |
  | assumed | each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED] |
  | budget | 4 replicas |
  | tasks that may fail | 8 of 8 |
  | failures | worst-case |
  | outputs weigh by | rate |
  | rules | budget |
  |  | before | this plan | random choice (mean of 20) |
  |---|---:|---:|---:|
  | output fidelity | 0 | 0.125 | 0.0875 |
  | internal completeness | 0 | 0.25 | 0.3229 |
  | replicas | 0 | 4 | – |
  | cores of replicas | 0 | 4 | – |
  | state of replicas, MiB | 0 | 2 | – |
  | operator | replicas | tasks |
  |---|---:|---|
  | alerts | 2 | 0-1 |
  | clicks | 1 | 0 |
  | sessions | 1 | 0 |
  | budget, replicas | value | bound |
  |---:|---:|---:|
  | 1 | 0 | 0 |
  | 2 | 0 | 0 |
  | 3 | 0.0625 | 0.0625 |
  | 4 | 0.125 | 0.125 |
  | 5 | 0.25 | 0.25 |
  | 6 | 0.5 | 0.5 |
  | 7 | 0.75 | 0.75 |
  | 8 | 1 | 1 |
  2> ftplan: assumed: each task of a source sends 1 record/s; rate_out in the topology, or statistics, say [RATES_ASSUMED]
