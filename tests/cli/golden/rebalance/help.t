The options, as a newcomer reads them.

  $ ftplan rebalance --help
  Usage: ftplan rebalance [OPTIONS]
    Plan which key groups move where, so that load is balanced and pauses are short.
    A key group whose checkpoint lies on its new node only replays what came in since; without one its state
    is sent. The moves of least cost are planned that leave no node overloaded (--overload) or uneven
    (--tolerance), that drain nodes (--remove) or fill them (--add), in phases in which no node is overloaded
    either. Each move says what it costs, each phase how long it takes, and the plan how to undo it and where
    checkpoints lie afterwards. Needs a topology, a cluster with a placement, and statistics.
  Options:
    -t, --topology FILE             Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE              Cluster, YAML or JSON.
    -s, --stats DIR                 Statistics folder, from compute-stats.
    --spread                        Without a placement, place tasks round robin in file order.
    --max-stats-age AGE             Refuse statistics that end earlier than this before now.
    --min-coverage SHARE            Refuse statistics with records in fewer windows than this.
    --algorithm [adaptive|exact]    The planner.  [default: adaptive, safe at any size, with a proven bound]
    --objective [latency|completion|bytes]
                                    What all moves together cost least of: latency = how long each key group
                                    is paused; completion = until each move is done; bytes = what they
                                    transfer.  [default: latency]
    --protocol [auto|cpa|cpal|lazy|direct]
                                    How key groups move: cpa = turn the checkpoint on the target into state
                                    and replay; cpal = so while the old node goes on; lazy = let the next full
                                    checkpoint be stored on the target, then cpa; direct = send the state;
                                    auto = the cheapest that can be, move by move.  [default: auto]
    --add NODE                      Fill this node of the cluster file, or all of a selector such as
                                    zone:rack-a; repeatable.
    --remove NODE                   Drain this node, or all of a selector such as zone:rack-a: no key group
                                    and no checkpoint stays; repeatable.
    --within TIME                   With --remove: the nodes are gone after this time; what cannot leave
                                    before is recovered from checkpoints.
    --suggest                       Say how many nodes to add or remove for the utilisation of --band.
    --band LOW-HIGH                 With --suggest: the mean utilisation to stay within.  [default: 0.5-0.75]
    --load [records|bytes|cpu_ms]   What counts as load.  [default: records]
    --demand mean|pN|last:N         Which load a key group is planned with: its mean over the windows, a
                                    percentile of them, or the mean of the last N.  [default: mean]
    --capacity-per-core X           Load units per second that a core can take.  [default: 1000 for cpu_ms,
                                    else mean utilisation is 0.7]
    --overload X                    No node's utilisation may exceed this, in no phase and afterwards.
                                    [default: 0.85]
    --tolerance auto|X|none         How even load is afterwards: X = every node within (1-X) and (1+X) of its
                                    fair share by cpu; none = only no overload; auto = none, but added nodes
                                    get (1-X) of their fair share, with the least X of 0.1, 0.2, ... that can
                                    be.  [default: auto]
    --max-moves N                   Move at most so many key groups.  [x>=0]
    --max-bytes SIZE                Moves transfer at most so much, such as 20GB.
    --max-pause TIME                No key group is paused for longer in any phase.  [default: as short as the
                                    moves allow]
    --phase-bytes SIZE              The moves of a phase transfer at most so much; a single one may transfer
                                    more.
    --phase-overhead TIME           What a phase takes beside its moves.  [default: 0s]
    --anti-affinity [node|zone]     zone: no checkpoint in the zone of its key group, nor two of one in one
                                    zone.  [default: node]
    --cross-zone-cost X             Add to the objective this much for each MB (2^20 bytes) a second that
                                    moves bring between zones, by measured edges, and take it off for what
                                    they save.
    --checkpoint-age TIME           Age of the newest checkpoint when a key group moves, at most the
                                    operator's interval.  [default: as --costs says, else the whole interval]
    --record-bytes SIZE             Size of a record in upstream buffers.  [default: as the statistics have
                                    it, by operator]
    --bandwidth SPEED               Of transfers between two nodes, per second: MB of 2^20 bytes, or a size
                                    such as 1GB.  [default: as --costs says, else the cluster's network, else
                                    100MB]
    --serialisation SPEED           How fast state is serialised, and read again.  [default: takes no time]
    --queue TIME                    How long a message waits in input queues.  [default: queue lengths as
                                    measured, else the network's delay]
    --costs FILE                    Recovery costs, as fitted on measured recoveries: they price the pauses of
                                    moves.
    --checkpoints PLAN              Checkpoint allocation in place: no transfer where a copy lies; wins over
                                    placement.checkpoints.
    --plot FILE                     Draw utilisation of each node before and after, as .svg or .png.
    --seed INTEGER RANGE            Seed of every random choice.  [default: 0; 0<=x<=2147483647]
    --time-limit TIME               Stop searching after this time.  [default: 60s]
    --iterations N                  Bound the search by work instead of time.  [x>=0]
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --detailed-exitcode             Exit 3 when the plan moves any key group or makes a checkpoint anew.
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
