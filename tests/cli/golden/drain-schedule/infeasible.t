Half of the output cannot be kept; less can, or some nodes are left out.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --min-fidelity 0.5 --algorithm greedy --format table
  drain schedule
  algorithm         greedy
  status            infeasible
  reason            node n1 cannot restart even alone: output fidelity would fall to 0.25, below 0.5; 1 more cannot either
  limit             min-fidelity
  current           0.5
  needed            0.25
  smallest fix      --min-fidelity 0.25
  nodes to restart  6 with 8 tasks
  rules             copies-apart, one-zone, min-fidelity
                             one by one  zone by zone
  rounds                              6             3
  all rounds, s                     720           360
  most nodes at once                  1             2
  lowest output fidelity           0.25             0
  full output lost, s               300           240
  most queries down at once           2             2
  their priority                      2             2
  one by one breaks min-fidelity
  zone by zone breaks copies-apart, min-fidelity
  2> ftplan: no plan: node n1 cannot restart even alone: output fidelity would fall to 0.25, below 0.5; 1 more cannot either
  2> ftplan: smallest fix: --min-fidelity 0.25
  [1]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --min-fidelity 0.25 --algorithm greedy --format table -q
  drain schedule
  algorithm         greedy
  status            optimal
  rounds (min)      4
  proven bound      4
  gap               0.0000%
  nodes to restart  6 with 8 tasks
  rules             copies-apart, one-zone, min-fidelity
                             this plan  one by one  zone by zone  random order (mean of 20)
  rounds                             4           6             3                          4
  all rounds, s                    480         720           360                        480
  most nodes at once                 2           1             2                          2
  lowest output fidelity          0.25        0.25             0                       0.25
  full output lost, s              300         300           240                        300
  most queries down at once          2           2             2                          2
  their priority                     2           2             2                          2
  done  round  nodes   zones  duration, s  fidelity  queries down  moves
  [ ]       0  n1      a              120      0.25             2      0
  [ ]       1  n2      a              120      0.25             2      0
  [ ]       2  n3, n4  b              120       0.5             2      0
  [ ]       3  n5, n6  c              120       0.5             2      0
  zone by zone breaks copies-apart, min-fidelity
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --min-fidelity 0.5 --partial --algorithm greedy --format table
  drain schedule
  algorithm         greedy
  status            optimal
  rounds (min)      2
  proven bound      2
  gap               0.0000%
  nodes to restart  6 with 8 tasks
  rules             copies-apart, one-zone, min-fidelity
                             this plan  one by one  zone by zone  random order (mean of 20)
  rounds                             2           6             3                          2
  all rounds, s                    240         720           360                        240
  most nodes at once                 2           1             2                          2
  lowest output fidelity           0.5        0.25             0                        0.5
  full output lost, s              120         300           240                        120
  most queries down at once          2           2             2                          2
  their priority                     2           2             2                          2
  done  round  nodes   zones  duration, s  fidelity  queries down  moves
  [ ]       0  n3, n4  b              120       0.5             2      0
  [ ]       1  n5, n6  c              120       0.5             2      0
  in no round  reason
  n1           output fidelity would fall to 0.25, below 0.5
  n2           output fidelity would fall to 0.25, below 0.5
  one by one breaks min-fidelity
  zone by zone breaks copies-apart, min-fidelity

A query that two nodes run through.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --keep-priority 1 --algorithm greedy --format table -q
  drain schedule
  algorithm         greedy
  status            infeasible
  reason            node n1 cannot restart even alone: query alerts/0 of priority 1 would be down; 5 more cannot either
  limit             keep-priority
  current           1
  needed            –
  smallest fix      no --keep-priority
  nodes to restart  6 with 8 tasks
  rules             copies-apart, one-zone, keep-priority, some-output
                             one by one  zone by zone
  rounds                              6             3
  all rounds, s                     720           360
  most nodes at once                  1             2
  lowest output fidelity           0.25             0
  full output lost, s               300           240
  most queries down at once           2             2
  their priority                      2             2
  one by one breaks keep-priority
  zone by zone breaks copies-apart, keep-priority, some-output
  2> ftplan: no plan: node n1 cannot restart even alone: query alerts/0 of priority 1 would be down; 5 more cannot either
  2> ftplan: smallest fix: no --keep-priority
  [1]

No room for what moves.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --move --max-cpu 0.3 --algorithm greedy --format table
  drain schedule
  algorithm         greedy
  status            infeasible
  reason            node n1 cannot restart even alone: the 0.8 cores free on other nodes have no room for its 2 tasks of 2 cores; 5 more cannot either
  limit             room
  current           0.8
  needed            2.8
  smallest fix      add to the nodes of the cluster file: {id: extra-1, cpu: 6.666667, memory_mb: 1}
  nodes to restart  6 with 8 tasks
  rules             copies-apart, one-zone, room
                             one by one  zone by zone
  rounds                              6             3
  all rounds, s                     720           360
  most nodes at once                  1             2
  lowest output fidelity              1             1
  full output lost, s                 0             0
  most queries down at once           0             0
  their priority                      0             0
  one by one breaks room
  zone by zone breaks copies-apart, room
  2> ftplan: no plan: node n1 cannot restart even alone: the 0.8 cores free on other nodes have no room for its 2 tasks of 2 cores; 5 more cannot either
  2> ftplan: smallest fix: add to the nodes of the cluster file: {id: extra-1, cpu: 6.666667, memory_mb: 1}
  [1]
