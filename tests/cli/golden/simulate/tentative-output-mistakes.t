One line says what is wrong, before an engine starts where that can be told.

  $ ftplan simulate
  2> Usage: ftplan simulate [OPTIONS] COMMAND [ARGS]...
  2>   See what happens, before it does: recoveries, migrations, rings, scaling, the output after a failure.
  2> Options:
  2>   -h, --help  Show this message and exit.
  2> Commands:
  2>   migration         Key groups that move: a plan's moves message by message, or adaptation over time.
  2>   recovery          A failure and the recovery from it, batch by batch.
  2>   ring              A peer ring at work: failures, take-overs, load that moves, nodes that join and leave.
  2>   scaling           Operators that are split while they run: queues, latency and tasks over time.
  2>   tentative-output  Two real queries without the tasks that have no replica: how much of the answer is left.
  [2]
  $ ftplan simulate tentative
  2> ftplan: simulate: nothing to simulate is called 'tentative' (did you mean 'tentative-output'?)
  [2]
  $ ftplan simulate tentative-output --query top-k
  2> ftplan: --query top-k: LOG is missing: name files, globs or folders
  [2]
  $ ftplan simulate tentative-output --query incidents log.csv
  2> ftplan: --query incidents makes its own streams: leave out LOG
  [2]
  $ ftplan simulate tentative-output log.csv
  2> ftplan: --key-column is missing: name the column whose commonest values are asked for
  [2]
  $ ftplan simulate tentative-output log.csv --key-column page
  2> ftplan: --time-column is missing: name the column (or, repeated, the columns) that hold the time
  [2]
  $ ftplan simulate tentative-output log.csv --key-column page --time-column time
  2> ftplan: log.csv: no such file
  [2]
  $ ftplan simulate tentative-output log.csv --key-column page --time-column time --users 5
  2> ftplan: --users belongs to --query incidents, and this is top-k
  [2]
  $ ftplan simulate tentative-output --k 5
  2> ftplan: --k belongs to --query top-k, and this is incidents
  [2]
  $ ftplan simulate tentative-output --partition-column server
  2> ftplan: --partition-column belongs to --query top-k, and this is incidents
  [2]
  $ ftplan simulate tentative-output --query jams
  2> ftplan: simulate tentative-output: Invalid value for '--query': 'jams' is not one of 'top-k', 'incidents'.
  [2]
  $ ftplan simulate tentative-output --ratios 0.1,2
  2> ftplan: --ratios: '0.1,2' is not shares from 0 to 1, such as 0.1,0.5
  [2]
  $ ftplan simulate tentative-output --ratios ''
  2> ftplan: --ratios: '' is not shares from 0 to 1, such as 0.1,0.5
  [2]
  $ ftplan simulate tentative-output --ratios 0.5 --replicas plan.json
  2> ftplan: --replicas and --ratios exclude each other: judge a plan, or plan for shares of the tasks
  [2]
  $ ftplan simulate tentative-output --algorithm clever
  2> ftplan: --algorithm: 'clever' is not one or several of dynamic-programming, structure-aware, greedy, exact
  [2]
  $ ftplan simulate tentative-output --metric fidelity
  2> ftplan: --metric: 'fidelity' is not one or several of output-fidelity, internal-completeness, key-aligned-fidelity
  [2]
  $ ftplan simulate tentative-output --parallelism 8,4
  2> ftplan: --parallelism: incidents has 4 operators, not 2
  [2]
  $ ftplan simulate tentative-output --parallelism 8,4,4,2
  2> ftplan: --parallelism: the last operator gathers the output: 1 task, not 2
  [2]
  $ ftplan simulate tentative-output --parallelism 64,63,61,1
  2> ftplan: --parallelism: 64,63,61,1 divide the segments into 245,952 parts, more than 1,024
  [2]
  $ ftplan simulate tentative-output --parallelism 0,4,4,1
  2> ftplan: --parallelism: '0,4,4,1' is not numbers from 1 to 64, such as 8,4,1
  [2]
  $ ftplan simulate tentative-output log.csv --key-column page --time-column time --parallelism 2,4,1
  2> ftplan: --parallelism: the operators of top-k merge: none has more tasks than the one before it
  [2]
  $ ftplan simulate tentative-output --window 25s
  2> ftplan: --window: 25 s are no whole number of slides of 10 s (--slide)
  [2]
  $ ftplan simulate tentative-output --window 5s
  2> ftplan: --window: 5 s are no whole number of slides of 10 s (--slide)
  [2]
  $ ftplan simulate tentative-output --slide 0.5s --window 5m
  2> ftplan: --slide: 0.5 s is no whole number of seconds, in which incidents count
  [2]
  $ ftplan simulate tentative-output --duration 60s
  2> ftplan: --duration: 60 s hold no window of 300 s
  [2]
  $ ftplan simulate tentative-output --window 1h --slide 100ms
  2> ftplan: --slide: a window of 3600 s has 36,000 slides of 0.1 s, more than 10,000
  [2]
  $ ftplan simulate tentative-output --engine sail --master spark://h:7077
  2> ftplan: --engine sail runs in this process: leave out --master spark://h:7077
  [2]
  $ ftplan simulate tentative-output -o topology.yaml
  2> ftplan: topology.yaml: exists already; give --force to overwrite it
  [2]
  $ ftplan simulate tentative-output --topology-output topology.yaml
  2> ftplan: topology.yaml: exists already; give --force to overwrite it
  [2]
  $ ftplan simulate tentative-output --plot picture.jpg
  2> ftplan: --plot picture.jpg: expected a name that ends in .svg or .png
  [2]
  $ ftplan simulate tentative-output --replicas cluster.yaml
  2> ftplan: cluster.yaml: format: this is a cluster file (ftplan/cluster); expected a plan (ftplan/plan)
  [2]
  $ ftplan replicate-tasks -q -t topology.yaml --budget 100% -o other.json
  $ ftplan simulate tentative-output --replicas other.json
  2> ftplan: other.json: plan.replicas[0]: unknown operator 'alerts'
  [2]
  $ ftplan simulate tentative-output --engine sail -q --rate 40 --users 20 --segments 3 --duration 40s --window 20s --slide 5s --jam-share 0
  2> ftplan: incidents puts out nothing even without failure: nothing can be lost
  [2]
