What a looser limit changes.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 2 --no-limits --algorithm greedy -o before.json -q
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 3 --no-limits --algorithm greedy -o after.json -q
  $ ftplan diff before.json after.json --format table --detailed-exitcode
  node  round before  after
  n4               1      0
  n5               2      1
  n6               2      1
  option  from  to
  max        2   3
  3 of 6 nodes change, 3 rounds; rounds: 3.0 -> 2.0
  [3]
  $ ftplan diff before.json before.json --format table --detailed-exitcode
  0 of 6 nodes change, 0 rounds; rounds: 3.0 -> 3.0

As JSON, from a schedule that moves tasks.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --nodes node:n1 --move --algorithm greedy -o moving.json -q --detailed-exitcode
  [3]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --nodes node:n1 --algorithm greedy -o still.json -q
  $ ftplan diff moving.json still.json --format json
  {
    "changed": true,
    "changes": [
      {
        "from": "n2",
        "index": 0,
        "operator": "alerts",
        "to": null,
        "what": "move"
      },
      {
        "from": "n3",
        "index": 0,
        "operator": "clicks",
        "to": null,
        "what": "move"
      }
    ],
    "kind": "drain-schedule",
    "nodes": 1,
    "nodes_changed": 0,
    "objective": {
      "from": 1.0,
      "name": "rounds",
      "to": 1.0
    },
    "options": [
      {
        "from": true,
        "name": "move",
        "to": false
      }
    ],
    "rounds": {
      "changed": [],
      "from": 1,
      "to": 1
    }
  }
