A folder to start from.

  $ ftplan init -o new
  2> ftplan: wrote new/topology.yaml
  2> ftplan: wrote new/cluster.yaml
  2> ftplan: wrote new/ftplan.toml
  2> ftplan: wrote new/orders.csv

Inputs from statistics, which pass their check.

  $ ftplan init --stats stats -o . --force
  2> ftplan: wrote topology.yaml
  2> ftplan: wrote cluster.yaml
  2> ftplan: wrote ftplan.toml
  $ ftplan check topology.yaml cluster.yaml ftplan.toml --format table
  file           kind           holds                                                    warnings
  topology.yaml  topology       2 operators, 8 tasks, 0 edges, 12 key groups, 2 outputs         0
  cluster.yaml   cluster        4 nodes, 2 zones, 8 placed tasks                                0
  ftplan.toml    configuration  3 inputs                                                        0

A project that is there already is left alone, and its statistics are not asked for.

  $ sed -i 's/stats = .*/stats = "none-yet"/' ftplan.toml
  $ ftplan init
  2> ftplan: topology.yaml: exists already; give --force to overwrite it
  [2]
