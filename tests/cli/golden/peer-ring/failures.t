What a failure does to the ring: who takes over, and what is lost.

  $ sed -i 's/, zone: \([abc]\)}/, zone: \1, failure_probability: 0.01}/' cluster.yaml
  $ printf 'network: {bandwidth_mb_s: 1, delay_s: 0.001}\n' >> cluster.yaml
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s -o ring.json -q
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current ring.json --fail zone:b --format table
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason                    the ring stays as it is
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
  n4    b     0        0.095         0.9809  68.7%                 3     1,310,720  n6
  n6    c     0.25    0.1317          1.359  95.2%                 3     1,310,720  n1
  n1    a     0.5    0.09333         0.9637  67.5%                 2       786,432  n3
  n3    b     0.625    0.075         0.7744  54.2%                 1       524,288  n2
  n2    a     0.75   0.09444         0.9751  68.3%                 2       786,432  n5
  n5    c     0.875  0.09167         0.9465  66.3%                 1       524,288  n4
  event    ranges  to take over, bytes  transferred  copied again  records replayed
  failure       4                    0            0     3,145,728             1.705
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n3, n5, n6
  something is lost by             6 sets of 2 nodes
  and by whole zones               no single one, 3 sets of 2
  after one failure is taken over  after n3: the loss of 1 zone loses something, 1 arc with two copies in one zone
  loss within one repair window    1 in 97,300,000,000 (1.028e-11; exact; a window of 11.25 s)
  lost on average in one           8.979e-06 bytes
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n1, n6                              3     1,310,720   0.1317  1 in 584,000,000,000
  n4, n6                              3     1,310,720    0.095  1 in 584,000,000,000
  n2, n5                              2       786,432  0.09444  1 in 584,000,000,000
  n1, n3                              2       786,432  0.09333  1 in 584,000,000,000
  n4, n5                              1       524,288  0.09167  1 in 584,000,000,000
  zones a, c                          5     2,097,152   0.2261  –
  zones b, c                          4     1,835,008   0.1867  –
  zones a, b                          3     1,310,720   0.1683  –
  after the failure  takes over from  key groups  utilisation  served again, s  caught up, s  records replayed  state sent, bytes  copies sent to it  all there, s
  n1                 –                         0  67.5%        –                –                            0                  0          1,310,720  11.25
  n2                 n3                        1  122.5%       10.44            never                   0.7522                  0            786,432  10.75         overloaded: n5 takes half
  n5                 –                         0  66.3%        –                –                            0                  0            524,288  10.5
  n6                 n4                        3  163.8%       11.89            never                   0.9528                  0            524,288  10.5          overloaded: n1 takes half
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
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. All copies of a key group lie in different zones. If n3, n4 fail, nothing is lost.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: warning: above 0.85 of their capacity: n6; another node (--add) would relieve them, if capacity is as assumed (--capacity-per-core states it) [OVERLOADED]
  2> ftplan: assumed: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current ring.json --fail node:n2 --fail node:n3 --fail node:n4 --format table -q
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason                    the ring stays as it is
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
  n4    b     0        0.095         0.9809  68.7%                 3     1,310,720  n6
  n6    c     0.25    0.1317          1.359  95.2%                 3     1,310,720  n1
  n1    a     0.5    0.09333         0.9637  67.5%                 2       786,432  n3
  n3    b     0.625    0.075         0.7744  54.2%                 1       524,288  n2
  n2    a     0.75   0.09444         0.9751  68.3%                 2       786,432  n5
  n5    c     0.875  0.09167         0.9465  66.3%                 1       524,288  n4
  event    ranges  to take over, bytes  transferred  copied again  records replayed
  failure       5                    0            0     3,407,872               1.9
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     3 nodes, such as n3, n5, n6
  something is lost by             6 sets of 2 nodes
  and by whole zones               no single one, 3 sets of 2
  after one failure is taken over  after n3: the loss of 1 zone loses something, 1 arc with two copies in one zone
  loss within one repair window    1 in 97,300,000,000 (1.028e-11; exact; a window of 11.25 s)
  lost on average in one           8.979e-06 bytes
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n1, n6                              3     1,310,720   0.1317  1 in 584,000,000,000
  n4, n6                              3     1,310,720    0.095  1 in 584,000,000,000
  n2, n5                              2       786,432  0.09444  1 in 584,000,000,000
  n1, n3                              2       786,432  0.09333  1 in 584,000,000,000
  n4, n5                              1       524,288  0.09167  1 in 584,000,000,000
  zones a, c                          5     2,097,152   0.2261  –
  zones b, c                          4     1,835,008   0.1867  –
  zones a, b                          3     1,310,720   0.1683  –
  after the failure  takes over from  key groups  utilisation  served again, s  caught up, s  records replayed  state sent, bytes  copies sent to it  all there, s
  n1                 –                         0  67.5%        –                –                            0                  0          1,310,720  11.25
  n5                 n3, n2                    2  188.7%       11.85            never                   0.9473                  0            786,432  10.75         overloaded: n6 takes half, since n1 has room
  n6                 n4                        3  163.8%       11.89            never                   0.9528                  0          1,310,720  11.25         overloaded: n1 takes half
  lost by the failure  of  state, bytes  load/s
  sessions/5           n3       524,288   0.075
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
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. All copies of a key group lie in different zones. If n2, n3, n4 fail, 1 key group is lost.
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --current ring.json --fail zone:b -o failed.json -q
  $ ftplan verify failed.json --strict
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
      "reason",
      "tool_version",
      "warnings"
    ],
    "unchecked": [],
    "valid": true,
    "violations": [],
    "warnings": []
  }
  $ ftplan evaluate ring.json --fail zone:b --format table
  failed: zone:b
  metric                   value  better  unit
  largest-load             1.359  low     share
  zone-violations              0  low     arcs
  survival                     1  high    probability
  loss-probability     1.028e-11  low     probability
  expected-lost-bytes  8.979e-06  low     bytes
  best-case                    3  high    nodes
  fatal-zones                  2  high    zones
  copysets                     6  low     sets
  moved-bytes                  –  low     bytes
  memory-bytes                 –  low     bytes
  lost-groups                  0  low     key groups
  lost-bytes                   0  low     bytes
  rereplicate-bytes    3,145,728  low     bytes
  ready-s                  11.89  low     s
  caught-up-s                  –  low     s
  highest-utilisation      1.638  low     share
  overloaded-nodes             2  low     nodes

The last copy lies on nodes of another kind.

  $ sed -i 's/^placement:/  - {id: vault-1, cpu: 1, zone: vault, accepts: [checkpoints], failure_probability: 0.01}\n  - {id: vault-2, cpu: 1, zone: vault, accepts: [checkpoints], failure_probability: 0.01}\nplacement:/' cluster.yaml
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --replication 2 --tier zone:vault --format table -q
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 1 assumption
  largest-load (min)        1.359
  proven bound              1.359
  gap                       0.0000%
  assumed                   a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  nodes                     6
  copies of each key group  3
  rules                     replication, tokens, zones-apart, one-zone
                                       this plan  at best  random tokens  virtual nodes
  arcs that one zone destroys                  0        0              –              0
  arcs with two copies in one zone             0        0              –            147
  largest load, of the fair share          1.359    1.359          2.605          2.541
  highest utilisation                     0.9516        –              –              –
  overloaded nodes                             1        –              –              –
  sets of nodes that hold a key group          6        –              –              7
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n4    b     0        0.095         0.9809  68.7%                 3     1,310,720  n6, vault-1
  n6    c     0.25    0.1317          1.359  95.2%                 3     1,310,720  n1, vault-1
  n1    a     0.5    0.09333         0.9637  67.5%                 2       786,432  n3, vault-2
  n3    b     0.625    0.075         0.7744  54.2%                 1       524,288  n5, vault-2
  n5    c     0.75   0.09444         0.9751  68.3%                 2       786,432  n2, vault-2
  n2    a     0.875  0.09167         0.9465  66.3%                 1       524,288  n4, vault-2
  when nodes fail together         with the tier                                         without the tier
  nothing is lost with             any 2 nodes                                           any 2 nodes
  at best with                     6 nodes, such as n1, n2, n3, n4, n5, vault-1          4 nodes, such as n1, n2, n5, n6
  something is lost by             6 sets of 3 nodes                                     6 sets of 3 nodes
  and by whole zones               no single one, 3 sets of 3                            no single one, 1 set of 3
  after one failure is taken over  as before, whichever node it was                      after n1: the loss of 2 zones loses something, 2 arcs with two copies in one zone
  loss within one repair window    1 in 5.42e+16 (1.845e-17; exact; a window of 12.5 s)  1 in 7.44e+16 (1.345e-17; exact; a window of 11.25 s)
  lost on average in one           1.612e-11 bytes                                       1.175e-11 bytes
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n1, n6, vault-1                     3     1,310,720   0.1317  1 in 3.25e+17
  n4, n6, vault-1                     3     1,310,720    0.095  1 in 3.25e+17
  n2, n5, vault-2                     2       786,432  0.09444  1 in 3.25e+17
  n1, n3, vault-2                     2       786,432  0.09333  1 in 3.25e+17
  n2, n4, vault-2                     1       524,288  0.09167  1 in 3.25e+17
  zones a, c, vault                   5     2,097,152   0.2261  –
  zones b, c, vault                   4     1,835,008     0.17  –
  zones a, b, vault                   3     1,310,720    0.185  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.4923
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.5811
  checkpoints, bytes/s                         516,193
  longest until served again, s                19.55 (n6)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  12.5 (vault-1)
  6 nodes stand on the ring. The most loaded one has 1.359 times its fair share; none can do better. All copies of a key group lie in different zones.
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --interval 10s --replication 2 --tier zone:vault -o tiered.json -q
  $ ftplan verify tiered.json --strict
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
