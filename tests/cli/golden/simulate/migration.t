The moves of a plan made by hand, message by message: beside what formulas foretell of them.

  $ cat > moves.json <<'END'
  > {"format": "ftplan/plan", "format_version": "1.0", "kind": "rebalance", "plan": {"moves": [
  >   {"phase": 0, "operator": "alerts", "key_group": 0, "from": "n1", "to": "n2", "protocol": "cpa"},
  >   {"phase": 0, "operator": "alerts", "key_group": 1, "from": "n1", "to": "n2", "protocol": "cpal"},
  >   {"phase": 1, "operator": "alerts", "key_group": 2, "from": "n2", "to": "n1", "protocol": "cpa"}]}}
  > END
  $ ftplan simulate migration moves.json -t topology.yaml -c cluster.yaml -s stats --checkpoint-age 30m --bandwidth 2MiB/s -q --format table
  1 run; every record counted once and in order
  phase  moves  foretold, s  took, s  longest pause foretold, s  it was, s
      0      2        2,439    2,441                      1,751      1,775
      1      1        3,456    3,477                      3,456      3,477
  phase  key group  from  to  protocol  pause foretold, s  it was, s  done foretold, s  it was, s  latest record, s  replayed
      0  alerts/0   n1    n2  cpa                   1,751      1,775             1,751      1,775             862.3        37
      0  alerts/1   n1    n2  cpal                  0.002          0             2,439      2,441                 0        43
      1  alerts/2   n2    n1  cpa                   3,456      3,477             3,456      3,477             1,171        49
  $ ftplan simulate migration moves.json -t topology.yaml -c cluster.yaml -s stats --checkpoint-age 30m --bandwidth 2MiB/s -q --format table --runs 3 --seed 4
  3 runs: mean (5 … 95 %); every record counted once and in order
  phase  moves  foretold, s  took, s                longest pause foretold, s  it was, s
      0      2        2,439  3,041 (2,606 … 3,672)                      1,751  1,447 (1,277 … 1,610)
      1      1        3,456  2,573 (2,500 … 2,633)                      3,456  2,573 (2,500 … 2,633)
  phase  key group  from  to  protocol  pause foretold, s  it was, s              done foretold, s  it was, s              latest record, s       replayed
      0  alerts/0   n1    n2  cpa                   1,751  1,447 (1,277 … 1,610)             1,751  1,447 (1,277 … 1,610)  782.9 (644.7 … 871)          32
      0  alerts/1   n1    n2  cpal                  0.002  0.001 (0 … 0.001)                 2,439  3,041 (2,606 … 3,672)  0 (0 … 0)                    43
      1  alerts/2   n2    n1  cpa                   3,456  2,573 (2,500 … 2,633)             3,456  2,573 (2,500 … 2,633)  1,120 (1,009 … 1,202)        47

What does not fit: one line each.

  $ ftplan simulate migration -t topology.yaml -c cluster.yaml -s stats
  2> ftplan: simulate migration: PLAN is missing: give a plan of kind rebalance, or --level trace
  [2]
  $ ftplan simulate migration moves.json -t topology.yaml -c cluster.yaml
  2> ftplan: a rebalance needs stats: give --stats (in Python stats=...)
  [2]
  $ ftplan simulate migration moves.json -t topology.yaml -c cluster.yaml -s stats --prefer yes -q
  2> ftplan: --prefer belongs to --level trace, and this is --level messages
  [2]
  $ ftplan simulate migration moves.json -t topology.yaml -c cluster.yaml -s stats --level message
  2> ftplan: simulate migration: Invalid value for '--level': 'message' is not one of 'messages', 'trace'.
  [2]
  $ sed 's/"cpal"/"lazy"/' moves.json > lazy.json
  $ ftplan simulate migration lazy.json -t topology.yaml -c cluster.yaml -s stats -q
  2> ftplan: plan: key-group:alerts/1 cannot move to n2 by lazy: verify names everything that is wrong
  [2]
  $ sed 's/"n1"/"n7"/' moves.json > unknown.json
  $ ftplan simulate migration unknown.json -t topology.yaml -c cluster.yaml -s stats -q
  2> ftplan: plan: the cluster has no node 'n7': verify names everything that is wrong
  [2]
  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a -o schedule.json -q
  $ ftplan simulate migration schedule.json -t topology.yaml -c cluster.yaml -s stats -q
  2> ftplan: schedule.json: is a plan of kind recovery-schedule: simulate migration takes a rebalance
  [2]
