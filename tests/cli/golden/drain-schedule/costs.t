A node that runs tasks is away for as long as they take to catch up.

  $ python3 -c "print('format: ftplan/recovery-costs\nformat_version: 1.0\nstate: remote\nparameters:\n  detection_s: {value: 60}\n  restart_s: {value: 20}\n  bandwidth_mb_s: {value: 0.05}\nfitted_on: {recoveries: 9, rates: [100, 200]}')" > costs.yaml
  $ ftplan check costs.yaml --format table
  file        kind            holds         warnings
  costs.yaml  recovery-costs  3 parameters         0
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 2 --no-limits --restart 30s --costs costs.yaml --algorithm greedy -o plan.json
  2> ftplan: warning: the recovery costs were fitted on 100 to 200 records/s, the job has 2: durations are a guess [OUTSIDE_FITTED_RANGE]
  2> drain schedule
  2> algorithm         greedy
  2> status            optimal
  2> rounds (min)      3
  2> proven bound      3
  2> gap               0.0000%
  2> nodes to restart  6 with 8 tasks
  2> may stop now      n1, n3 (2 of up to 2; no set is larger)
  2> rules             copies-apart, max
  2>                            this plan  one by one  zone by zone  random order (mean of 20)
  2> rounds                             3           6             3                        3.1
  2> all rounds, s                    300         580           290                        308
  2> most nodes at once                 2           1             2                          2
  2> lowest output fidelity        0.1875        0.25             0                     0.1938
  2> full output lost, s            212.5         235           190                      214.8
  2> most queries down at once          2           2             2                          2
  2> their priority                     2           2             2                          2
  2> done  round  nodes   zones  duration, s  fidelity  queries down  moves
  2> [ ]       0  n1, n3  a, b           100    0.1875             2      0
  2> [ ]       1  n2, n4  a, b           100    0.1875             2      0
  2> [ ]       2  n5, n6  c              100       0.5             2      0
  2> zone by zone breaks copies-apart
  $ ftplan verify plan.json --format table
  valid; held to: copies-apart, max
  not recomputed: bound, summary.ok_to_stop.bound, summary.ok_to_stop.nodes, summary.random
  taken as stated: algorithm, options, tool_version, warnings
  $ sed -i 's/value: 20/value: 40/' costs.yaml
  $ ftplan verify plan.json --format table
  code             where                                     what
  STALE_INPUT      costs                                     costs costs.yaml is not what the plan was made from: its sha256 begins 70107bd9658f, the plan's a24f2537a66a; plan again, or pass --ignore-stale
  WRONG_DURATION   rounds[0]                                 round 0 states duration_s 100, it is 120
  WRONG_DURATION   rounds[1]                                 round 1 states duration_s 100, it is 120
  WRONG_DURATION   rounds[2]                                 round 2 states duration_s 100, it is 120
  SUMMARY_DIFFERS  summary.after.duration_s                  summary.after.duration_s states 300, it is 360
  SUMMARY_DIFFERS  summary.after.lost_output_s               summary.after.lost_output_s states 212.5, it is 255
  SUMMARY_DIFFERS  summary.before.duration_s                 summary.before.duration_s states 580, it is 700
  SUMMARY_DIFFERS  summary.before.lost_output_s              summary.before.lost_output_s states 235, it is 285
  SUMMARY_DIFFERS  summary.peers.one_by_one.duration_s       summary.peers.one_by_one.duration_s states 580, it is 700
  SUMMARY_DIFFERS  summary.peers.one_by_one.lost_output_s    summary.peers.one_by_one.lost_output_s states 235, it is 285
  SUMMARY_DIFFERS  summary.peers.zone_by_zone.duration_s     summary.peers.zone_by_zone.duration_s states 290, it is 350
  SUMMARY_DIFFERS  summary.peers.zone_by_zone.lost_output_s  summary.peers.zone_by_zone.lost_output_s states 190, it is 230
  12 violation(s); held to: copies-apart, max
  not recomputed: bound, summary.ok_to_stop.bound, summary.ok_to_stop.nodes, summary.random
  taken as stated: algorithm, options, tool_version, warnings
  2> ftplan: plan.json: STALE_INPUT: costs costs.yaml is not what the plan was made from: its sha256 begins 70107bd9658f, the plan's a24f2537a66a; plan again, or pass --ignore-stale (and 11 more)
  [1]

Costs that are none.

  $ sed -i 's/value: 60/value: -1/' costs.yaml
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --costs costs.yaml
  2> ftplan: costs.yaml: parameters.detection_s.value: must be at least 0, got -1
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --costs cluster.yaml
  2> ftplan: cluster.yaml: format: this is a cluster file (ftplan/cluster); expected a recovery cost table (ftplan/recovery-costs)
  [2]
