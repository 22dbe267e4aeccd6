A node.

  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm exact -o plan.json -q
  $ ftplan explain plan.json node:n1 --format table
  node:n1: the copies that lie here
  key group   primary  load  usable windows
  sessions/4  n5        240              24
  sessions/0  n3        120               0
  2 copies of load 360, 1.033 of its fair share 348.667

A key group, by windows of overload.

  $ ftplan explain plan.json key-group:sessions/6 --format table
  key-group:sessions/6: windows of overload in which a copy on each node would be usable (high is good)
  node  zone  usable windows  chosen  ruled out by
  n1    a                 22  no      OVER_BALANCE: n1 holds copies of load 660, outside 330 to 367.334 (fair share 348.667, balance 0.053538)
  n2    a                 22  no      OVER_BALANCE: n2 holds copies of load 630, outside 330 to 367.334 (fair share 348.667, balance 0.053538)
  n3    b                 14  yes     –
  n4    b                  0  no      OVER_BALANCE: n3 holds copies of load 40, outside 330 to 367.334 (fair share 348.667, balance 0.053538)
  n5    c                  0  no      COPY_IN_SAME_ZONE: sessions/6 has a copy on n5, in c like its primary on n6
  n6    c                  0  no      COPY_WITH_PRIMARY: sessions/6 has a copy on n6, where its primary is
  primary on n6, copies on n3; mean load 300 per window
