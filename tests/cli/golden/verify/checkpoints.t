A plan as it was made.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats -o plan.json -q
  $ ftplan verify plan.json --format table
  valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  not recomputed: bound, summary.even
  taken as stated: algorithm, options, tool_version, warnings

A cluster that has changed since.

  $ echo "# later" >> cluster.yaml
  $ ftplan verify plan.json
  {
    "not_recomputed": [
      "bound",
      "summary.even"
    ],
    "not_stated": [],
    "rules": [
      "copy-not-with-primary",
      "copies-on-distinct-nodes",
      "copies-in-distinct-zones",
      "balance",
      "memory"
    ],
    "taken_as_stated": [
      "algorithm",
      "options",
      "tool_version",
      "warnings"
    ],
    "unchecked": [],
    "valid": false,
    "violations": [
      {
        "code": "STALE_INPUT",
        "message": "cluster cluster.yaml is not what the plan was made from: its sha256 begins da7cda127320, the plan's d1d3171a896d; plan again, or pass --ignore-stale",
        "where": "cluster"
      }
    ],
    "warnings": []
  }
  2> ftplan: plan.json: STALE_INPUT: cluster cluster.yaml is not what the plan was made from: its sha256 begins da7cda127320, the plan's d1d3171a896d; plan again, or pass --ignore-stale
  [1]
