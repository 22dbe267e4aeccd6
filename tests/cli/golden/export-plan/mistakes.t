What cannot be written, and who can.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --min-fidelity 0.5 --algorithm greedy -o none.json -q
  2> ftplan: no plan: node n1 cannot restart even alone: output fidelity would fall to 0.25, below 0.5; 1 more cannot either
  2> ftplan: smallest fix: --min-fidelity 0.25
  [1]
  $ ftplan export-plan none.json --to csv
  2> ftplan: there is nothing to export: the plan's status is infeasible (node n1 cannot restart even alone: output fidelity would fall to 0.25, below 0.5; 1 more cannot either)
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 2 --algorithm greedy -o plan.json -q
  $ ftplan export-plan plan.json --to storm
  2> ftplan: --to storm takes a recovery-schedule or scale-out, not a drain-schedule; --to flink, csv can
  [2]
  $ ftplan export-plan plan.json --to flnk
  2> ftplan: export-plan: Invalid value for '--to': 'flnk' is not one of 'kafka-reassignment', 'kafka-streams', 'kubernetes', 'storm', 'flink', 'csv'.
  [2]
  $ ftplan export-plan plan.json
  2> ftplan: export-plan: Missing option '--to'. Choose from: kafka-reassignment, kafka-streams, kubernetes, storm, flink, csv
  [2]
  $ ftplan export-plan plan.json --to csv --bandwidth 5MiB/s
  2> ftplan: --bandwidth is for --to kafka-reassignment, not for --to csv
  [2]
  $ ftplan export-plan topology.yaml --to csv
  2> ftplan: topology.yaml: format: this is a topology file (ftplan/topology); expected a plan (ftplan/plan)
  [2]
  $ ftplan export-plan plan.json --to csv -o cluster.yaml
  2> ftplan: cluster.yaml: exists already; give --force to overwrite it
  [2]
