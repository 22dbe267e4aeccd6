  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --objective correlation --balance none -o a.json -q
  $ ftplan allocate-checkpoints -t topology.yaml -c cluster.yaml -s stats --algorithm even --objective correlation -o b.json -q
  $ ftplan diff a.json b.json --format table --detailed-exitcode
  key group             what         from  to
  key-group:alerts/0    checkpoints  n3    n5
  key-group:alerts/1    checkpoints  n5    n2
  key-group:alerts/2    checkpoints  n3    n4
  key-group:alerts/3    checkpoints  n6    n3
  key-group:sessions/0  checkpoints  n1    n6
  key-group:sessions/1  checkpoints  n2    n6
  key-group:sessions/4  checkpoints  n1    n4
  key-group:sessions/5  checkpoints  n2    n3
  key-group:sessions/6  checkpoints  n4    n5
  key-group:sessions/7  checkpoints  n3    n1
  option             from  to
  anti_affinity      zone  node
  balance            none  auto
  balance_requested  none  auto
  copy of               from  to    bytes
  key-group:alerts/0    n3    n5  262,144
  key-group:alerts/1    n5    n2  262,144
  key-group:alerts/2    n3    n4  262,144
  key-group:alerts/3    n6    n3  262,144
  key-group:sessions/0  n1    n6  524,288
  key-group:sessions/1  n2    n6  524,288
  key-group:sessions/4  n1    n4  524,288
  key-group:sessions/5  n2    n3  524,288
  key-group:sessions/6  n4    n5  524,288
  key-group:sessions/7  n3    n1  524,288
  10 copies move, 4,194,304 bytes
  10 of 12 key groups change; correlation: -652.863076048 -> -247.856403503
  [3]
