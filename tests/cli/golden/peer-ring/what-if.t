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
  base                                             –  –                 optimal   exact              1.359     0.9994                0         6       0                0               0                      0               0  –
  virtual-nodes                                    –  –                 feasible  virtual-nodes      2.541     0.9995              147         5  0.5463            1.182       9.995e-05                    147              -1  –
  too-many-copies                                  –  –                 error     –                      –          –                –         –       –                –               –                      –               –  a ring of 6 nodes has room for 5 backups of each key group, not 9: owner and ba…
  replication=0 remove=node:n6                     0  node:n6           optimal   exact              1.305      0.951                0         5       0         -0.05449        -0.04842                      0              -1  –
  replication=0 remove=node:n5, node:n6            0  node:n5, node:n6  optimal   exact              1.166     0.9606                0         4       0          -0.1931        -0.03881                      0              -2  –
  replication=1 remove=node:n6                     1  node:n6           optimal   exact              1.305     0.9995                0         5       0         -0.05449       9.897e-05                      0              -1  –
  replication=1 remove=node:n5, node:n6            1  node:n5, node:n6  optimal   exact              1.166     0.9996                0         4       0          -0.1931        0.000198                      0              -2  –
  replication=2 remove=node:n6                     2  node:n6           optimal   exact              1.305  0.9999950                2         5       0         -0.05449        0.000589                      2              -1  –
  replication=2 remove=node:n5, node:n6            2  node:n5, node:n6  optimal   exact              1.166  0.9999960                4         4       0          -0.1931         0.00059                      4              -2  –
         case                                   objective
  best   replication=0 remove=node:n5, node:n6      1.166
  worst  virtual-nodes                              2.541
  measure          values    min     p10     p25  median     p75        p90        max    mean
  objective             7  1.166   1.166   1.166   1.305   1.305      1.799      2.541   1.422
  survival              7  0.951  0.9568  0.9801  0.9995  0.9998  0.9999954  0.9999960  0.9872
  zone-violations       7      0       0       0       0       3       61.2        147   21.86
  copysets              7      4       4       4       5       5          5          5   4.571
  1 of 9 cases failed, first too-many-copies: a ring of 6 nodes has room for 5 backups of each key group, not 9: owner and backups are different nodes; give --replication 5 at most
  2> ftplan: warning: 8 of 9 cases, first base: no bandwidth is known: 100 MiB/s is taken; give --bandwidth, or network.bandwidth_mb_s in the cluster file [BANDWIDTH_ASSUMED]
  2> ftplan: warning: 5 of 9 cases, first base: above 0.85 of their capacity: n6; another node (--add) would relieve them [OVERLOADED]
