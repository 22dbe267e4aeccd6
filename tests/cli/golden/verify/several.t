Plans of two folders: each names its inputs as seen from its own.

  $ mkdir -p jobs/a jobs/b && cp -r topology.yaml cluster.yaml stats jobs/a && cp -r jobs/a/. jobs/b
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats -o jobs/a/plan.json -q
  $ cp jobs/a/plan.json jobs/b && rm -r topology.yaml cluster.yaml stats
  $ ftplan verify jobs/a/plan.json jobs/b/plan.json --format table
  jobs/a/plan.json: valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  jobs/b/plan.json: valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory

One of them stale, and files that are no plans.

  $ echo "# later" >> jobs/b/cluster.yaml
  $ ftplan verify jobs/a/plan.json jobs/b/plan.json jobs/a/topology.yaml jobs/a/stats/manifest.json --skip-others
  {
    "errors": [],
    "plans": [
      {
        "not_recomputed": [
          "bound",
          "summary.even"
        ],
        "not_stated": [],
        "plan": "jobs/a/plan.json",
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
        "valid": true,
        "violations": [],
        "warnings": []
      },
      {
        "not_recomputed": [
          "bound",
          "summary.even"
        ],
        "not_stated": [],
        "plan": "jobs/b/plan.json",
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
            "message": "cluster jobs/b/cluster.yaml is not what the plan was made from: its sha256 begins da7cda127320, the plan's d1d3171a896d; plan again, or pass --ignore-stale",
            "where": "cluster"
          }
        ],
        "warnings": []
      }
    ]
  }
  2> ftplan: jobs/b/plan.json: STALE_INPUT: cluster jobs/b/cluster.yaml is not what the plan was made from: its sha256 begins da7cda127320, the plan's d1d3171a896d; plan again, or pass --ignore-stale
  [1]
  $ ftplan verify jobs/a/plan.json jobs/b/plan.json jobs/a/topology.yaml --format table
  plan              code         where    what
  jobs/b/plan.json  STALE_INPUT  cluster  cluster jobs/b/cluster.yaml is not what the plan was made from: its sha256 begins da7cda127320, the plan's d1d3171a896d; plan again, or pass --ignore-stale
  jobs/a/plan.json: valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  jobs/b/plan.json: 1 violation(s); held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  2> ftplan: jobs/b/plan.json: STALE_INPUT: cluster jobs/b/cluster.yaml is not what the plan was made from: its sha256 begins da7cda127320, the plan's d1d3171a896d; plan again, or pass --ignore-stale
  2> ftplan: jobs/a/topology.yaml: format: this is a topology file (ftplan/topology); expected a plan (ftplan/plan)
  [2]

A plan in a folder for what is written.

  $ mkdir jobs/a/out && cp jobs/a/plan.json jobs/a/out
  $ ftplan verify jobs/a/out/plan.json --format table
  valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  not recomputed: bound, summary.even
  taken as stated: algorithm, options, tool_version, warnings

A project at the top names its inputs alike: those that the plan was made from count.

  $ cp jobs/a/cluster.yaml cluster.yaml && cp jobs/a/topology.yaml topology.yaml && cp -r jobs/a/stats stats
  $ echo "# another" >> topology.yaml
  $ ftplan verify jobs/a/plan.json --format table
  valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  not recomputed: bound, summary.even
  taken as stated: algorithm, options, tool_version, warnings

No plan at all.

  $ ftplan verify jobs/a/topology.yaml jobs/a/stats/manifest.json --skip-others --format table
  2> ftplan: none of 2 files is a plan
  $ ftplan verify
  2> ftplan: verify: Missing argument 'PLAN...'.
  [2]
