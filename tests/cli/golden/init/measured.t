A log of tasks and substreams becomes a topology with what was measured.

  $ ftplan init --stats stats-tasks -o new
  2> ftplan: wrote new/topology.yaml
  2> ftplan: wrote new/cluster.yaml
  2> ftplan: wrote new/ftplan.toml
  $ cat new/topology.yaml
  # The job, as the statistics show it. `ftplan schema topology` tells all fields.
  format: ftplan/topology
  format_version: "1.0"
  operators:
    - id: alerts
      parallelism: 2
      cpu: [0.11, 0.0133333333333]
    - id: clicks
      parallelism: 2
      cpu: [0.0422222222222, 0.22]
      rate_out: [0.105555555556, 0.55]
    - id: sessions
      parallelism: 4
      cpu: [0.02, 0.0333333333333, 0.323333333333, 0.00888888888889]
      rate_out: [0.0166666666667, 0.0166666666667, 0.258333333333, 0.0166666666667]
  edges:                      # [from index, to index, records/s]: tasks that exchanged no record do not meet
    - {from: clicks, to: sessions, substreams: [[0, 0, 0.0166666666667], [0, 1, 0.0333333333333], [0, 2, 0.05], [0, 3, 0.00555555555556], [1, 0, 0.0166666666667], [1, 1, 0.0333333333333], [1, 2, 0.5]]}
    - {from: sessions, to: alerts, substreams: [[0, 0, 0.00833333333333], [0, 1, 0.00833333333333], [1, 0, 0.00833333333333], [1, 1, 0.00833333333333], [2, 0, 0.25], [2, 1, 0.00833333333333], [3, 0, 0.00833333333333], [3, 1, 0.00833333333333]]}
  $ ftplan check new/topology.yaml new/cluster.yaml stats-tasks --format table
  file               kind      holds                                                   warnings
  new/topology.yaml  topology  3 operators, 8 tasks, 2 edges, 0 key groups, 1 outputs         0
  new/cluster.yaml   cluster   4 nodes, 2 zones, 8 placed tasks                               0
  stats-tasks        stats     3 operators, 0 key groups, 3 windows, 3 tables                 0

Long lists are left out.

  $ ftplan init --stats stats-tasks -o new --max-substreams 7 --force
  2> ftplan: warning: sessions -> alerts: 8 measured substreams are more than --max-substreams 7: the edge is full, divided by input_share [SUBSTREAMS_NOT_LISTED]
  2> ftplan: new/ftplan.toml is there already and stays as it is
  2> ftplan: wrote new/topology.yaml
  2> ftplan: wrote new/cluster.yaml
  $ tail -4 new/topology.yaml
      rate_out: [0.0166666666667, 0.0166666666667, 0.258333333333, 0.0166666666667]
  edges:                      # [from index, to index, records/s]: tasks that exchanged no record do not meet
    - {from: clicks, to: sessions, substreams: [[0, 0, 0.0166666666667], [0, 1, 0.0333333333333], [0, 2, 0.05], [0, 3, 0.00555555555556], [1, 0, 0.0166666666667], [1, 1, 0.0333333333333], [1, 2, 0.5]]}
    - {from: sessions, to: alerts, partitioning: full}
