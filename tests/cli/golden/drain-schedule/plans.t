Two nodes at a time, as a list to tick off.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 2 --no-limits --algorithm greedy --format table
  drain schedule
  algorithm         greedy
  status            optimal
  rounds (min)      3
  proven bound      3
  gap               0.0000%
  nodes to restart  6 with 8 tasks
  may stop now      n1, n3 (2 of up to 2; no set is larger)
  rules             copies-apart, max
                             this plan  one by one  zone by zone  random order (mean of 20)
  rounds                             3           6             3                        3.1
  all rounds, s                    360         720           360                        372
  most nodes at once                 2           1             2                          2
  lowest output fidelity        0.1875        0.25             0                     0.1938
  full output lost, s              255         300           240                      259.5
  most queries down at once          2           2             2                          2
  their priority                     2           2             2                          2
  done  round  nodes   zones  duration, s  fidelity  queries down  moves
  [ ]       0  n1, n3  a, b           120    0.1875             2      0
  [ ]       1  n2, n4  a, b           120    0.1875             2      0
  [ ]       2  n5, n6  c              120       0.5             2      0
  zone by zone breaks copies-apart

The same in Markdown.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 2 --no-limits --algorithm greedy --format markdown -q
  | drain schedule |  |
  |---|---|
  | algorithm | greedy |
  | status | optimal |
  | rounds (min) | 3 |
  | proven bound | 3 |
  | gap | 0.0000% |
  | nodes to restart | 6 with 8 tasks |
  | may stop now | n1, n3 (2 of up to 2; no set is larger) |
  | rules | copies-apart, max |
  |  | this plan | one by one | zone by zone | random order (mean of 20) |
  |---|---:|---:|---:|---:|
  | rounds | 3 | 6 | 3 | 3.1 |
  | all rounds, s | 360 | 720 | 360 | 372 |
  | most nodes at once | 2 | 1 | 2 | 2 |
  | lowest output fidelity | 0.1875 | 0.25 | 0 | 0.1938 |
  | full output lost, s | 255 | 300 | 240 | 259.5 |
  | most queries down at once | 2 | 2 | 2 | 2 |
  | their priority | 2 | 2 | 2 | 2 |
  - [ ] **round 0**: nodes: n1, n3; zones: a, b; duration, s: 120; fidelity: 0.1875; queries down: 2; moves: 0
  - [ ] **round 1**: nodes: n2, n4; zones: a, b; duration, s: 120; fidelity: 0.1875; queries down: 2; moves: 0
  - [ ] **round 2**: nodes: n5, n6; zones: c; duration, s: 120; fidelity: 0.5; queries down: 2; moves: 0
  zone by zone breaks copies-apart

One node of a zone at a time, a quarter of the output kept, as JSON.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max-per-zone 1 --min-fidelity 0.25 --algorithm greedy --format json
  {
    "algorithm": "greedy",
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
    "kind": "drain-schedule",
    "objective": {
      "bound": 3.0,
      "gap": 0.25,
      "name": "rounds",
      "scale": 4.0,
      "sense": "min",
      "value": 4.0
    },
    "options": {
      "checkpoints": null,
      "costs": null,
      "gap": 0.001,
      "iterations": null,
      "keep_copies": "all",
      "keep_priority": null,
      "label": [],
      "max": null,
      "max_cpu": 0.8,
      "max_per_zone": 1,
      "min_fidelity": 0.25,
      "move": false,
      "no_limits": false,
      "nodes": [],
      "partial": false,
      "replicas": null,
      "restart_s": 120.0,
      "spread": false,
      "time_limit_s": 10.0
    },
    "plan": {
      "rounds": [
        {
          "duration_s": 120.0,
          "fidelity": 0.25,
          "moves": [],
          "nodes": [
            "n1"
          ],
          "queries_down": [
            {
              "index": 0,
              "operator": "alerts"
            },
            {
              "index": 1,
              "operator": "alerts"
            }
          ],
          "round": 0,
          "zones": [
            "a"
          ]
        },
        {
          "duration_s": 120.0,
          "fidelity": 0.25,
          "moves": [],
          "nodes": [
            "n2"
          ],
          "queries_down": [
            {
              "index": 0,
              "operator": "alerts"
            },
            {
              "index": 1,
              "operator": "alerts"
            }
          ],
          "round": 1,
          "zones": [
            "a"
          ]
        },
        {
          "duration_s": 120.0,
          "fidelity": 0.5,
          "moves": [],
          "nodes": [
            "n3",
            "n5"
          ],
          "queries_down": [
            {
              "index": 0,
              "operator": "alerts"
            },
            {
              "index": 1,
              "operator": "alerts"
            }
          ],
          "round": 2,
          "zones": [
            "b",
            "c"
          ]
        },
        {
          "duration_s": 120.0,
          "fidelity": 0.5,
          "moves": [],
          "nodes": [
            "n4",
            "n6"
          ],
          "queries_down": [
            {
              "index": 0,
              "operator": "alerts"
            },
            {
              "index": 1,
              "operator": "alerts"
            }
          ],
          "round": 3,
          "zones": [
            "b",
            "c"
          ]
        }
      ],
      "unplaced": []
    },
    "reason": null,
    "rules": [
      "copies-apart",
      "max",
      "max-per-zone",
      "min-fidelity"
    ],
    "seed": 0,
    "status": "feasible",
    "summary": {
      "after": {
        "duration_s": 480.0,
        "lost_output_s": 300.0,
        "lowest_fidelity": 0.25,
        "moves": 0,
        "nodes": 6,
        "nodes_at_once": 2,
        "priority_down": 2.0,
        "queries_down": 2,
        "rounds": 4
      },
      "before": {
        "duration_s": 720.0,
        "lost_output_s": 300.0,
        "lowest_fidelity": 0.25,
        "nodes": 6,
        "nodes_at_once": 1,
        "priority_down": 2.0,
        "queries_down": 2,
        "rounds": 6
      },
      "nodes": 6,
      "peers": {
        "one_by_one": {
          "breaks": [],
          "duration_s": 720.0,
          "lost_output_s": 300.0,
          "lowest_fidelity": 0.25,
          "nodes": 6,
          "nodes_at_once": 1,
          "priority_down": 2.0,
          "queries_down": 2,
          "rounds": 6
        },
        "zone_by_zone": {
          "breaks": [
            "copies-apart",
            "max-per-zone",
            "min-fidelity"
          ],
          "duration_s": 360.0,
          "lost_output_s": 240.0,
          "lowest_fidelity": 0.0,
          "nodes": 6,
          "nodes_at_once": 2,
          "priority_down": 2.0,
          "queries_down": 2,
          "rounds": 3
        }
      },
      "random": {
        "duration_s": 480.0,
        "lost_output_s": 300.0,
        "lowest_fidelity": 0.25,
        "nodes": 6.0,
        "nodes_at_once": 2.0,
        "orders": 20,
        "priority_down": 2.0,
        "queries_down": 2.0,
        "rounds": 4.0
      },
      "tasks": 8
    },
    "tool_version": "0.1.0",
    "warnings": []
  }

By the default algorithm, tasks move out of the way of a zone's restart.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --nodes zone:a --move --restart 5m --format table
  drain schedule
  algorithm         exact
  status            optimal
  rounds (min)      2
  proven bound      2
  gap               0.0000%
  nodes to restart  2 with 4 tasks
  rules             copies-apart, one-zone, room
                             this plan  one by one  zone by zone  random order (mean of 20)
  rounds                             2           2             1                          2
  all rounds, s                    600         600           300                        600
  most nodes at once                 1           1             2                          1
  lowest output fidelity             1           1             1                          1
  full output lost, s                0           0             0                          0
  most queries down at once          0           0             0                          0
  their priority                     0           0             0                          0
  done  round  nodes  zones  duration, s  fidelity  queries down  moves
  [ ]       0  n1     a              300         1             0      2
  [ ]       1  n2     a              300         1             0      2
  round  task      moves from  to
      0  alerts/0  n1          n2
      0  clicks/0  n1          n3
      1  alerts/1  n2          n1
      1  clicks/1  n2          n3
  zone by zone breaks copies-apart
  2> ftplan: algorithm: exact (the default)

Nobody says what a round has to leave: a zone at a time, and some output.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --keep-copies none --format table
  drain schedule
  algorithm         exact
  status            optimal
  rounds (min)      4
  proven bound      4
  gap               0.0000%
  nodes to restart  6 with 8 tasks
  rules             one-zone, some-output
                             this plan  one by one  zone by zone  random order (mean of 20)
  rounds                             4           6             3                          4
  all rounds, s                    480         720           360                        480
  most nodes at once                 2           1             2                          2
  lowest output fidelity          0.25        0.25             0                       0.25
  full output lost, s              300         300           240                        300
  most queries down at once          2           2             2                          2
  their priority                     2           2             2                          2
  done  round  nodes   zones  duration, s  fidelity  queries down  moves
  [ ]       0  n1      a              120      0.25             2      0
  [ ]       1  n2      a              120      0.25             2      0
  [ ]       2  n3, n4  b              120       0.5             2      0
  [ ]       3  n5, n6  c              120       0.5             2      0
  zone by zone breaks some-output
  2> ftplan: algorithm: exact (the default)

All together, where that is meant.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --keep-copies none --no-limits --format table
  drain schedule
  algorithm         exact
  status            optimal
  rounds (min)      1
  proven bound      1
  gap               0.0000%
  nodes to restart  6 with 8 tasks
  rules             none
                             this plan  one by one  zone by zone  random order (mean of 20)
  rounds                             1           6             3                          1
  all rounds, s                    120         720           360                        120
  most nodes at once                 6           1             2                          6
  lowest output fidelity             0        0.25             0                          0
  full output lost, s              120         300           240                        120
  most queries down at once          2           2             2                          2
  their priority                     2           2             2                          2
  done  round  nodes                   zones    duration, s  fidelity  queries down  moves
  [ ]       0  n1, n2, n3, n4, n5, n6  a, b, c          120         0             2      0
  2> ftplan: algorithm: exact (the default)
  2> ftplan: warning: no rule limits a round: 6 nodes restart together, whatever runs on them; leave out --no-limits, or give --min-fidelity, --keep-priority or --max [NO_LIMITS]
