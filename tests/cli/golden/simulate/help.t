  $ ftplan simulate --help
  Usage: ftplan simulate [OPTIONS] COMMAND [ARGS]...
    See what happens, before it does: recoveries, migrations, rings, scaling.
  Options:
    -h, --help  Show this message and exit.
  Commands:
<<<<<<< HEAD
    migration         Key groups that move: a plan's moves message by message, or adaptation over time.
    recovery          A failure and the recovery from it, batch by batch.
    ring              A peer ring at work: failures, take-overs, load that moves, nodes that join and leave.
    scaling           Operators that are split while they run: queues, latency and tasks over time.
    tentative-output  Two real queries without the tasks that have no replica: how much of the answer is left.
=======
    migration  Key groups that move: a plan's moves message by message, or adaptation over time.
    recovery   A failure and the recovery from it, batch by batch.
    ring       A peer ring at work: failures, take-overs, load that moves, nodes that join and leave.
    scaling    Operators that are split while they run: queues, latency and tasks over time.
  $ ftplan simulate recovery --help
  Usage: ftplan simulate recovery [OPTIONS] [PLAN]
    Simulate a failure and the recovery from it, batch by batch.
    PLAN is a recovery schedule, also one made by hand; - is standard input. Without it one is made at each
    failure and arrival, with what is there by then. Needs a topology, a cluster with a placement, and what
    fails; a plan names its own.
    Sources' logs, queues, buffers, checkpoints, failures, their detection, restores and replay are simulated
    at the topology's rates. A query is available while its latency is below --threshold times its usual one.
    $ ftplan simulate recovery schedule.json --mode incremental --mode blocking --runs 100
    $ ftplan simulate recovery a.json --against b.json --runs 100 --costs recovery.yaml --plot recovery.svg
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
    --no-arrivals                   No node arrives, whatever the failure file says.
    --mode MODE                     How the job recovers: incremental, blocking, source-replay, eager, task-
                                    local, standby, uncoordinated, or best-case (incremental, with all new
                                    nodes at --best-case). Repeatable: all are compared with the first, on the
                                    same random numbers.  [default: incremental]
    --best-case TIME                When all new nodes arrive in mode best-case.  [default: 180s]
    --against PLAN                  Another recovery schedule, to compare on the same random numbers.
    --algorithm [operator-centric|best-density|dynamic-programming|local-search|exact|auto]
                                    Without a plan: what plans at each failure and arrival, with what is there
                                    by then.  [default: auto]
    --max-cpu SHARE                 Share of a node's cores that such plans may use.  [default: 0.8]
    --runs N                        Simulate so often, each time with other arrival times and another age of
                                    the last checkpoint. One run has the expected ones.  [default: 1;
                                    1<=x<=100000]
    --jobs N                        Processes.  [default: one a core]  [1<=x<=1024]
    --seed INTEGER RANGE            Seed of every random choice.  [default: 0; 0<=x<=2147483647]
    --time-limit TIME               Stop after this time; the runs that are done by then count.
    --iterations N                  Bound the search for a plan by work instead of time.  [x>=0]
    --replicas PLAN                 Task replication whose active replicas run; wins over placement.replicas
                                    of the cluster. Or a scale-out: its prepared backups run beside those.
    --checkpoints PLAN              Checkpoint allocation in place: no transfer where a copy lies; wins over
                                    placement.checkpoints.
    --costs FILE                    Recovery costs: when failures are noticed, how long tasks take to start
                                    and to fetch their state, how fast they can work.
    --bandwidth SPEED               Of restores, per second: MB of 2^20 bytes, or a size such as 1GB.
                                    [default: as --costs says, else the cluster's network]
    --detection TIME                Until a failure is noticed.  [default: as --costs says, else 0]
    --restart TIME                  Until a task that is started, or taken back, loads its state.  [default:
                                    as --costs says, else 0]
    --correlated-failures N         Failed nodes since the last checkpoint from which on mode incremental goes
                                    step by step, not blocking.  [default: 2; x>=1]
    --takeover TIME                 From when a failure is noticed until a replica's output is on.  [default:
                                    0s]
    --replica-lag TIME              How much of its output a replica sends again then.  [default: 0s]
    --warming TIME                  So long after it starts, a task works at --warming-pace only.  [default:
                                    0s]
    --warming-pace SHARE            Share of its fastest pace.  [default: 1.0]
    --checkpoint-interval TIME      Between checkpoints.  [default: the longest that the topology states, else
                                    10s]
    --checkpoint-age TIME           How old the last checkpoint's begin is at the failure.  [default: half an
                                    interval in one run, uniform within it in several]
    --batch TIME                    Input that goes through the job as one batch.  [default: 0.1s]
    --queue TIME                    Input that a task may be ahead of those that it feeds (back-pressure), two
                                    batches at least.  [default: 1s]
    --max-streams N                 Most streams between two tasks; more take long, and memory.  [default:
                                    1000000; 1<=x<=100000000]
    --headroom X                    How much faster than usual a task can work at least.  [default: 1 / --max-
                                    cpu]
    --record-bytes SIZE             Of a record in a buffer.  [default: 100.0]
    --buffer-memory SIZE            For buffered output, in sum; what is beyond it is spilled to disk.
                                    [default: all of it]
    --warm-up TIME                  Simulated before the failure.  [default: 30s]
    --until TIME                    Simulated after the failure.  [default: five minutes more than the last
                                    arrival, or failure; longer if queries are not back by then, at most eight
                                    times as long]
    --every TIME                    Resolution of what the answer tells over time.  [default: a round time, at
                                    most 120 in all]
    --threshold X                   A query is available while its latency is below so many times its usual
                                    one.  [default: 1.2]
    --window TIME                   Latency is a mean over this.  [default: 10s]
    --max-down X                    Exit 1 where the priority x seconds down, a mean over the runs, are more
                                    than this in the first mode.
    --plot FILE                     Draw what is back, latency, lag and buffers over time, as .svg or .png.
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
>>>>>>> main
