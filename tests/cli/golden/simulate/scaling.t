A scale-out made by hand, carried out at the rates of the statistics: beside doing nothing, and a restart of it all.

  $ cat > wider.json <<'END'
  > {"format": "ftplan/plan", "format_version": "1.0", "kind": "scale-out", "plan": {"operators": [
  >   {"operator": "sessions", "state": "prepared", "technique": "checkpoint", "parallelism_from": 4, "parallelism_to": 8},
  >   {"operator": "alerts", "state": "prepared", "technique": "active-backup", "parallelism_from": 2, "parallelism_to": 4}]}}
  > END
  $ ftplan simulate scaling wider.json -t topology.yaml -s stats-tasks --setup 5s --until 200s --batch 1s -q --format table --mode none --mode planned --mode storm-restart
  1 run; every record counted once and in order
                          none  planned  storm-restart
  mean latency, s        0.907    0.629          4.107
  longest latency, s     0.907    1.726          31.56
  records done a second   0.97     0.97           0.97
  peak queue, records        0        0          30.23
  longest pause, s           –    0.901          30.54
  core-seconds           1,600    2,586          2,140
  most tasks                 8       20             14
  late starts                0        0              0
  records replayed           0    4.875           62.4
  mode           operator  by             tasks   prepared, s  promoted, s  done, s  pause foretold, s  it was, s  caught up after, s
  planned        alerts    active-backup  2 -> 4  34.99        40           40       0.001              0          1.726
  planned        sessions  checkpoint     4 -> 8  35           40           41.37    1.885              0.901      2.469
  storm-restart  sessions  restart        4 -> 8  –            40           70       –                  29.95      –
  storm-restart  alerts    restart        2 -> 4  –            40           70       –                  30.54      –
  mode                                        from 0 s to 200 s
  none           latency, to 29.74 s          ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  planned        latency, to 29.74 s          ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  storm-restart  latency, to 29.74 s          ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂               █▇▆▄▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  none           queue, to 30.23 records      ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  planned        queue, to 30.23 records      ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  storm-restart  queue, to 30.23 records      ▁▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▄▄▄▅▅▆▆▆▇▇█▇▆▅▄▃▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  none           throughput, to 3.9 a second  ▂▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
  planned        throughput, to 3.9 a second  ▂▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
  storm-restart  throughput, to 3.9 a second  ▂▂▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▆▇▇█▆▇▅▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
  none           tasks, to 20                 ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
  planned        tasks, to 20                 ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▅▅▅█▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
  storm-restart  tasks, to 20                 ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆

The paper's job, whose load doubles; somebody restarts Storm twice.

  $ ftplan simulate scaling --batch 2s --setup 10s --restart-at 680 --restart-at 1050 --format table
  1 run; every record counted once and in order
                            none  storm-restart  checkpoint  active-backup
  mean latency, s          76.11          3.745       1.619          1.573
  longest latency, s       472.5          39.51       7.242           2.14
  records done a second    327.7          452.5       452.5          452.5
  peak queue, records    188,800         24,940       1,600          1,600
  longest pause, s             –          31.04       5.872          0.274
  core-seconds             3,471          4,444       4,812          4,882
  most tasks                   9             15          19             19
  late starts                  0              0           0              0
  records replayed             0         42,540      15,600              0
  mode           operator  by             tasks   prepared, s  promoted, s  done, s  pause foretold, s  it was, s  caught up after, s
  storm-restart  o2        restart        2 -> 4  –            680          710                      –  30.25      –
  storm-restart  o2        restart        4 -> 8  –            1,050        1,080                    –  31.04      –
  checkpoint     o2        checkpoint     2 -> 4  510          530          536.5                    –  5.872      11.24
  checkpoint     o2        checkpoint     4 -> 8  1,010        1,030        1,037                    –  5.5        11.65
  active-backup  o2        active-backup  2 -> 4  510          530          530                      –  0          1.108
  active-backup  o2        active-backup  4 -> 8  1,010        1,030        1,030                    –  0.274      1.477
  mode                                          from 0 s to 1,500 s
  none           latency, to 230.5 s            ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▇▇▇█
  storm-restart  latency, to 230.5 s            ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂ ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂ ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  checkpoint     latency, to 230.5 s            ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  active-backup  latency, to 230.5 s            ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  none           queue, to 188,800 records      ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▇▇▇█
  storm-restart  queue, to 188,800 records      ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▂▂▂▂▂▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  checkpoint     queue, to 188,800 records      ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▁▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  active-backup  queue, to 188,800 records      ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
  none           throughput, to 1,487 a second  ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃
  storm-restart  throughput, to 1,487 a second  ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▃▃▃▃▁▃▅▄▃▃▃▃▃▃▃▃▃▃▃▃▃▄▃▁█▇▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
  checkpoint     throughput, to 1,487 a second  ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▄▅▄▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
  active-backup  throughput, to 1,487 a second  ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▄▄▄▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅
  none           tasks, to 19                   ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
  storm-restart  tasks, to 19                   ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▁▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▁▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
  checkpoint     tasks, to 19                   ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▆▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅█▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
  active-backup  tasks, to 19                   ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▆▆▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅██▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
  2> ftplan: warning: no topology is given: the paper's job is simulated [PAPER_JOB]
  $ ftplan simulate scaling -t topology.yaml --rate 1 --load steady --until 20s --batch 1s --runs 3 --mode none -q --format table
  3 runs: mean (5 … 95 %); every record counted once and in order
                         none
  mean latency, s        0.516 (0.319 … 0.73)
  longest latency, s     1.596 (1.118 … 2.074)
  records done a second  0.833 (0.475 … 1.285)
  peak queue, records    3 (2.1 … 3.9)
  longest pause, s       –
  core-seconds           160 (160 … 160)
  most tasks             8 (8 … 8)
  late starts            0 (0 … 0)
  records replayed       0 (0 … 0)
  mode                                 from 0 s to 20 s
  none  latency, to 1.808 s             ▃▃█ ▆▆▃▄▄▄ ▄▇▄▅▅▆▃▄
  none  queue, to 1.667 records        ▁▆▆▁█▅▁▄▄▄▁▆▅▄▄▄▅▁▄▄
  none  throughput, to 1.667 a second  ▁▃▃█▁█▆▄▅▅▅▁█▅▅▄▄▆▃▅
  none  tasks, to 8                    ████████████████████

What does not fit: one line each.

  $ ftplan simulate scaling wider.json -t topology.yaml
  2> ftplan: a scale-out needs stats: give --stats (in Python stats=...)
  [2]
  $ ftplan simulate scaling --mode planned
  2> ftplan: --mode: planned is as PLAN says, and none is given
  [2]
  $ ftplan simulate scaling --mode planed
  2> ftplan: --mode: 'planed' is not one of none, storm-restart, checkpoint, active-backup, assisted, planned, or a list of them
  [2]
  $ ftplan simulate scaling --load rates.csv
  2> ftplan: rates.csv: cannot be read as a table: [Errno 2] No such file or directory: 'rates.csv'
  [2]
  $ echo "time_s,rates" > rates.csv; echo "0,1" >> rates.csv
  $ ftplan simulate scaling --load rates.csv
  2> ftplan: rates.csv: there is no column 'rate'; there are time_s, rates
  [2]
  $ ftplan simulate scaling -t topology.yaml --load stats
  2> ftplan: --load: stats: there are no statistics that tell what sources put out; give --stats
  [2]
  $ ftplan simulate scaling --promote 90
  2> ftplan: --promote: 90: no score lies above it: with these rules they are from 20.42 to 79.58; give a threshold between
  [2]
  $ ftplan simulate scaling --restart-at soon
  2> ftplan: --restart-at: 'soon' is not a time such as 11m, or a list of them
  [2]
  $ sed 's/alerts/alarms/' wider.json > unknown.json
  $ ftplan simulate scaling unknown.json -t topology.yaml -s stats-tasks -q
  2> ftplan: plan: operators[1]: there is no operator 'alarms' (did you mean 'alerts'?): verify names everything that is wrong
  [2]
