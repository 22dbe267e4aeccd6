The settings of an experiment; options win over them. Standard output is JSON.

  $ ftplan generate topology --like checkpoints-toy
  {
    "edges": [
      {
        "from": "o0",
        "partitioning": "full",
        "to": "o1"
      },
      {
        "from": "o0",
        "partitioning": "full",
        "to": "o2"
      }
    ],
    "format": "ftplan/topology",
    "format_version": "1.0",
    "name": "layers-0",
    "operators": [
      {
        "cpu": 0.3229,
        "id": "o0",
        "parallelism": 1,
        "rate_out": 500,
        "selectivity": 0.5,
        "state_bytes": 39980000
      },
      {
        "cpu": 0.1946,
        "id": "o1",
        "input_share": [
          1.0
        ],
        "key_groups": 10,
        "parallelism": 1,
        "state_bytes": 37640000
      },
      {
        "cpu": 0.3475,
        "id": "o2",
        "input_share": [
          1.0
        ],
        "key_groups": 10,
        "parallelism": 1,
        "state_bytes": 1019000
      }
    ]
  }
  $ ftplan generate topology --like replication-figure-14 --full 1 --seed 7 -o topology.yaml --force
  2> ftplan: wrote topology.yaml: 10 operators, 48 tasks, 9 edges
  $ head -1 topology.yaml
  # ftplan generate topology --like replication-figure-14 --seed 7 --full 1.0
  $ ftplan generate cluster --like recovery-figure-12 -o cluster.yaml --force
  2> ftplan: wrote cluster.yaml: 10 nodes in 0 zones, 40 cores, 0 tasks placed
  $ ftplan generate failure -c cluster.yaml --like recovery-figure-12 --count 2
  {
    "arrivals": [
      {
        "at_s": 253.713,
        "node": {
          "cpu": 4.0,
          "id": "r1",
          "memory_mb": 16380.0
        }
      },
      {
        "at_s": 333.537,
        "node": {
          "cpu": 4.0,
          "id": "r2",
          "memory_mb": 16380.0
        }
      }
    ],
    "fail": [
      "node:n7",
      "node:n8"
    ],
    "format": "ftplan/failure",
    "format_version": "1.0"
  }

An experiment by another name.

  $ ftplan generate topology --like figure-14
  2> ftplan: generate topology: Invalid value for '--like': 'figure-14' is not one of 'replication-figure-6', 'replication-figure-14', 'recovery-figure-16', 'recovery-figure-17', 'checkpoints-figure-5', 'checkpoints-figure-7', 'checkpoints-toy', 'sparse-queries'.
  [2]
