How many copies, and which of the nodes may go: a sweep over rings.

  $ sed -i 's/, zone: \([abc]\)}/, zone: \1, failure_probability: 0.01}/' cluster.yaml
  $ printf '%s\n' \
  >   'format: ftplan/what-if' 'format_version: "1.0"' 'name: rings' \
  >   'inputs: {topology: topology.yaml, cluster: cluster.yaml, stats: stats}' \
  >   'run: {command: peer-ring, options: {interval: 10, iterations: 100}}' \
  >   'measures: [objective, survival, zone-violations, copysets]' \
  >   'cases: [{id: virtual-nodes, algorithm: virtual-nodes}, {id: too-many-copies, options: {replication: 9}}]' \
  >   'grid: [{options: {replication: [0, 1, 2]}}, {remove: [node:n6, [node:n5, node:n6]]}]' > what-if.yaml
  $ ftplan what-if what-if.yaml --jobs 1 --format table
  rings
  case                                   replication  remove            status    algorithm      objective   survival  zone-violations  copysets     gap  delta_objective  delta_survival  delta_zone-violations  delta_copysets  reason
  base                                             –  –                 optimal   auto               1.359          1                0         6       0                0               0                      0               0  –
  virtual-nodes                                    –  –                 feasible  virtual-nodes      2.541          1              147         5  0.5463            1.182       1.000e-12                    147              -1  –
  too-many-copies                                  –  –                 error     –                      –          –                –         –       –                –               –                      –               –  a ring of 6 nodes has room for 5 backups of each key group, not 9: owner and ba…
  replication=0 remove=node:n6                     0  node:n6           optimal   auto               1.305  0.9999942                0         5       0         -0.05449      -5.823e-06                      0              -1  –
  replication=0 remove=node:n5, node:n6            0  node:n5, node:n6  optimal   auto               1.166  0.9999953                0         4       0          -0.1931      -4.659e-06                      0              -2  –
  replication=1 remove=node:n6                     1  node:n6           optimal   auto               1.305          1                0         5       0         -0.05449       1.000e-12                      0              -1  –
  replication=1 remove=node:n5, node:n6            1  node:n5, node:n6  optimal   auto               1.166          1                0         4       0          -0.1931       3.000e-12                      0              -2  –
  replication=2 remove=node:n6                     2  node:n6           optimal   auto               1.305          1                2         5       0         -0.05449       8.000e-12                      2              -1  –
  replication=2 remove=node:n5, node:n6            2  node:n5, node:n6  optimal   auto               1.166          1                4         4       0          -0.1931       8.000e-12                      4              -2  –
         case                                   objective
  best   replication=0 remove=node:n5, node:n6      1.166
  worst  virtual-nodes                              2.541
  measure          values        min        p10        p25  median    p75    p90    max       mean
  objective             7      1.166      1.166      1.166   1.305  1.305  1.799  2.541      1.422
  survival              7  0.9999942  0.9999949  0.9999977       1      1      1      1  0.9999985
  zone-violations       7          0          0          0       0      3   61.2    147      21.86
  copysets              7          4          4          4       5      5      5      5      4.571
  1 of 9 cases failed, first too-many-copies: a ring of 6 nodes has room for 5 backups of each key group, not 9: owner and backups are different nodes; give --replication 5 at most
  2> ftplan: warning: 8 of 9 cases, first base: no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  2> ftplan: warning: 5 of 9 cases, first base: above 0.85 of their capacity: n6; another node (--add) would relieve them, if capacity is as assumed (--capacity-per-core states it) [OVERLOADED]
  2> ftplan: assumed: 8 of 9 cases, first base: no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  2> ftplan: assumed: 8 of 9 cases, first base: a core does 0.03459 units of load per second, by which nodes are 70% busy on average; --capacity-per-core says [CAPACITY_ASSUMED]
