What is asked of a ring that is not there.

  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --add n6
  2> ftplan: --add changes a ring in place: give its plan by --current
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --rebalance
  2> ftplan: --rebalance changes a ring in place: give its plan by --current
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --max-bytes 1GB
  2> ftplan: --max-bytes changes a ring in place: give its plan by --current
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --current nowhere.json
  2> ftplan: nowhere.json: no such file
  [2]
  $ ftplan drain-schedule -t topology.yaml -c cluster.yaml --algorithm greedy -o rounds.json -q
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --current rounds.json
  2> ftplan: rounds.json: --current needs a plan of kind peer-ring, not drain-schedule
  [2]

Nodes that are not there, or where they are asked to be already.

  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --remove n6 -o ring.json -q
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --current ring.json --add n9
  2> ftplan: --add: unknown node 'n9'; a node that joins has to be in the cluster file: add it there
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --current ring.json --add n1
  2> ftplan: --add: n1 is on the ring in place already
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --current ring.json --remove n6
  2> ftplan: --remove: n6 is not on the ring in place
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --current ring.json --add n6 --remove n6
  2> ftplan: --add and --remove both name n6
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --current ring.json --add n6 --rebalance
  2> ftplan: --rebalance keeps the nodes of the ring, and --add changes them: give one of them
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --remove zone:a --remove zone:b --remove zone:c
  2> ftplan: no node is left for the ring: it needs nodes with cpu that take tasks and checkpoints
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --remove operator:sessions
  2> ftplan: --remove: operator:sessions names no nodes: give node ids, node:ID or zone:ID
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --tier n9
  2> ftplan: --tier: unknown node 'n9'
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --fail operator:sessions
  2> ftplan: --fail: operator:sessions is no part of a ring: what fails there is node:ID or zone:ID
  [2]
  $ sed "/id: n5/d; /^placement/,\$d" cluster.yaml > without.yaml
  $ ftplan peer-ring -t topology.yaml -c without.yaml -s stats --current ring.json
  2> ftplan: ring.json: plan.ring[3]: unknown node 'n5'; keep it in the cluster file and say --fail node:n5 if it is dead, --remove node:n5 if it leaves
  [2]

Numbers that cannot be.

  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --replication 6
  2> ftplan: a ring of 6 nodes has room for 5 backups of each key group, not 6: owner and backups are different nodes; give --replication 5 at most
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --replication -1
  2> ftplan: peer-ring: Invalid value for '--replication': -1 is not in the range 0<=x<=1000.
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --target-load 0.5
  2> ftplan: peer-ring: Invalid value for '--target-load': '0.5' is not between 1 and inf
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --tokens 0
  2> ftplan: peer-ring: Invalid value for '--tokens': 0 is not in the range 1<=x<=100000.
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --operator joins
  2> ftplan: --operator: unknown operator 'joins'
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --operator clicks
  2> ftplan: --operator: 'clicks' has no key groups in the topology
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --demand p101
  2> ftplan: --demand: 'p101' is not mean, a percentile such as p95, or last:N
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml --load bytes
  2> ftplan: --load bytes is measured: give --stats
  [2]
  $ ftplan peer-ring -t topology.yaml
  2> ftplan: peer-ring: --cluster is missing: give it, or name it under [inputs] in ftplan.toml; `ftplan import-topology SOURCE --from ENGINE -o topology.yaml --cluster-output cluster.yaml` makes it
  [2]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --algorithm virtual-nodes --current ring.json --rebalance
  2> ftplan: --rebalance True: virtual-nodes does not plan for it: use one of exact, paper, auto
  [2]

More nodes than places.

  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --operator alerts --format table
  peer ring
  algorithm     auto
  status        infeasible; 3 assumptions
  assumed       no operator states checkpoint.interval_s: 10 s is taken; give --interval [INTERVAL_UNKNOWN]
  assumed       no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  assumed       a core does 0.004828 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  reason        6 nodes on the ring, but key groups at 4 places only: each node needs one of its own
  limit         key-groups
  current       4
  needed        6
  smallest fix  --remove n1 --remove n2
  rules         replication
  2> ftplan: algorithm: auto (the default; exact proves the optimum)
  2> ftplan: warning: no operator states checkpoint.interval_s: 10 s is taken; give --interval [INTERVAL_UNKNOWN]
  2> ftplan: warning: no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  2> ftplan: assumed: a core does 0.004828 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  2> ftplan: no plan: 6 nodes on the ring, but key groups at 4 places only: each node needs one of its own
  2> ftplan: smallest fix: --remove n1 --remove n2
  [1]
  $ ftplan peer-ring -t topology.yaml -c cluster.yaml -s stats --operator alerts --remove n5 --remove n6 --format table
  peer ring
  algorithm                 auto
  status                    optimal for these inputs; 3 assumptions
  largest-load (min)        1.315
  proven bound              1.315
  gap                       0.0000%
  assumed                   no operator states checkpoint.interval_s: 10 s is taken; give --interval [INTERVAL_UNKNOWN]
  assumed                   no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  assumed                   a core does 0.007242 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
  nodes                     4
  copies of each key group  2
  rules                     replication, tokens, zones-apart, one-zone
                                       this plan  at best  random tokens  virtual nodes
  arcs with two copies in one zone             0        0              –            159
  largest load, of the fair share          1.315    1.315          1.978          2.137
  highest utilisation                     0.9205        –              –              –
  overloaded nodes                             1        –              –              –
  sets of nodes that hold a key group          4        –              –              3
  node  zone  token   load/s  of fair share  utilisation  key groups  state, bytes  copies on
  n2    a     0         0.02         0.9863  69.0%                 1       262,144  n4
  n4    b     0.25   0.02333          1.151  80.5%                 1       262,144  n1
  n1    a     0.5    0.02667          1.315  92.1%                 1       262,144  n3
  n3    b     0.75   0.01111         0.5479  38.4%                 1       262,144  n2
  when nodes fail together
  nothing is lost with             any 1 node
  at best with                     2 nodes, such as n3, n4
  something is lost by             4 sets of 2 nodes
  and by whole zones               no single one, 1 set of 2
  after one failure is taken over  after n1: the loss of 1 zone loses something, 1 arc with two copies in one zone
  heaviest losses: all fail  key groups  state, bytes   load/s  probability
  n1, n3                              1       262,144  0.02667  –
  n1, n4                              1       262,144  0.02333  –
  n2, n4                              1       262,144     0.02  –
  n2, n3                              1       262,144  0.01111  –
  zones a, b                          4     1,048,576  0.08111  –
  estimates
  between checkpoints, s                       10
  share of the state in one, at most           0.2028
  detection, s                                 10
  backups keep older records for, s            0.03
  input, records/s                             0.08111
  checkpoints, bytes/s                         21,263
  longest until served again, s                19.23 (n1)
  longest mean time until caught up, s         never (n1)
  longest until all copies are there again, s  10 (n1)
  4 nodes stand on the ring. The most loaded one has 1.315 times its fair share; none can do better. All copies of a key group lie in different zones.
  2> ftplan: algorithm: auto (the default)
  2> ftplan: warning: no operator states checkpoint.interval_s: 10 s is taken; give --interval [INTERVAL_UNKNOWN]
  2> ftplan: warning: no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  2> ftplan: warning: above 0.85 of their capacity: n1; another node (--add) would relieve them, if capacity is as assumed (--capacity-per-core states it) [OVERLOADED]
  2> ftplan: assumed: a core does 0.007242 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]

Rings made by hand.

  $ printf '%s\n' 'format: ftplan/plan' 'format_version: "1.0"' 'kind: peer-ring' 'plan: {ring: [{node: n1, token: 0}, {node: n3, token: 0.333333333333}, {node: n5, token: 0.5}]}' > hand.yaml
  $ ftplan verify hand.yaml -t topology.yaml -c cluster.yaml --format table
  valid; held to: replication
  not stated: algorithm, inputs, objective, options, rules, status, summary
  $ sed 's/n5/n4/; s/0.5/0.25/' hand.yaml > wrong.yaml
  $ ftplan verify wrong.yaml -t topology.yaml -c cluster.yaml --strict --format table
  valid; held to: replication
  not stated: algorithm, inputs, objective, options, rules, status, summary
  $ sed 's/n5/n9/' hand.yaml > wrong.yaml
  $ ftplan verify wrong.yaml -t topology.yaml -c cluster.yaml --format table
  code          where    what
  UNKNOWN_NODE  node:n9  ring[2]: the cluster has no node 'n9'
  1 violation(s); held to: replication
  not stated: algorithm, inputs, objective, options, rules, status, summary
  2> ftplan: wrong.yaml: UNKNOWN_NODE: ring[2]: the cluster has no node 'n9'
  [1]
  $ sed 's/token: 0.5/token: 1.5/' hand.yaml > wrong.yaml
  $ ftplan verify wrong.yaml -t topology.yaml -c cluster.yaml --format table
  2> ftplan: wrong.yaml: plan.ring[2].token: must be less than 1, got 1.5
  [2]
