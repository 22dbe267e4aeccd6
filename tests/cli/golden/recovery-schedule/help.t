  $ ftplan recovery-schedule --help
  Usage: ftplan recovery-schedule [OPTIONS]
    Plan which failed tasks come back first, where and when.
    After a failure, room is scarce and nodes trickle in. Tasks come back in an order that makes the most
    valuable queries whole as early as possible; a query is an output task and all tasks upstream of it. Needs
    a topology, what failed (--fail, --failure), and a cluster with a placement or --capacity.
  Options:
    -t, --topology FILE             Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE              Cluster, YAML or JSON.
    -s, --stats DIR                 Statistics folder, from compute-stats.
    --spread                        Without a placement, place tasks round robin in file order.
    --max-stats-age AGE             Refuse statistics that end earlier than this before now.
    --min-coverage SHARE            Refuse statistics with records in fewer windows than this.
    -f, --failure FILE              Failure, YAML or JSON.
    --fail SELECTOR                 What fails, such as node:n1 or zone:rack-a; repeatable.
    --complete-failure              All nodes fail; the first new one hosts the coordinator, then recovery
                                    goes on step by step.
    --coordinator-cpu CORES         What the coordinator takes there, with --complete-failure.  [default: 0.5]
    --algorithm [operator-centric|best-density|dynamic-programming|local-search|exact|auto]
                                    The planner.  [default: auto, the best of what fits in the time limit]
    --objective [priority|priority-time|fidelity-time]
                                    priority = summed priority of the queries that each step makes whole, step
                                    by step; priority-time = priority x seconds down, over all steps, the less
                                    the better; fidelity-time = output fidelity x seconds up to the horizon,
                                    so that partly whole queries count.  [default: priority]
    --capacity CORES                Cores at step 0: caps what the cluster has left; without a cluster it is
                                    all there is.
    --max-cpu SHARE                 Share of a node's cores that may be used.  [default: 0.8]
    --horizon TIME                  A query that is not back by then counts as down until then.  [default:
                                    twice the last arrival, or 10m; twice the time to catch up after it where
                                    checkpoint intervals are stated]
    --no-arrivals                   No node arrives, whatever the failure file says.
    --prefetch / --no-prefetch      Begin the next query with capacity that completes none.  [default:
                                    prefetch]
    --replicas PLAN                 Task replication whose active replicas run; wins over placement.replicas
                                    of the cluster. Or a scale-out: its prepared backups run beside those.
    --checkpoints PLAN              Checkpoint allocation in place: no transfer where a copy lies; wins over
                                    placement.checkpoints.
    --bandwidth SPEED               Of restores, per second: MB of 2^20 bytes, or a size such as 1GB.
                                    [default: as --costs says, else the cluster's network]
    --costs FILE                    Recovery costs, as fitted on measured recoveries: when failures are
                                    noticed, how long tasks take to start, to fetch their state (unless
                                    --bandwidth says) and to catch up.
    --replay / --no-replay          A query is back when its tasks have caught up: they process again what
                                    came in since the last checkpoint, and what came in while they were down,
                                    as fast as spare cores allow.  [default: replay]
    --checkpoint-age SHARE          Age of the last checkpoint at a failure, as a share of the operator's
                                    checkpoint interval.  [default: as --costs says, else 0.5, the expected
                                    one]
    --pause-lower-priority          Where tasks fail, running queries of lower priority than a failed one may
                                    give way and come back later.
    --parallel-recovery             Split heavy failed tasks with key groups over nodes.
    --samples N                     Where arrival times are ranges, judge the plan on so many sampled ones.
                                    [default: 100; 0<=x<=10000]
    --plot FILE                     Draw what is back over time, as .svg or .png.
    --seed INTEGER RANGE            Seed of every random choice.  [default: 0; 0<=x<=2147483647]
    --time-limit TIME               Stop searching after this time.  [default: 60s]
    --iterations N                  Bound the search by work instead of time.  [x>=0]
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --detailed-exitcode             Exit 3 when the plan recovers any task.
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
