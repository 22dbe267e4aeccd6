From nothing: two of three nodes of a zone never follow each other, and load is as even as key groups allow.

  $ sed -i 's/, zone: \([abc]\)}/, zone: \1, failure_probability: 0.01}/' cluster.yaml
  $ printf 'zones: [{id: a, failure_probability: 0.001}, {id: b, failure_probability: 0.001}, {id: c, failure_probability: 0.001}]\nnetwork: {bandwidth_mb_s: 1, delay_s: 0.001}\n' >> cluster.yaml
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --format table
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  nodes                     6
  copies of each key group  2
  rules                     replication, tokens, zones-apart, one-zone
                                       this plan  at best  random tokens  virtual nodes
  arcs with two copies in one zone             0        0              –            147
  largest load, of the fair share          1.359    1.359          2.605          2.541
  highest utilisation                     0.9516        –              –              –
  overloaded nodes                             1        –              –              –
  sets of nodes that hold a key group          6        –              –              5
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n4    b     0        0.095         0.9809  68.7%                 3     1,310,720  n6
  n6    c     0.25    0.1317          1.359  95.2%                 3     1,310,720  n1
  n1    a     0.5    0.09333         0.9637  67.5%                 2       786,432  n3
  n3    b     0.625    0.075         0.7744  54.2%                 1       524,288  n2
  n2    a     0.75   0.09444         0.9751  68.3%                 2       786,432  n5
  n5    c     0.875  0.09167         0.9465  66.3%                 1       524,288  n4
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n3, n5, n6
  something is lost by             6 sets of 2 nodes
  and by whole zones               no single one, 3 sets of 2
  after one failure is taken over  after n3: the loss of 1 zone loses something, 1 arc with two copies in one zone
  loss within one repair window    1 in 83,100,000,000 (1.203e-11; exact; a window of 11.25 s)
  lost on average in one           1.086e-05 bytes
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n1, n6                              3     1,310,720   0.1317  1 in 483,000,000,000
  n4, n6                              3     1,310,720    0.095  1 in 483,000,000,000
  n2, n5                              2       786,432  0.09444  1 in 483,000,000,000
  n1, n3                              2       786,432  0.09333  1 in 483,000,000,000
  n4, n5                              1       524,288  0.09167  1 in 483,000,000,000
  zones a, c                          5     2,097,152   0.2261  –
  zones b, c                          4     1,835,008   0.1867  –
  zones a, b                          3     1,310,720   0.1683  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  longest until served again, s                19.55 (n6)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  11.25 (n1)
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. All copies of a key group lie in different zones.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: warning: above 0.85 of their capacity: n6; another node (--add) would relieve them, if capacity is as assumed (--capacity-per-core states it) [OVERLOADED]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s -o ring.json -q --detailed-exitcode
  $ ftplan verify ring.json --strict
  {
    "not_recomputed": [
      "bound",
      "summary.levels.bytes.bound",
      "summary.levels.largest_load.bound",
      "summary.levels.zone_losses.bound",
      "summary.levels.zone_violations.bound",
      "summary.out_of_room",
      "summary.random",
      "summary.virtual_nodes"
    ],
    "not_stated": [],
    "rules": [
      "replication",
      "tokens",
      "zones-apart",
      "one-zone"
    ],
    "taken_as_stated": [
      "algorithm",
      "options",
      "tool_version",
      "warnings"
    ],
    "unchecked": [],
    "valid": true,
    "violations": [],
    "warnings": []
  }
  $ ftplan evaluate ring.json --format table --fail-under survival=0.99
  metric                   value  better  unit
  largest-load             1.359  low     share
  zone-violations              0  low     arcs
  survival                     1  high    probability
  loss-probability     1.203e-11  low     probability
  expected-lost-bytes  1.086e-05  low     bytes
  best-case                    3  high    nodes
  fatal-zones                  2  high    zones
  copysets                     6  low     sets
  moved-bytes                  –  low     bytes
  memory-bytes                 –  low     bytes
  lost-groups                  0  low     key groups
  lost-bytes                   0  low     bytes
  rereplicate-bytes            0  low     bytes
  ready-s                      0  low     s
  caught-up-s                  0  low     s
  highest-utilisation     0.9516  low     share
  overloaded-nodes             1  low     nodes
  $ ftplan evaluate ring.json --format table --fail-under loss-probability=1e-12
  metric                   value  better  unit
  largest-load             1.359  low     share
  zone-violations              0  low     arcs
  survival                     1  high    probability
  loss-probability     1.203e-11  low     probability
  expected-lost-bytes  1.086e-05  low     bytes
  best-case                    3  high    nodes
  fatal-zones                  2  high    zones
  copysets                     6  low     sets
  moved-bytes                  –  low     bytes
  memory-bytes                 –  low     bytes
  lost-groups                  0  low     key groups
  lost-bytes                   0  low     bytes
  rereplicate-bytes            0  low     bytes
  ready-s                      0  low     s
  caught-up-s                  0  low     s
  highest-utilisation     0.9516  low     share
  overloaded-nodes             1  low     nodes
  2> ftplan: loss-probability is 1.20309e-11, above the limit 1e-12
  [1]
  $ ftplan explain ring.json node:n3 --format table
  node:n3: owns 1 key group, 0.7744 of its fair share of load
  token  key groups   load  state, bytes  backups
  0.625           1  0.075       524,288  n2
  node:n3: where it could stand
  token  node  load of the node  neighbour  load of the neighbour  largest load  chosen  ruled out by  limit  would be
  0.625  n3               0.075  n1                       0.09333         1.359  yes                –      –         –
  it is used to 54.2%, where 85.0% is an overload
  if it fails, n2 takes over and is ready after 10.44 s, and never catches up: it needs help
  its token has no other place between its neighbours
  $ ftplan explain ring.json key-group:sessions/3 --format table
  key-group:sessions/3: belongs to n6, with copies on n1
  holds     node  zone  token  load of its arc over the fair share  failure probability
  owner     n6    c      0.25                                1.359                 0.01
  backup 1  n1    a       0.5                               0.9637                 0.01
  key-group:sessions/3: where it could stand
  token  node  load of the node  neighbour  load of the neighbour  largest load  chosen  ruled out by  limit  would be
  0.375  n1              0.1517  n6                       0.07333         1.566  no      largest load  1.359     1.566
    0.5  n1             0.09333  n6                        0.1317         1.359  yes     –                 –         –
  it is at 0.375 on the ring, and n6 has the largest token up to there, 0.25; load 0.0583333 per second, state 524,288 bytes
  copies are on the next nodes clockwise: they get its records too, and take over without a transfer
  these 2 nodes are in different zones
  if n6 fails, n1 goes on from its copy
  the other place of its token would be worse
  $ ftplan export-plan ring.json --to kafka-streams -q
  # From a peer ring by auto (optimal).
  # ENGINE_LIMITS: kafka-streams cannot be told tokens, which instance runs which task, who its standbys are, nor
  #   that only neighbours are: it assigns tasks itself, by their number
  # All instances:
  num.standby.replicas=1
  rack.aware.assignment.tags=zone
  # Each instance, by its node:
  # n1: client.tag.zone=a
  # n2: client.tag.zone=a
  # n3: client.tag.zone=b
  # n4: client.tag.zone=b
  # n5: client.tag.zone=c
  # n6: client.tag.zone=c
  $ ftplan export-plan ring.json --to csv -q
  node,backups,key_groups,load,state_bytes,token,zone
  n4,n6,3,0.095,1310720.0,0.0,b
  n6,n1,3,0.131666666667,1310720.0,0.25,c
  n1,n3,2,0.0933333333333,786432.0,0.5,a
  n3,n2,1,0.075,524288.0,0.625,b
  n2,n5,2,0.0944444444444,786432.0,0.75,a
  n5,n4,1,0.0916666666667,524288.0,0.875,c

As the paper does it, and as is usual.

  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --algorithm paper --format table
  peer ring
  algorithm                 paper
  status                    feasible; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  nodes                     6
  copies of each key group  2
  rules                     replication, tokens
                                       this plan  at best  random tokens  virtual nodes
  arcs with two copies in one zone             3        0              –            147
  largest load, of the fair share          1.359    1.359          2.605          2.541
  highest utilisation                     0.9516        –              –              –
  overloaded nodes                             1        –              –              –
  sets of nodes that hold a key group          6        –              –              5
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n4    b     0        0.095         0.9809  68.7%                 3     1,310,720  n5
  n5    c     0.25    0.1317          1.359  95.2%                 3     1,310,720  n6
  n6    c     0.5    0.09333         0.9637  67.5%                 2       786,432  n2
  n2    a     0.625    0.075         0.7744  54.2%                 1       524,288  n1
  n1    a     0.75   0.09444         0.9751  68.3%                 2       786,432  n3
  n3    b     0.875  0.09167         0.9465  66.3%                 1       524,288  n4
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n2, n3, n5
  something is lost by             6 sets of 2 nodes
  and by whole zones               c, b, a alone
  after one failure is taken over  as before, whichever node it was
  loss within one repair window    1 in 2,560,000 (3.908e-07; exact; a window of 11.25 s)
  lost on average in one           0.3074 bytes
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n5, n6                              3     1,310,720   0.1317  1 in 7,680,000
  n4, n5                              3     1,310,720    0.095  1 in 483,000,000,000
  n1, n3                              2       786,432  0.09444  1 in 483,000,000,000
  n2, n6                              2       786,432  0.09333  1 in 483,000,000,000
  n3, n4                              1       524,288  0.09167  1 in 7,680,000
  zone c                              3     1,310,720   0.1317  –
  zone b                              1       524,288  0.09167  –
  zone a                              1       524,288    0.075  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  longest until served again, s                19.55 (n5)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  11.25 (n4)
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. 3 arcs of 6 have two copies in one zone; one zone alone destroys 3 of them.
  2> ftplan: warning: neighbours still moved load after 120 moves: the ring is the most even one until then [NEGOTIATION_ENDED]
  2> ftplan: warning: above 0.85 of their capacity: n5; another node (--add) would relieve them, if capacity is as assumed (--capacity-per-core states it) [OVERLOADED]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --algorithm virtual-nodes --tokens 4 --format table
  peer ring
  algorithm                 virtual-nodes
  status                    feasible; 1 assumption
  largest-load (min)        2.472
  proven bound              1.153
  gap                       53.3643%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  nodes                     6 with 24 tokens
  copies of each key group  2
  rules                     replication
                                       this plan  at best  random tokens  virtual nodes
  arcs with two copies in one zone             2        –              –              2
  largest load, of the fair share          2.472    1.153          2.605          2.472
  highest utilisation                      1.731        –              –              –
  overloaded nodes                             3        –              –              –
  sets of nodes that hold a key group          7        –              –              7
  node  zone  tokens   load/s  of fair share  utilisation  key groups  state, bytes
  n1    a          4    0.135          1.394  97.6%                 3     1,310,720
  n2    a          4        0              0  0.0%                  0             0
  n3    b          4   0.1333          1.377  96.4%                 2     1,048,576
  n4    b          4   0.2394          2.472  173.1%                5     2,097,152
  n5    c          4        0              0  0.0%                  0             0
  n6    c          4  0.07333         0.7572  53.0%                 2       786,432
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     2 nodes, such as n5, n6
  something is lost by             7 sets of 2 nodes
  and by whole zones               b alone
  after one failure is taken over  after n2: the loss of 1 zone loses something, 5 arcs with two copies in one zone
  loss within one repair window    1 in 7,510,000 (1.332e-07; exact; a window of 11.5 s)
  lost on average in one           0.1396 bytes
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n3, n4                              2     1,048,576   0.1667  1 in 7,510,000
  n2, n4                              2       786,432  0.09444  1 in 462,000,000,000
  n1, n5                              2       786,432  0.09333  1 in 462,000,000,000
  n2, n6                              2       786,432  0.07333  1 in 462,000,000,000
  n4, n6                              2       786,432  0.05333  1 in 462,000,000,000
  zone b                              2     1,048,576   0.1667  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  most memory as a backup, bytes               unknown (n2)
  longest until served again, s                16.85 (n4)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  11.5 (n2)
  6 nodes stand on the ring with 24 tokens in all. The most loaded one has 2.472 times its fair share; at best 1.153. 2 arcs of 24 have two copies in one zone; one zone alone destroys 2 of them.
  2> ftplan: warning: above 0.85 of their capacity: n1, n3, n4; another node (--add) would relieve them, if capacity is as assumed (--capacity-per-core states it) [OVERLOADED]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --algorithm virtual-nodes --tokens 4 -o many.json -q
  $ ftplan verify many.json --format table
  valid; held to: replication
  not recomputed: bound, summary.levels.bytes.bound, summary.levels.largest_load.bound, summary.levels.zone_losses.bound, summary.levels.zone_violations.bound, summary.out_of_room, summary.random, summary.virtual_nodes
  taken as stated: algorithm, options, tool_version, warnings
  not stated: rules.tokens, rules.zones-apart, rules.one-zone
  $ ftplan diff many.json ring.json --format table
  key group             what     from  to
  key-group:alerts/1    backups  n2    n1
  key-group:alerts/2    backups  n5    n3
  key-group:alerts/3    owner    n4    n2
  key-group:alerts/3    backups  n2    n5
  key-group:sessions/1  owner    n1    n4
  key-group:sessions/1  backups  n3    n6
  key-group:sessions/2  backups  n2    n1
  key-group:sessions/3  owner    n3    n6
  key-group:sessions/3  backups  n5    n1
  key-group:sessions/4  backups  n5    n3
  key-group:sessions/5  backups  n4    n2
  key-group:sessions/6  owner    n4    n2
  key-group:sessions/6  backups  n2    n5
  key-group:sessions/7  owner    n4    n5
  key-group:sessions/7  backups  n3    n4
                                           before      after
  largest load, of the fair share           2.472      1.359
  arcs with two copies in one zone              2          0
  highest utilisation                       1.731     0.9516
  overloaded nodes                              3          1
  tokens                                       24          6
  sets of nodes that hold a key group           7          6
  best case                                     2          3
  fatal zones                                   1          2
  survival                             0.99999987          1
  loss probability                      1.332e-07  1.203e-11
  option  from   to
  tokens     4  100
  10 of 12 key groups change; largest-load: 2.47227533461 -> 1.35946462715
