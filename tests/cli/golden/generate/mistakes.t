One line says what is wrong, and nothing is written.

  $ ftplan generate
  2> Usage: ftplan generate [OPTIONS] COMMAND [ARGS]...
  2>   Make topologies, clusters, statistics and failures at random, as the papers' experiments do.
  2>   Equal options and seed give the same bytes. Numbers may be ranges such as 2-8: then they are drawn. --like
  2>   takes the settings of an experiment; options win over them.
  2>   $ ftplan generate topology --operators 20 --joins 0.2 -o topology.yaml
  2>   $ ftplan generate cluster -t topology.yaml --zones 6 --copies 1 -o cluster.yaml
  2>   $ ftplan generate stats -t topology.yaml --camps 2 -o stats
  2>   $ ftplan generate failure -c cluster.yaml --fail zones -o failure.yaml
  2> Options:
  2>   -h, --help  Show this message and exit.
  2> Commands:
  2>   topology  Make a topology: operators of a shape, their tasks, and what these emit, cost and hold.
  2>   cluster   Make a cluster, with the tasks of a topology on it where -t names one.
  2>   stats     Make a statistics folder: sizes of key groups, cycles, and who rises and falls with whom.
  2>   failure   Make a failure of a cluster: what fails, which nodes arrive in its place, and alternatives.
  [2]
  $ ftplan generate topologies
  2> ftplan: generate: No such command 'topologies'. Did you mean 'topology'?
  [2]
  $ ftplan generate topology -o topology.yaml
  2> ftplan: topology.yaml: exists already; give --force to overwrite it
  [2]
  $ ftplan generate topology --operators 9-3
  2> ftplan: --operators: '9-3' is not a whole number or a range such as 2-8, from 1 to 10,000,000
  [2]
  $ ftplan generate topology --operators 100000 --parallelism 20
  2> ftplan: 2,000,000 tasks are more than --max-tasks 1,000,000
  [2]
  $ ftplan generate topology --shape chain --outputs 2
  2> ftplan: --outputs 2: a chain has one; use --shape tree, layers or dag
  [2]
  $ ftplan generate topology --zipf nan
  2> ftplan: generate topology: Invalid value for '--zipf': 'nan' is not between 0 and inf
  [2]
  $ ftplan generate cluster -t topology.yaml --nodes 1 --cores 1
  2> ftplan: the topology takes 8 cores, more than the 1 that the nodes have: give more --nodes or --cores, or leave one of them out
  [2]
  $ ftplan generate cluster -t topology.yaml --nodes 2 --copies 2
  2> ftplan: --copies 2: beside the primary 2 nodes hold 1 at most
  [2]
  $ ftplan generate stats -o new
  2> ftplan: generate stats: the topology is missing: give it with --topology
  [2]
  $ ftplan generate stats -t topology.yaml
  2> ftplan: generate stats: -o DIR is missing: statistics are a folder
  [2]
  $ ftplan generate stats -t topology.yaml --windows 9999999 -o new
  2> ftplan: key_groups: 12 series in 9,999,999 windows are 119,999,988 rows, more than --max-rows 50,000,000
  [2]
  $ ftplan generate stats -t topology.yaml -o stats
  2> ftplan: stats: exists already; give --force to overwrite it
  [2]
  $ ftplan generate failure --fail zones
  2> ftplan: generate failure: the cluster is missing: give it with --cluster
  [2]
  $ ftplan generate failure -c cluster.yaml --fail zones --count 9
  2> ftplan: --count 9: there are 3 zones
  [2]
  $ ftplan generate failure -c cluster.yaml --fail tasks
  2> ftplan: --fail tasks: needs a topology; give -t FILE
  [2]
  $ ls
  cluster.yaml
  stats
  stats-tasks
  topology.yaml
