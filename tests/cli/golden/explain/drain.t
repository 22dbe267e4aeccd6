Why a node restarts when it does, what becomes of a zone, and when a query is down.

  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --max 2 --no-limits --min-fidelity 0.1 --algorithm greedy -o plan.json -q
  $ ftplan explain plan.json node:n2 --format table
  node:n2: restarts in round 1, together with n4
  round  nodes   ruled out by          limit  would be  what
      0  n1, n3  COPIES_TOGETHER           1         2  n1 and n2 hold copies of key-group:alerts/0
      0  n1, n3  OVER_ROUND_LIMIT          2         3  3 nodes go together, at most 2 may
      0  n1, n3  ROUND_BELOW_FIDELITY    0.1         0  output fidelity would fall to 0, below 0.1
      2  n5, n6  OVER_ROUND_LIMIT          2         3  3 nodes go together, at most 2 may
  it runs 2 tasks; alone its restart takes 120 s and leaves an output fidelity of 0.25, with 2 of 2 queries down
  copies or replicas keep it from another node: n1
  every other round is ruled out
  $ ftplan explain plan.json zone:a --format table
  zone:a: when its nodes restart
  node  round  tasks  duration, s  fidelity alone  queries down alone
  n1        0      2          120            0.25                   2
  n2        1      2          120            0.25                   2
  its 2 nodes restart in 2 rounds, at most 1 of them together
  all of them together: COPIES_TOGETHER: n1 and n2 hold copies of key-group:alerts/0
  all of them together: ROUND_BELOW_FIDELITY: output fidelity would fall to 0, below 0.1
  $ ftplan explain plan.json query:alerts/1 --format table
  query:alerts/1: the rounds in which it is down
  round  duration, s  on      tasks down
      0          120  n1, n3  clicks/0, sessions/0
      1          120  n2, n4  alerts/1, clicks/1, sessions/1
      2          120  n5, n6  sessions/2, sessions/3
  of priority 1, it is down in 3 of 3 rounds, for 360 s in all

What it cannot explain.

  $ ftplan explain plan.json node:n9
  2> ftplan: unknown node 'n9'
  [2]
  $ ftplan explain plan.json zone:d
  2> ftplan: zone:d: no node of the cluster is in this zone
  [2]
  $ ftplan explain plan.json query:sessions/0
  2> ftplan: query:sessions/0: is no output task, so that no query ends there
  [2]
  $ ftplan explain plan.json task:clicks/0
  2> ftplan: task:clicks/0: a drain schedule explains node:ID, zone:ID and query:OPERATOR/INDEX
  [2]
