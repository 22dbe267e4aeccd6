A node joins a ring, and another one leaves it.

  $ sed -i 's/^network:.*//; $a network: {bandwidth_mb_s: 1, delay_s: 0.001}' cluster.yaml
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --remove n6 -o ring.json -q
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current ring.json --add n6 --format table
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.04151 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  nodes                     6
  copies of each key group  2
  rules                     replication, tokens, zones-apart, one-zone
                                       this plan    at best  ring in place  random tokens  virtual nodes
  arcs with two copies in one zone             0          0              0              –            147
  largest load, of the fair share          1.359      1.359          1.305          2.605          2.541
  bytes that travel                    2,359,296  2,359,296              –              –      2,621,440
  highest utilisation                      0.793          –         0.9135              –              –
  overloaded nodes                             0          –              2              –              –
  sets of nodes that hold a key group          6          –              5              –              5
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n6    c     0        0.095         0.9809  57.2%                 3     1,310,720  n4
  n4    b     0.25    0.1317          1.359  79.3%                 3     1,310,720  n1
  n1    a     0.5    0.09333         0.9637  56.2%                 2       786,432  n3
  n3    b     0.625    0.075         0.7744  45.2%                 1       524,288  n5
  n5    c     0.75   0.09444         0.9751  56.9%                 2       786,432  n2
  n2    a     0.875  0.09167         0.9465  55.2%                 1       524,288  n6
  event      ranges  to take over, bytes  transferred  copied again  records replayed
  scale-out       4                    0    1,835,008       524,288            0.7713
  done  step  why        range       from  to     transferred, bytes   copied  records replayed
  [ ]      0  scale-out  0–0.125     n2    n6                786,432        0            0.2683
  [ ]      0  scale-out  0.125–0.25  n4    n6                524,288        0            0.2096
  [ ]      0  scale-out  0.375–0.5   n1    n4                524,288        0            0.2934
  [ ]      0  scale-out  0.875–1     n2    stays                   0  524,288                 0
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n2, n3, n4
  something is lost by             6 sets of 2 nodes
  and by whole zones               no single one, 3 sets of 2
  after one failure is taken over  after n1: the loss of 1 zone loses something, 1 arc with two copies in one zone
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n1, n4                              3     1,310,720   0.1317  –
  n4, n6                              3     1,310,720    0.095  –
  n2, n5                              2       786,432  0.09444  –
  n1, n3                              2       786,432  0.09333  –
  n2, n6                              1       524,288  0.09167  –
  zones a, b                          5     2,097,152    0.225  –
  zones b, c                          4     1,835,008     0.17  –
  zones a, c                          3     1,310,720   0.1861  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  longest until served again, s                17.96 (n4)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  11.25 (n1)
  for a largest load of  bytes that travel
                  1.359          2,359,296
                  1.566          1,310,720
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. All copies of a key group lie in different zones. 2.25 MiB travel.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: assumed: a core does 0.04151 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current ring.json --add n6 -o grown.json -q
  $ ftplan verify grown.json --strict
  {
    "not_recomputed": [
      "bound",
      "summary.front",
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
  $ ftplan diff ring.json grown.json --format table
  key group             what     from  to
  key-group:alerts/0    owner    n2    n6
  key-group:sessions/0  owner    n2    n6
  key-group:sessions/1  owner    n4    n6
  key-group:sessions/1  backups  n1    n4
  key-group:sessions/3  owner    n1    n4
  key-group:sessions/3  backups  n3    n1
  key-group:sessions/7  backups  n4    n6
                                       before      after
  largest load, of the fair share       1.305      1.359
  highest utilisation                  0.9135      0.793
  overloaded nodes                          2          0
  nodes                                     5          6
  tokens                                    5          6
  bytes that travel                         –  2,359,296
  sets of nodes that hold a key group       5          6
  best case                                 2          3
  option   from  to
  add            n6
  current  –     ring.json
  remove   n6
  5 of 12 key groups change; largest-load: 1.30497131931 -> 1.35946462715
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current grown.json --remove n1 --capacity-per-core 0.0346 --overload 1 --format table
  peer ring
  algorithm     auto
  status        infeasible
  reason        the nodes that stay cannot take the load of those that leave within 1 of their capacity
  limit         capacity
  current       1
  needed        1.096
  smallest fix  --overload 1.096, or let fewer of node:n1 leave
  rules         replication, capacity
                                       ring in place
  arcs with two copies in one zone                 0
  largest load, of the fair share              1.359
  highest utilisation                         0.9513
  overloaded nodes                                 0
  sets of nodes that hold a key group              6
  2> ftplan: algorithm: auto (the default; exact proves the optimum)
  2> ftplan: no plan: the nodes that stay cannot take the load of those that leave within 1 of their capacity
  2> ftplan: smallest fix: --overload 1.096, or let fewer of node:n1 leave
  [1]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current grown.json --remove n1 --capacity-per-core 0.0346 --algorithm paper --format table -q
  peer ring
  algorithm     paper
  status        infeasible
  reason        n3 would be used to 1.216 of its capacity, at most 0.85
  limit         capacity
  current       0.85
  needed        1.216
  smallest fix  --overload 1.2163, or keep the nodes that leave, or --add others
  rules         replication, capacity
                                       ring in place
  arcs with two copies in one zone                 0
  largest load, of the fair share              1.359
  highest utilisation                         0.9513
  overloaded nodes                                 1
  sets of nodes that hold a key group              6
  2> ftplan: no plan: n3 would be used to 1.216 of its capacity, at most 0.85
  2> ftplan: smallest fix: --overload 1.2163, or keep the nodes that leave, or --add others
  [1]

Good enough with fewer bytes, and as good as a budget of bytes allows.

  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current ring.json --add n6 --target-load 1.5 --format table -q
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.497
  proven bound              1.497
  gap                       0.0000%
  assumed                   a core does 0.04151 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  nodes                     6
  copies of each key group  2
  rules                     replication, tokens, zones-apart, one-zone, target-load
                                       this plan    at best  ring in place  random tokens  virtual nodes
  arcs with two copies in one zone             0          0              0              –            147
  largest load, of the fair share          1.497      1.497          1.305          2.605          2.541
  bytes that travel                    1,310,720  1,310,720              –              –      2,621,440
  highest utilisation                     0.8733          –         0.9135              –              –
  overloaded nodes                             1          –              2              –              –
  sets of nodes that hold a key group          6          –              5              –              5
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n4    b     0.125    0.115          1.187  69.3%                 3     1,310,720  n1
  n1    a     0.375  0.05833         0.6023  35.1%                 1       524,288  n6
  n6    c     0.5    0.09333         0.9637  56.2%                 2       786,432  n3
  n3    b     0.625    0.075         0.7744  45.2%                 1       524,288  n5
  n5    c     0.75   0.09444         0.9751  56.9%                 2       786,432  n2
  n2    a     0.875    0.145          1.497  87.3%                 3     1,310,720  n4
  event      ranges  to take over, bytes  transferred  copied again  records replayed
  scale-out       2                    0      786,432       524,288            0.4695
  done  step  why        range      from  to     transferred, bytes   copied  records replayed
  [ ]      0  scale-out  0.375–0.5  n1    stays                   0  524,288                 0
  [ ]      0  scale-out  0.5–0.625  n1    n6                786,432        0            0.4695
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n1, n2, n3
  something is lost by             6 sets of 2 nodes
  and by whole zones               no single one, 3 sets of 2
  after one failure is taken over  after n3: the loss of 1 zone loses something, 1 arc with two copies in one zone
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n2, n4                              3     1,310,720    0.145  –
  n1, n4                              3     1,310,720    0.115  –
  n2, n5                              2       786,432  0.09444  –
  n3, n6                              2       786,432  0.09333  –
  n3, n5                              1       524,288    0.075  –
  zones a, b                          6     2,621,440     0.26  –
  zones b, c                          3     1,310,720   0.1683  –
  zones a, c                          3     1,310,720   0.1528  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  longest until served again, s                18.76 (n2)
  longest mean time until caught up, s         never (n2)
  longest until all copies are there again, s  11.25 (n1)
  for a largest load of  bytes that travel
                  1.359          2,883,584
                  1.497          1,310,720
  6 nodes stand on the ring. The most loaded one has 1.497 times its fair share; none that moves as few bytes can do better. All copies of a key group lie in different zones. 1.25 MiB travel.
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current ring.json --add n6 --max-bytes 3MB --format table -q
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.04151 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  nodes                     6
  copies of each key group  2
  rules                     replication, tokens, zones-apart, one-zone, max-bytes
                                       this plan    at best  ring in place  random tokens  virtual nodes
  arcs with two copies in one zone             0          0              0              –            147
  largest load, of the fair share          1.359      1.359          1.305          2.605          2.541
  bytes that travel                    2,359,296  2,359,296              –              –      2,621,440
  highest utilisation                      0.793          –         0.9135              –              –
  overloaded nodes                             0          –              2              –              –
  sets of nodes that hold a key group          6          –              5              –              5
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n6    c     0        0.095         0.9809  57.2%                 3     1,310,720  n4
  n4    b     0.25    0.1317          1.359  79.3%                 3     1,310,720  n1
  n1    a     0.5    0.09333         0.9637  56.2%                 2       786,432  n3
  n3    b     0.625    0.075         0.7744  45.2%                 1       524,288  n5
  n5    c     0.75   0.09444         0.9751  56.9%                 2       786,432  n2
  n2    a     0.875  0.09167         0.9465  55.2%                 1       524,288  n6
  event      ranges  to take over, bytes  transferred  copied again  records replayed
  scale-out       4                    0    1,835,008       524,288            0.7713
  done  step  why        range       from  to     transferred, bytes   copied  records replayed
  [ ]      0  scale-out  0–0.125     n2    n6                786,432        0            0.2683
  [ ]      0  scale-out  0.125–0.25  n4    n6                524,288        0            0.2096
  [ ]      0  scale-out  0.375–0.5   n1    n4                524,288        0            0.2934
  [ ]      0  scale-out  0.875–1     n2    stays                   0  524,288                 0
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n2, n3, n4
  something is lost by             6 sets of 2 nodes
  and by whole zones               no single one, 3 sets of 2
  after one failure is taken over  after n1: the loss of 1 zone loses something, 1 arc with two copies in one zone
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n1, n4                              3     1,310,720   0.1317  –
  n4, n6                              3     1,310,720    0.095  –
  n2, n5                              2       786,432  0.09444  –
  n1, n3                              2       786,432  0.09333  –
  n2, n6                              1       524,288  0.09167  –
  zones a, b                          5     2,097,152    0.225  –
  zones b, c                          4     1,835,008     0.17  –
  zones a, c                          3     1,310,720   0.1861  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  longest until served again, s                17.96 (n4)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  11.25 (n1)
  for a largest load of  bytes that travel
                  1.359          2,359,296
                  1.566          1,310,720
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. All copies of a key group lie in different zones. 2.25 MiB travel.
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current ring.json --add n6 --max-bytes 1KB --format table
  peer ring
  algorithm     auto
  status        infeasible; 1 assumption
  assumed       a core does 0.04151 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason        1.31072e+06 bytes travel at least, and 1000 may
  limit         max-bytes
  current       1,000
  needed        1,310,720
  smallest fix  --max-bytes 1310720
  rules         replication, max-bytes
                                       ring in place
  arcs with two copies in one zone                 0
  largest load, of the fair share              1.305
  highest utilisation                         0.9135
  overloaded nodes                                 2
  sets of nodes that hold a key group              5
  2> ftplan: algorithm: auto (the default; exact proves the optimum)
  2> ftplan: assumed: a core does 0.04151 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: no plan: 1.31072e+06 bytes travel at least, and 1000 may
  2> ftplan: smallest fix: --max-bytes 1310720
  [1]

Load moves between neighbours; the same ring again changes nothing.

  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --algorithm paper --seed 3 -o uneven.json -q
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current uneven.json --rebalance --format table -q
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason                    no change: no ring is better than the one in place
  nodes                     6
  copies of each key group  2
  rules                     replication, tokens, order
                                       this plan  at best  ring in place  random tokens  virtual nodes
  arcs with two copies in one zone             2        2              2              –            147
  largest load, of the fair share          1.359    1.359          1.359          2.605          2.541
  bytes that travel                            0        0              –              –              –
  highest utilisation                     0.9516        –         0.9516              –              –
  overloaded nodes                             1        –              1              –              –
  sets of nodes that hold a key group          6        –              6              –              5
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n2    a     0        0.095         0.9809  68.7%                 3     1,310,720  n5
  n5    c     0.25    0.1317          1.359  95.2%                 3     1,310,720  n3
  n3    b     0.5    0.09333         0.9637  67.5%                 2       786,432  n4
  n4    b     0.625    0.075         0.7744  54.2%                 1       524,288  n6
  n6    c     0.75   0.09444         0.9751  68.3%                 2       786,432  n1
  n1    a     0.875  0.09167         0.9465  66.3%                 1       524,288  n2
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n1, n4, n5
  something is lost by             6 sets of 2 nodes
  and by whole zones               b, a alone
  after one failure is taken over  as before, whichever node it was
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n3, n5                              3     1,310,720   0.1317  –
  n2, n5                              3     1,310,720    0.095  –
  n1, n6                              2       786,432  0.09444  –
  n3, n4                              2       786,432  0.09333  –
  n1, n2                              1       524,288  0.09167  –
  zone b                              2       786,432  0.09333  –
  zone a                              1       524,288  0.09167  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  longest until served again, s                19.55 (n5)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  11.25 (n2)
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. 2 arcs of 6 have two copies in one zone; one zone alone destroys 2 of them.
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current uneven.json --rebalance --algorithm paper --format table -q
  peer ring
  algorithm                 paper
  status                    feasible; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason                    no change: no move of half an arc makes the ring more even
  nodes                     6
  copies of each key group  2
  need another node         n4, n6
  rules                     replication, tokens, order
                                       this plan  at best  ring in place  random tokens  virtual nodes
  arcs with two copies in one zone             2        0              2              –            147
  largest load, of the fair share          1.359    1.359          1.359          2.605          2.541
  bytes that travel                            0        –              –              –              –
  highest utilisation                     0.9516        –         0.9516              –              –
  overloaded nodes                             1        –              1              –              –
  sets of nodes that hold a key group          6        –              6              –              5
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n2    a     0        0.095         0.9809  68.7%                 3     1,310,720  n5
  n5    c     0.25    0.1317          1.359  95.2%                 3     1,310,720  n3
  n3    b     0.5    0.09333         0.9637  67.5%                 2       786,432  n4
  n4    b     0.625    0.075         0.7744  54.2%                 1       524,288  n6
  n6    c     0.75   0.09444         0.9751  68.3%                 2       786,432  n1
  n1    a     0.875  0.09167         0.9465  66.3%                 1       524,288  n2
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n1, n4, n5
  something is lost by             6 sets of 2 nodes
  and by whole zones               b, a alone
  after one failure is taken over  as before, whichever node it was
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n3, n5                              3     1,310,720   0.1317  –
  n2, n5                              3     1,310,720    0.095  –
  n1, n6                              2       786,432  0.09444  –
  n3, n4                              2       786,432  0.09333  –
  n1, n2                              1       524,288  0.09167  –
  zone b                              2       786,432  0.09333  –
  zone a                              1       524,288  0.09167  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  longest until served again, s                19.55 (n5)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  11.25 (n2)
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. 2 arcs of 6 have two copies in one zone; one zone alone destroys 2 of them.
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current grown.json --detailed-exitcode --format table -q
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason                    no change: no ring is better than the one in place
  nodes                     6
  copies of each key group  2
  rules                     replication, tokens, zones-apart, one-zone
                                       this plan  at best  ring in place  random tokens  virtual nodes
  arcs with two copies in one zone             0        0              0              –            147
  largest load, of the fair share          1.359    1.359          1.359          2.605          2.541
  bytes that travel                            0        0              –              –              –
  highest utilisation                     0.9516        –         0.9516              –              –
  overloaded nodes                             1        –              1              –              –
  sets of nodes that hold a key group          6        –              6              –              5
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n6    c     0        0.095         0.9809  68.7%                 3     1,310,720  n4
  n4    b     0.25    0.1317          1.359  95.2%                 3     1,310,720  n1
  n1    a     0.5    0.09333         0.9637  67.5%                 2       786,432  n3
  n3    b     0.625    0.075         0.7744  54.2%                 1       524,288  n5
  n5    c     0.75   0.09444         0.9751  68.3%                 2       786,432  n2
  n2    a     0.875  0.09167         0.9465  66.3%                 1       524,288  n6
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n2, n3, n4
  something is lost by             6 sets of 2 nodes
  and by whole zones               no single one, 3 sets of 2
  after one failure is taken over  after n1: the loss of 1 zone loses something, 1 arc with two copies in one zone
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n1, n4                              3     1,310,720   0.1317  –
  n4, n6                              3     1,310,720    0.095  –
  n2, n5                              2       786,432  0.09444  –
  n1, n3                              2       786,432  0.09333  –
  n2, n6                              1       524,288  0.09167  –
  zones a, b                          5     2,097,152    0.225  –
  zones b, c                          4     1,835,008     0.17  –
  zones a, c                          3     1,310,720   0.1861  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         258,097
  longest until served again, s                19.55 (n4)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  11.25 (n1)
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. All copies of a key group lie in different zones.
