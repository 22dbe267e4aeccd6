Options that are none.

  $ ftplan scale-out -t topology.yaml -s stats --alarming soon
  2> ftplan: --alarming: 'soon' is not auto or a score from 0 to 100
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --demand p101
  2> ftplan: --demand: 'p101' is not peak, mean or a percentile such as p95
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --target-utilisation 0
  2> ftplan: --target-utilisation: 0.0 is not a number of at least 1e-06 and at most 1, or such as 70%
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --task-capacity 0
  2> ftplan: --task-capacity: 0.0 is not a number above 0 and at most 1e+18
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --hold 0
  2> ftplan: --hold: '0' is not a number of windows from 1 on, or a time such as 5m
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --technique magic
  2> ftplan: scale-out: Invalid value for '--technique': 'magic' is not one of 'active-backup', 'checkpoint', 'assisted', 'auto'.
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --horizon soon
  2> ftplan: scale-out: Invalid value for '--horizon': 'soon' is no duration: a number of seconds, or 500ms, 60s, 5m, 24h, 7d
  [2]

Files that are missing, or something else.

  $ ftplan scale-out -t topology.yaml
  2> ftplan: scale-out: --stats is missing: give it, or name it under [inputs] in ftplan.toml; `ftplan compute-stats LOG -o stats` makes it
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --costs topology.yaml
  2> ftplan: topology.yaml: format: this is a topology file (ftplan/topology); expected a recovery cost table (ftplan/recovery-costs)
  [2]
  $ ftplan scale-out -t topology.yaml -s stats --checkpoints nowhere.json
  2> ftplan: nowhere.json: no such file
  [2]
