The options, as a newcomer reads them.

  $ ftplan drain-schedule --help
  Usage: ftplan drain-schedule [OPTIONS]
    Plan which nodes restart together, in how few rounds.
    A round restarts its nodes together, and all are back before the next one begins. Tasks on them stand
    still meanwhile, unless their active replica runs on another node or --move moves them. The fewest rounds
    are planned in which output fidelity, important queries, the copies of each key group, and primaries and
    their replicas are kept as asked. Needs a topology and a cluster with a placement.
  Options:
    -t, --topology FILE             Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE              Cluster, YAML or JSON.
    -s, --stats DIR                 Statistics folder, from compute-stats.
    --spread                        Without a placement, place tasks round robin in file order.
    --max-stats-age AGE             Refuse statistics that end earlier than this before now.
    --min-coverage SHARE            Refuse statistics with records in fewer windows than this.
    --nodes SELECTOR                Restart only these nodes, such as node:n1 or zone:rack-a; operator:,
                                    task:, query: and key-group: name the nodes that run the tasks;
                                    repeatable.  [default: all nodes]
    --label KEY=VALUE               Restart only nodes with this label in the cluster file; repeatable: nodes
                                    with all of them.
    --min-fidelity X                Output fidelity that every round leaves: how much of the output still
                                    rests on all of its input.
    --keep-priority P               Queries of this priority or more stay up in every round.
    --max-per-zone N                Nodes of one zone that may restart together.  [x>=1]
    --max N                         Nodes that may restart together; the summary also names the most nodes, up
                                    to so many, that may stop now.  [x>=1]
    --keep-copies [all|checkpoints|none]
                                    Which copies of a key group may not restart together: all = its primary
                                    and its checkpoints; checkpoints = these alone; none.  [default: all]
    --move                          Move the tasks of a round's nodes to nodes with room, and back after the
                                    round, instead of letting them stand still.
    --max-cpu SHARE                 Share of a node's cores that tasks may use, with --move.  [default: 0.8]
    --partial                       Leave out nodes that may not restart even alone, instead of refusing; they
                                    are named as unplaced.
    --algorithm [greedy|exact]      The planner.  [default: exact, the best rounds that the time allows, with
                                    a proven bound]
    --restart TIME                  How long a node takes to restart; with --costs the recovery of its tasks
                                    comes on top.  [default: 120s]
    --costs FILE                    Recovery costs, as fitted on measured recoveries: rounds also take the
                                    recovery of what restarts.
    --replicas PLAN                 Task replication whose active replicas run; wins over placement.replicas
                                    of the cluster. Or a scale-out: its prepared backups run beside those.
    --checkpoints PLAN              Checkpoint allocation in place; wins over placement.checkpoints.
    --plot FILE                     Draw the nodes of each round, as .svg or .png.
    --seed INTEGER RANGE            Seed of every random choice.  [default: 0; 0<=x<=2147483647]
    --time-limit TIME               Stop searching after this time.  [default: 60s]
    --iterations N                  Bound the search by work instead of time.  [x>=0]
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --detailed-exitcode             Exit 3 when the plan restarts any node.
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
