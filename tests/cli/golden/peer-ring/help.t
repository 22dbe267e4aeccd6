The options, as a newcomer reads them.

  $ ftplan peer-ring --help
  Usage: ftplan peer-ring [OPTIONS]
    Plan where workers stand on a consistent-hashing ring, so that load is even and failures lose nothing.
    A worker owns the key groups from its token up to the next one, and the next --replication workers
    clockwise keep copies. Tokens and the order of zones are planned so that copies lie in different zones
    wherever that can be, then load is as even as key groups allow, then as few bytes as possible move away
    from the ring in place (--current). The plan says which failures lose what and how likely that is, what
    each move sends, how long take-overs last, and with --fail what one failure does to it. Needs a topology
    and a cluster; load comes from statistics, else from the topology's rates.
  Options:
    -t, --topology FILE             Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE              Cluster, YAML or JSON.
    -s, --stats DIR                 Statistics folder, from compute-stats.
    --spread                        Without a placement, place tasks round robin in file order.
    --max-stats-age AGE             Refuse statistics that end earlier than this before now.
    --min-coverage SHARE            Refuse statistics with records in fewer windows than this.
    -f, --failure FILE              Failure, YAML or JSON.
    --fail SELECTOR                 What fails, such as node:n1 or zone:rack-a; repeatable.
    --algorithm [exact|paper|virtual-nodes]
                                    The planner.  [default: exact]
    --replication R                 Backups of each key group, on the next nodes clockwise: any so many may
                                    fail.  [default: 1; 0<=x<=1000]
    --operator ID                   Only key groups of this operator; repeatable.  [default: all operators
                                    share the ring]
    --current PLAN                  The ring in place: what is planned then moves the fewest bytes of the
                                    best.  [default: there is none]
    --add NODE                      With --current: this node of the cluster file joins the ring, or all of a
                                    selector such as zone:rack-a; repeatable.
    --remove NODE                   This node leaves the ring, or all of a selector; repeatable.
    --rebalance                     With --current: nodes keep their order, and load moves between neighbours.
                                    paper = as overloaded nodes negotiate, window by window; exact = the cuts
                                    of least largest load, then of fewest bytes.
    --target-load X                 A largest load, over the fair share by cpu, that is good enough, such as
                                    1.1: with --current fewer bytes are better than less.  [default: the least
                                    there is]
    --max-bytes SIZE                With --current: at most so much travels, such as 20GB, copies included.
    --tokens N                      Tokens of a node of mean cpu, with virtual-nodes; others in proportion.
                                    [default: 100; 1<=x<=100000]
    --tier NODES                    Nodes that hold the last copy of everything and nothing else, such as
                                    zone:vault (Tiered Replication); repeatable.
    --load [records|bytes|cpu_ms]   What counts as load, with statistics.  [default: records]
    --demand mean|pN|last:N         Which load a key group is planned with: its mean over the windows, a
                                    percentile of them, or the mean of the last N.  [default: mean]
    --capacity-per-core X           Load units per second that a core can take.  [default: 1000 for cpu_ms,
                                    else mean utilisation is 0.7]
    --overload X                    A node is overloaded above this utilisation; also where it asks for help.
                                    [default: 0.85]
    --accept X                      A node may take load of its neighbour up to this utilisation, at most that
                                    of --overload.  [default: 0.7]
    --queue-high TIME               A node asks for help only from this queue on, in time of work.  [default:
                                    1s]
    --queue-low TIME                A node may take load up to this queue, in time of work.  [default: 0.1s]
    --hold N                        Windows in a row for which a node is overloaded before it asks.  [default:
                                    1; 1<=x<=1000000]
    --interval TIME                 Between checkpoints.  [default: as the topology states it, the longest;
                                    else 10s]
    --heartbeat TIME                Between heartbeats.  [default: the checkpoint is the heartbeat]
    --missed-heartbeats N           A node is taken for dead after so many missed ones.  [default: 1;
                                    1<=x<=1000000]
    --grace TIME                    Waited beyond the last missed heartbeat.  [default: 0s]
    --latency-bound TIME            Bound of delay and clock skew (L_n); backups drop tuples older than the
                                    checkpoint by twice this.  [default: 15 times the network's delay]
    --replay-rate X                 Records per second that a node replays.  [default: as --costs says, else
                                    what its capacity takes]
    --bandwidth SPEED               Of transfers between two nodes, per second: MB of 2^20 bytes, or a size
                                    such as 1GB.  [default: as --costs says, else the cluster's network, else
                                    100MB]
    --costs FILE                    Recovery costs, as fitted on measured recoveries: detection, restart and
                                    replay of a take-over.
    --plot FILE                     Draw the ring: who owns which arc, as .svg or .png.
    --seed INTEGER RANGE            Seed of every random choice.  [default: 0; 0<=x<=2147483647]
    --time-limit TIME               Stop searching after this time.  [default: 60s]
    --iterations N                  Bound the search by work instead of time.  [x>=0]
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --detailed-exitcode             Exit 3 when the plan moves any key group, owner or copy.
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
