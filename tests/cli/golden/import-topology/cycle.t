A cycle is told with its path, and cut only when asked.

  $ cat > job.json <<'EOF'
  > {"name": "retries", "conf": {}, "components": [
  >   {"id": "Spout-0", "kind": "spout", "parallelism": 2, "resources": {}, "out_streams": {"default": ["a"]}},
  >   {"id": "Bolt-2", "kind": "bolt", "parallelism": 2, "resources": {}, "out_streams": {"default": ["a"]}},
  >   {"id": "Bolt-10", "kind": "bolt", "parallelism": 3, "resources": {}, "out_streams": {"retry": ["a"]}},
  >   {"id": "Bolt-3", "kind": "bolt", "parallelism": null, "resources": {}, "out_streams": {"$batch": ["tx"]}}],
  >  "edges": [
  >   {"from": "Spout-0", "stream": "default", "to": "Bolt-2", "grouping": "shuffle", "fields": null},
  >   {"from": "Bolt-2", "stream": "default", "to": "Bolt-10", "grouping": "fields", "fields": ["a"]},
  >   {"from": "Bolt-10", "stream": "retry", "to": "Bolt-2", "grouping": "shuffle", "fields": null},
  >   {"from": "Bolt-3", "stream": "$batch", "to": "Bolt-2", "grouping": "all", "fields": null}]}
  > EOF
  $ ftplan import-topology job.json --from storm
  2> ftplan: retries: cycle: Bolt-2 -> Bolt-10 -> Bolt-2; plans need a graph without cycles: --break-cycles cuts them
  [2]
  $ ftplan import-topology job.json --from storm --break-cycles --correlated Bolt-2
  {
    "edges": [
      {
        "from": "Spout-0",
        "partitioning": "full",
        "to": "Bolt-2"
      },
      {
        "from": "Bolt-2",
        "partitioning": "full",
        "to": "Bolt-10"
      }
    ],
    "format": "ftplan/topology",
    "format_version": "1.0",
    "name": "retries",
    "operators": [
      {
        "cpu": 1,
        "id": "Spout-0",
        "parallelism": 2
      },
      {
        "cpu": 1,
        "id": "Bolt-2",
        "inputs": "correlated",
        "parallelism": 2
      },
      {
        "cpu": 1,
        "id": "Bolt-10",
        "key_groups": 3,
        "parallelism": 3
      }
    ]
  }
  2> ftplan: warning: Bolt-2, Bolt-10, Spout-0: cpu: 1 core for each task is assumed [CPU_UNKNOWN]
  2> ftplan: warning: Spout-0: rate_out: 1 record/s from each task is assumed [RATES_UNKNOWN]
  2> ftplan: warning: Bolt-10: state_bytes: 0 is assumed [STATE_UNKNOWN]
  2> ftplan: warning: left out as coordination of Trident or Storm: components 1, streams 1 [COORDINATION_LEFT_OUT]
  2> ftplan: warning: the edge Bolt-10 -> Bolt-2 closes a cycle and is left out, as asked [CYCLE_CUT]
