The failure is the plan's own.

  $ ftplan recovery-schedule -t topology.yaml -c cluster.yaml --fail zone:a --fail node:n3 --capacity 2 --bandwidth 0.02MiB/s --algorithm best-density --objective priority -o plan.json -q
  $ ftplan evaluate plan.json --format table --fail-under queries-back-share=1
  failed: zone:a, node:n3
  metric               value  better  unit
  queries-back-share       1  high    share
  priority-back-share      1  high    share
  first-back-s           255  low     s
  last-back-s            280  low     s
  mean-back-s          267.5  low     s
  priority-time          535  low     s
  fidelity-time        452.5  high    s
  prefetched-share       0.4  low     share
  restore-s              225  low     s
  unrecovered-tasks        0  low     tasks
