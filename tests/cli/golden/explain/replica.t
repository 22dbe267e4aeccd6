What could be replicated instead, and where the replica could stand.

  $ ftplan replicate-tasks -t topology.yaml -c cluster.yaml --budget 4 --algorithm exact -o plan.json -q
  $ ftplan explain plan.json task:sessions/0 --format table
  task:sessions/0: what could stand in its place
  task        output-fidelity  change  ruled out by
  sessions/1            0.125       0  worth no more
  sessions/2            0.125       0  worth no more
  sessions/3            0.125       0  worth no more
  clicks/1                  0  -0.125  worth less
  task:sessions/0: where it could stand
  node  zone  cores free  MiB free  chosen  ruled out by
  n5    c            2.2        63  yes     –
  n1    a            1.2      63.5  no      –
  n2    a            1.2      63.5  no      –
  n6    c            1.2        63  no      –
  n3    b            1.2      62.5  no      REPLICA_WITH_PRIMARY: the task itself runs there
  n4    b            1.2      62.5  no      REPLICA_IN_SAME_ZONE: b, like the task itself on n3
  has a replica on n5: without it output-fidelity falls by 0.125, from 0.125
  in case worst-case it completes 2 of 2 live MC-trees
  displaced: sessions/1, which in its place would be worth as much
