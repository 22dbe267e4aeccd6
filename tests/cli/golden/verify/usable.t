A plan on the first part of a trace, with its own overload.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact --objective usable --overload 0.7 --holdout 0.3 -o plan.json -q
  $ ftplan verify plan.json --format table
  valid; held to: copy-not-with-primary, copies-on-distinct-nodes, copies-in-distinct-zones, balance, memory
  not recomputed: bound, summary.even, summary.holdout
  taken as stated: algorithm, options, tool_version, warnings
