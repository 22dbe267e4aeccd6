Without balance, as JSON.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --balance none --format json
  {
    "algorithm": "auto",
    "assumptions": [
      {
        "code": "CAPACITY_ASSUMED",
        "text": "a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says",
        "value": 0.0345899470899
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
      },
      {
        "path": "stats",
        "role": "stats",
        "sha256": "e73795675f43aee13f6ef3906402a38a80ad863d58afff79e0ad5a4a959bf5ab"
      }
    ],
    "kind": "allocate-checkpoints",
    "objective": {
      "bound": 114.0,
      "gap": 0.0,
      "name": "usable",
      "scale": 114.0,
      "sense": "max",
      "value": 114.0
    },
    "options": {
      "anti_affinity": "zone",
      "anti_affinity_requested": "auto",
      "balance": "none",
      "balance_requested": "none",
      "bound": false,
      "capacity_per_core": 0.0345899470899,
      "capacity_per_core_requested": null,
      "copies": 1,
      "correlate": "raw",
      "costs": null,
      "current": null,
      "failover_limit": null,
      "gap": 0.001,
      "holdout": null,
      "iterations": null,
      "load": "records",
      "max_bytes": null,
      "max_moves": null,
      "minimise": null,
      "objective": "usable",
      "objective_requested": "usable",
      "overload": 0.85,
      "spread": false,
      "threshold": null,
      "time_limit_s": 10.0
    },
    "plan": {
      "assignments": [
        {
          "checkpoints": [
            "n3"
          ],
          "key_group": 0,
          "operator": "alerts",
          "primary": "n1"
        },
        {
          "checkpoints": [
            "n4"
          ],
          "key_group": 1,
          "operator": "alerts",
          "primary": "n1"
        },
        {
          "checkpoints": [
            "n5"
          ],
          "key_group": 2,
          "operator": "alerts",
          "primary": "n2"
        },
        {
          "checkpoints": [
            "n6"
          ],
          "key_group": 3,
          "operator": "alerts",
          "primary": "n2"
        },
        {
          "checkpoints": [
            "n6"
          ],
          "key_group": 0,
          "operator": "sessions",
          "primary": "n3"
        },
        {
          "checkpoints": [
            "n5"
          ],
          "key_group": 1,
          "operator": "sessions",
          "primary": "n3"
        },
        {
          "checkpoints": [
            "n1"
          ],
          "key_group": 2,
          "operator": "sessions",
          "primary": "n4"
        },
        {
          "checkpoints": [
            "n2"
          ],
          "key_group": 3,
          "operator": "sessions",
          "primary": "n4"
        },
        {
          "checkpoints": [
            "n1"
          ],
          "key_group": 4,
          "operator": "sessions",
          "primary": "n5"
        },
        {
          "checkpoints": [
            "n2"
          ],
          "key_group": 5,
          "operator": "sessions",
          "primary": "n5"
        },
        {
          "checkpoints": [
            "n1"
          ],
          "key_group": 6,
          "operator": "sessions",
          "primary": "n6"
        },
        {
          "checkpoints": [
            "n2"
          ],
          "key_group": 7,
          "operator": "sessions",
          "primary": "n6"
        }
      ],
      "moves": [
        {
          "bytes": 262144.0,
          "from": "n2",
          "key_group": 0,
          "operator": "alerts",
          "to": "n3"
        },
        {
          "bytes": 262144.0,
          "from": "n2",
          "key_group": 1,
          "operator": "alerts",
          "to": "n4"
        },
        {
          "bytes": 262144.0,
          "from": "n1",
          "key_group": 2,
          "operator": "alerts",
          "to": "n5"
        },
        {
          "bytes": 262144.0,
          "from": "n1",
          "key_group": 3,
          "operator": "alerts",
          "to": "n6"
        },
        {
          "bytes": 524288.0,
          "from": null,
          "key_group": 0,
          "operator": "sessions",
          "to": "n6"
        },
        {
          "bytes": 524288.0,
          "from": null,
          "key_group": 1,
          "operator": "sessions",
          "to": "n5"
        },
        {
          "bytes": 524288.0,
          "from": null,
          "key_group": 2,
          "operator": "sessions",
          "to": "n1"
        },
        {
          "bytes": 524288.0,
          "from": null,
          "key_group": 3,
          "operator": "sessions",
          "to": "n2"
        },
        {
          "bytes": 524288.0,
          "from": null,
          "key_group": 4,
          "operator": "sessions",
          "to": "n1"
        },
        {
          "bytes": 524288.0,
          "from": null,
          "key_group": 5,
          "operator": "sessions",
          "to": "n2"
        },
        {
          "bytes": 524288.0,
          "from": null,
          "key_group": 6,
          "operator": "sessions",
          "to": "n1"
        },
        {
          "bytes": 524288.0,
          "from": null,
          "key_group": 7,
          "operator": "sessions",
          "to": "n2"
        }
      ]
    },
    "reason": null,
    "rules": [
      "copy-not-with-primary",
      "copies-on-distinct-nodes",
      "copies-in-distinct-zones",
      "memory"
    ],
    "seed": 0,
    "status": "optimal",
    "summary": {
      "after": {
        "by_operator": {
          "alerts": 0.0,
          "sessions": 114.0
        },
        "copies": 12,
        "copysets": 9,
        "failover_load_ratio": 1.43403441683,
        "failover_loss": "zone:b",
        "failover_survivor": "n6",
        "imbalance": 1.32313575526,
        "loss_probability": null,
        "loss_probability_low": null,
        "max_copies_per_node": 3,
        "usable": 114.0,
        "usable_share": 0.518181818182,
        "zone_separation": 1.0
      },
      "before": {
        "by_operator": {
          "alerts": 0.0
        },
        "copies": 4,
        "copysets": 1,
        "failover_load_ratio": 2.13698630137,
        "failover_loss": "zone:b",
        "failover_survivor": "n1",
        "imbalance": 2.20547945205,
        "loss_probability": null,
        "loss_probability_low": null,
        "max_copies_per_node": 2,
        "usable": 0.0,
        "usable_share": null,
        "zone_separation": 0.0
      },
      "even": {
        "usable": 60.0,
        "usable_share": 0.272727272727
      },
      "random": {
        "by_operator": {
          "alerts": 0.0,
          "sessions": 61.6
        },
        "usable": 61.6,
        "usable_share": 0.28
      }
    },
    "tool_version": "0.1.0",
    "warnings": []
  }
  2> ftplan: algorithm: auto (the default)
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
