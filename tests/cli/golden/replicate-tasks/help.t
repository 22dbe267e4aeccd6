  $ ftplan replicate-tasks --help
  Usage: ftplan replicate-tasks [OPTIONS]
    Plan which tasks get an active replica, and where.
    Under a budget, replicas go to the tasks that keep most output alive while a failure is repaired: to whole
    trees of tasks from sources to an output, since a gap in one makes the rest useless. Needs a topology and
    a budget or a target. Without --fail and --failure any task may fail, all at once; scenarios of a failure
    file count with their probabilities. With a cluster each replica gets a node outside its primary's zone.
  Options:
    -t, --topology FILE             Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE              Cluster, YAML or JSON.
    -s, --stats DIR                 Statistics folder, from compute-stats.
    --spread                        Without a placement, place tasks round robin in file order.
    --max-stats-age AGE             Refuse statistics that end earlier than this before now.
    --min-coverage SHARE            Refuse statistics with records in fewer windows than this.
    -f, --failure FILE              Failure, YAML or JSON.
    --fail SELECTOR                 What fails, such as node:n1 or zone:rack-a; repeatable.
    --worst-case                    All tasks may fail, whatever the failure file says.
    --by-probability                Each node and zone with a failure_probability in the cluster fails alone,
                                    weighted by it.
    --budget N|X%                   How many replicas: a number, or a share of all tasks, rounded down.
    --budget-cpu CORES              Cores that all replicas may take.
    --budget-mb MB                  State, in units of 2^20 bytes, that all replicas may hold.
    --target X                      The fewest replicas that reach this value.
    --algorithm [greedy|dynamic-programming|structure-aware|exact]
                                    The planner.  [default: structure-aware, safe at any size]
    --least [replicas|cores|mb]     What a target is reached with least of: replicas, cores, MB.  [default:
                                    replicas]
    --metric [output-fidelity|internal-completeness|key-aligned-fidelity]
                                    output-fidelity = how much of the output rests on all of its input;
                                    internal-completeness = how many records are still processed, wherever
                                    they go; key-aligned-fidelity = output-fidelity where what is lost
                                    upstream of several streams of one join counts once (not by dynamic-
                                    programming).  [default: output-fidelity]
    --then-recover                  Value replicas by what they save in the recovery afterwards: least
                                    priority x seconds down, instead of fidelity during the outage.
    --costs FILE                    With --then-recover: recovery costs, as fitted on measured recoveries; see
                                    recovery-schedule.
    --weight [rate|priority]        What an output task counts in fidelity.  [default: rate]
    --same-zone [never|last-resort|allow]
                                    Whether a replica may stand in its primary's zone, on another node: never;
                                    last-resort = where no other node with room is as good; allow.  [default:
                                    never]
    --max-cpu SHARE                 Share of a node's cores that may be used.  [default: 0.8]
    --current PLAN                  Replicas now in place: says what to activate and to deactivate; wins over
                                    placement.replicas of the cluster. Or a scale-out: its prepared backups
                                    are in place beside those.
    --max-changes N                 Start and stop at most so many replicas in all.  [x>=0]
    --threshold X                   Keep the replicas in place where less would be gained.
    --curve                         Also what every budget buys, up to 100 of them, with a bound.
    --plot FILE                     Draw that curve, as .svg or .png.
    --seed INTEGER RANGE            Seed of every random choice.  [default: 0; 0<=x<=2147483647]
    --time-limit TIME               Stop searching after this time.  [default: 60s]
    --iterations N                  Bound the search by work instead of time.  [x>=0]
    --trace FILE                    Write value and bound over time, as JSON lines.
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --detailed-exitcode             Exit 3 when the plan starts or stops replicas.
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
