A zone and a node fail, as a table.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --fail node:n3 --capacity 2 --bandwidth 0.02MiB/s --algorithm best-density --objective priority --format table
  recovery schedule
  algorithm                  best-density
  status                     optimal for these inputs; 1 assumption
  priority (max)             2
  proven bound               2
  gap                        0.0000%
  assumed                    no arrivals are given: 3 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  failed tasks               5 (5 cores)
  failed queries             2 (priority 2)
  failed cost shared by all  60.0%
  cost from                  topology
  rules                      capacity, arrivals, whole-queries
                                  blocking  step by step  this plan  random order (mean of 20)
  priority restored by all steps         2             2          2                          2
  priority restored by step 0            0             0          0                          0
  priority x seconds down              485           535        535                        535
  queries back                           2             2          2                          2
  priority back                          2             2          2                          2
  first query back, s                  230           255        255                        255
  last query back, s                   255           280        280                        280
  on 100 sampled arrivals   mean  worse in 5 %
  priority x seconds down  555.2         783.6
  last query back, s       290.1         404.3
  queries back                 2             2
  priority back, to 2      from 0 s to 294 s
  this plan, step by step  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▅▅▅▅▅▅▅▅▇████
  blocking                 ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▄▅▅▅▅▅▅▅▅█████████████
  fails x, arrives +                                                                    +                   +
  step  at, s  trigger        cores free  used  tasks  prefetched  queries  priority  bound
     0      0  failure                 2     2      0           2        0         0      0
     1    180  arrival:new-1         3.2     3      3           0        2         2      2
     2    240  arrival:new-2         3.4     0      0           0        0         0      0
     3    300  arrival:new-3         6.6     0      0           0        0         0      0
  step  task        node   cores  ready, s
     0  clicks/0    n4         1         0  prefetch
     0  clicks/1    n5         1         0  prefetch
     1  sessions/0  new-1      1       230
     1  alerts/0    new-1      1       255
     1  alerts/1    new-1      1       280
  query     priority  back, s  reason
  alerts/0         1      255  whole by step 1
  alerts/1         1      280  whole by step 1
  seconds since the failure (█ restore, ▒ prefetch)
  node   0                   60                  120                180                 240               300
  n4     ▒···································································································
  n5     ▒···································································································
  new-1  ····························································█████████████████████████████████·······
  2> ftplan: warning: no arrivals are given: 3 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  2> ftplan: warning: blocking recovery would lose less, priority x time 485 against 535: what comes back early here queues on few nodes or crowds out better queries [BLOCKING_LOSES_LESS]

Without new nodes, as JSON.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --algorithm operator-centric --objective priority --no-arrivals --format json
  {
    "algorithm": "operator-centric",
    "assumptions": [],
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
    "kind": "recovery-schedule",
    "objective": {
      "bound": 2.0,
      "gap": 0.0,
      "name": "priority",
      "scale": 2.0,
      "sense": "max",
      "value": 2.0
    },
    "options": {
      "arrivals": false,
      "bandwidth": null,
      "bandwidth_mb_s": null,
      "capacity": null,
      "checkpoint_age": null,
      "checkpoints": null,
      "complete_failure": false,
      "coordinator_cpu": 0.5,
      "cost": "topology",
      "costs": null,
      "fail": [
        "zone:a"
      ],
      "gap": 0.001,
      "horizon": null,
      "horizon_s": 600.0,
      "iterations": null,
      "max_cpu": 0.8,
      "objective": "priority",
      "parallel_recovery": false,
      "pause_lower_priority": false,
      "prefetch": true,
      "replay": true,
      "replicas": null,
      "samples": 100,
      "spread": false,
      "time_limit_s": 10.0
    },
    "plan": {
      "queries": [
        {
          "back_s": 0.0,
          "index": 0,
          "operator": "alerts",
          "priority": 1.0,
          "reason": "whole by step 0"
        },
        {
          "back_s": 0.0,
          "index": 1,
          "operator": "alerts",
          "priority": 1.0,
          "reason": "whole by step 0"
        }
      ],
      "steps": [
        {
          "at_s": 0.0,
          "capacity": 8.8,
          "global_rollback": true,
          "objective": {
            "bound": 2.0,
            "gap": 0.0,
            "name": "priority",
            "scale": 2.0,
            "sense": "max",
            "value": 2.0
          },
          "recover": [
            {
              "caught_up_s": 0.0,
              "cpu": 1.0,
              "index": 0,
              "node": "n3",
              "operator": "clicks",
              "prefetch": false,
              "ready_s": 0.0
            },
            {
              "caught_up_s": 0.0,
              "cpu": 1.0,
              "index": 1,
              "node": "n4",
              "operator": "clicks",
              "prefetch": false,
              "ready_s": 0.0
            },
            {
              "caught_up_s": 0.0,
              "cpu": 1.0,
              "index": 0,
              "node": "n5",
              "operator": "alerts",
              "prefetch": false,
              "ready_s": 0.0
            },
            {
              "caught_up_s": 0.0,
              "cpu": 1.0,
              "index": 1,
              "node": "n6",
              "operator": "alerts",
              "prefetch": false,
              "ready_s": 0.0
            }
          ],
          "restored": [
            {
              "at_s": 0.0,
              "index": 0,
              "operator": "alerts",
              "priority": 1.0
            },
            {
              "at_s": 0.0,
              "index": 1,
              "operator": "alerts",
              "priority": 1.0
            }
          ],
          "step": 0,
          "trigger": "failure",
          "used": 4.0
        }
      ],
      "timeline": [
        {
          "at_s": 0.0,
          "priority": 2.0,
          "queries": 2
        }
      ],
      "unrecovered": []
    },
    "reason": null,
    "rules": [
      "capacity",
      "arrivals",
      "whole-queries"
    ],
    "seed": 0,
    "status": "optimal",
    "summary": {
      "after": {
        "first_back_s": 0.0,
        "last_back_s": 0.0,
        "priority": 2.0,
        "priority_back": 2.0,
        "priority_step_0": 2.0,
        "priority_time": 0.0,
        "queries_back": 2
      },
      "before": {
        "first_back_s": 0.0,
        "last_back_s": 0.0,
        "priority": 2.0,
        "priority_back": 2.0,
        "priority_step_0": 2.0,
        "priority_time": 0.0,
        "queries_back": 2,
        "timeline": [
          [
            0.0,
            2.0
          ]
        ]
      },
      "failed_cpu": 4.0,
      "failed_nodes": 2,
      "failed_priority": 2.0,
      "failed_queries": 2,
      "failed_tasks": 4,
      "most_back": null,
      "random": {
        "first_back_s": 0.0,
        "last_back_s": 0.0,
        "orders": 20,
        "priority": 2.0,
        "priority_back": 2.0,
        "priority_step_0": 2.0,
        "priority_time": 0.0,
        "queries_back": 2.0
      },
      "sampled": null,
      "shared_fraction": 0.5,
      "step_by_step": {
        "first_back_s": 0.0,
        "last_back_s": 0.0,
        "priority": 2.0,
        "priority_back": 2.0,
        "priority_step_0": 2.0,
        "priority_time": 0.0,
        "queries_back": 2,
        "timeline": [
          [
            0.0,
            2.0
          ]
        ]
      }
    },
    "tool_version": "0.1.0",
    "warnings": [
      {
        "code": "RESTORE_TIME_UNKNOWN",
        "message": "the failed tasks hold 1 MiB of state, but no bandwidth is known: restores count as taking no time; give --bandwidth, or network.bandwidth_mb_s in the cluster file"
      },
      {
        "code": "ORDER_GAINS_NOTHING",
        "message": "there is room for everything at once and restores take no time: no order gains anything"
      }
    ]
  }
  2> ftplan: warning: the failed tasks hold 1 MiB of state, but no bandwidth is known: restores count as taking no time; give --bandwidth, or network.bandwidth_mb_s in the cluster file [RESTORE_TIME_UNKNOWN]
  2> ftplan: warning: there is room for everything at once and restores take no time: no order gains anything [ORDER_GAINS_NOTHING]

An operator fails in a job without a cluster, as Markdown.

  $ ftplan recovery-schedule -t topology.yaml --fail operator:alerts --capacity 1 --algorithm best-density --objective priority --format markdown
  | recovery schedule |  |
  |---|---|
  | algorithm | best-density |
  | status | optimal |
  | priority (max) | 1 |
  | proven bound | 1 |
  | gap | 0.0000% |
  | failed tasks | 2 (2 cores) |
  | failed queries | 2 (priority 2) |
  | failed cost shared by all | 0.0% |
  | cost from | topology |
  | rules | capacity, arrivals, whole-queries |
  |  | blocking | step by step | this plan | random order (mean of 20) |
  |---|---:|---:|---:|---:|
  | priority restored by all steps | 0 | 1 | 1 | 1 |
  | priority restored by step 0 | 0 | 1 | 1 | 1 |
  | priority x seconds down | 1,200 | 600 | 600 | 600 |
  | queries back | 0 | 1 | 1 | 1 |
  | priority back | 0 | 1 | 1 | 1 |
  | first query back, s | – | 0 | 0 | 0 |
  | last query back, s | – | – | – | – |
  | step | at, s | trigger | cores free | used | tasks | prefetched | queries | priority | bound |
  |---:|---:|---|---:|---:|---:|---:|---:|---:|---:|
  | 0 | 0 | failure | 1 | 1 | 1 | 0 | 1 | 1 | 1 |
  | step | task | node | cores | ready, s |  |
  |---:|---|---:|---:|---:|---|
  | 0 | alerts/0 | – | 1 | 0 |  |
  | query | priority | back, s | reason |
  |---|---:|---:|---|
  | alerts/0 | 1 | 0 | whole by step 0 |
  | alerts/1 | 1 | – | needs 1 more cores, 0 are free after the last step at 0 s |
  **seconds since the failure (░ down, ─ back)**
  | query | 0                   0.2                 0.4                0.6                 0.8                 1 |
  |---|---|
  | alerts/0 | ──────────────────────────────────────────────────────────────────────────────────────────────────── |
  | alerts/1 | ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ |
  | not recovered | reason |
  |---|---|
  | alerts/1 | needs 1 cores, the node with most room has 0 left |
  2> ftplan: warning: the failed tasks hold 1 MiB of state, but no bandwidth is known: restores count as taking no time; give --bandwidth, or network.bandwidth_mb_s in the cluster file [RESTORE_TIME_UNKNOWN]

All nodes fail.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --complete-failure --algorithm best-density --objective priority --format table
  recovery schedule
  algorithm                  best-density
  status                     optimal for these inputs; 1 assumption
  priority (max)             2
  proven bound               2
  gap                        0.0000%
  assumed                    no arrivals are given: 6 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  failed tasks               8 (8 cores)
  failed queries             2 (priority 2)
  failed cost shared by all  75.0%
  cost from                  topology
  rules                      capacity, arrivals, whole-queries
                                  blocking  step by step  this plan  random order (mean of 20)
  priority restored by all steps         2             2          2                          2
  priority restored by step 0            0             0          0                          0
  priority x seconds down            445.7         445.7      445.7                      445.7
  queries back                           2             2          2                          2
  priority back                          2             2          2                          2
  first query back, s                222.9         222.9      222.9                      222.9
  last query back, s                 222.9         222.9      222.9                      222.9
  on 100 sampled arrivals   mean  worse in 5 %
  priority x seconds down  460.1         602.9
  last query back, s         230         301.4
  queries back                 2             2
  priority back, to 2                from 0 s to 234 s
  this plan, step by step, blocking  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▆████
  fails x, arrives +                                                                                  +              +              +
  step  at, s  trigger        cores free  used  tasks  prefetched  queries  priority  bound
     0      0  failure                 0     0      0           0        0         0      0
     1  154.3  arrival:new-1         2.7     2      0           2        0         0      0
     2  188.6  arrival:new-2         3.9     3      0           3        0         0      0
     3  222.9  arrival:new-3         4.1     3      3           0        2         2      2
     4  257.1  arrival:new-4         4.3     0      0           0        0         0      0
     5  291.4  arrival:new-5         7.5     0      0           0        0         0      0
     6  325.7  arrival:new-6        10.7     0      0           0        0         0      0
  step  task        node   cores  ready, s
     1  clicks/0    new-1      1     154.3  prefetch
     1  clicks/1    new-1      1     154.3  prefetch
     2  sessions/0  new-2      1     188.6  prefetch
     2  sessions/1  new-2      1     188.6  prefetch
     2  sessions/2  new-2      1     188.6  prefetch
     3  sessions/3  new-3      1     222.9
     3  alerts/0    new-3      1     222.9
     3  alerts/1    new-3      1     222.9
  query     priority  back, s  reason
  alerts/0         1    222.9  whole by step 3
  alerts/1         1    222.9  whole by step 3
  seconds since the failure (█ restore, ▒ prefetch)
  node   0                   65.14               130.3              195.4               260.6           325.7
  new-1  ···············································▒····················································
  new-2  ·························································▒··········································
  new-3  ····································································█·······························
  2> ftplan: warning: no arrivals are given: 6 new nodes with the cores of those that failed, new-1 and so on, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  2> ftplan: warning: the failed tasks hold 5 MiB of state, but no bandwidth is known: restores count as taking no time; give --bandwidth, or network.bandwidth_mb_s in the cluster file [RESTORE_TIME_UNKNOWN]

One node fails, which all queries need: no order gains anything.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail node:n5 --algorithm best-density --objective priority --format table
  recovery schedule
  algorithm                  best-density
  status                     optimal for these inputs; 1 assumption
  priority (max)             2
  proven bound               2
  gap                        0.0000%
  assumed                    no arrivals are given: 1 new node with the cores of those that failed, new-1, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  failed tasks               1 (1 cores)
  failed queries             2 (priority 2)
  failed cost shared by all  100.0%
  cost from                  topology
  rules                      capacity, arrivals, whole-queries
                                  blocking  step by step  this plan  random order (mean of 20)
  priority restored by all steps         2             2          2                          2
  priority restored by step 0            2             2          2                          2
  priority x seconds down                0             0          0                          0
  queries back                           2             2          2                          2
  priority back                          2             2          2                          2
  first query back, s                    0             0          0                          0
  last query back, s                     0             0          0                          0
  on 100 sampled arrivals  mean  worse in 5 %
  priority x seconds down     0             0
  last query back, s          0             0
  queries back                2             2
  step  at, s  trigger        cores free  used  tasks  prefetched  queries  priority  bound
     0      0  failure                 9     1      1           0        2         2      2
     1    240  arrival:new-1        11.2     0      0           0        0         0      0
  step  task        node  cores  ready, s
     0  sessions/2  n3        1         0
  query     priority  back, s  reason
  alerts/0         1        0  whole by step 0
  alerts/1         1        0  whole by step 0
  seconds since the failure (█ restore, ▒ prefetch)
  node  0                   48                  96                 144                 192               240
  n3    █···································································································
  2> ftplan: warning: no arrivals are given: 1 new node with the cores of those that failed, new-1, can host tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without) [DEFAULT_ARRIVALS]
  2> ftplan: warning: the failed tasks hold 1 MiB of state, but no bandwidth is known: restores count as taking no time; give --bandwidth, or network.bandwidth_mb_s in the cluster file [RESTORE_TIME_UNKNOWN]
  2> ftplan: warning: 1 node failed, fewer than 2: Su & Zhou then block until there is room for all that failed, 1 cores in sum, which is there at once; this plan recovers step by step all the same [BLOCKING_RECOVERY]
  2> ftplan: warning: there is room for everything at once and restores take no time: no order gains anything [ORDER_GAINS_NOTHING]
