  $ ftplan allocate-checkpoints --help
  Usage: ftplan allocate-checkpoints [OPTIONS]
    Plan on which node the checkpoint of each key group lies.
    Checkpoints go where load runs against their own: when a node is overloaded, its key groups can move to
    their checkpoints without a transfer of state. Needs a topology, a cluster with a placement, and
    statistics.
    Any upkeep option keeps the checkpoints in place and moves those that improve the plan most: until it is
    within --threshold (0 if not given) of a fresh plan, or --max-moves or --max-bytes is reached. What breaks
    a rule is mended first. Without these options the plan is a fresh one.
  Options:
    -t, --topology FILE             Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE              Cluster, YAML or JSON.
    -s, --stats DIR                 Statistics folder, from compute-stats.
    --spread                        Without a placement, place tasks round robin in file order.
    --max-stats-age AGE             Refuse statistics that end earlier than this before now.
    --min-coverage SHARE            Refuse statistics with records in fewer windows than this.
    --algorithm [auto|baseline|even|correlated|exact]
                                    The planner.  [default: auto, safe at any size: correlated, then exact in
                                    the rest of the time limit]
    --objective [usable|correlation|node-correlation]
                                    What is optimised: usable = copies whose host could take the key group in
                                    the windows in which the primary's node is overloaded; correlation = load-
                                    weighted correlation of each copy with its host's key groups, summed over
                                    these (the paper's); node-correlation = with the host's total load.
                                    [default: usable]
    --correlate [raw|share|residual]
                                    Which series are correlated: loads, shares of the total load, or loads
                                    without the daily profile.  [default: raw]
    --capacity-per-core X           Load units per second that a core can take.  [default: 1000 for cpu_ms,
                                    else mean utilisation is 0.7]
    --overload X                    A node is overloaded in a window when its utilisation exceeds this.
                                    [default: 0.85]
    --holdout SHARE                 Plan on the first part of the trace and judge on this last share of it,
                                    beside even and random plans.
    --load [records|bytes|cpu_ms]   What counts as load.  [default: records]
    --copies INTEGER RANGE          Checkpoint copies of each key group.  [default: 1; x>=1]
    --balance auto|X|count|none     How evenly load is spread over nodes: X = every node within (1-X) and
                                    (1+X) of its fair share by cpu; auto = the smallest feasible X from 0.05
                                    up; count = number of copies instead of load.  [default: auto]
    --anti-affinity [auto|node|zone]
                                    zone = no copy in its primary's zone, nor two copies in one zone; node =
                                    on other nodes; auto = zone where the cluster has zones and that is
                                    possible, else node.  [default: auto]
    --failover-limit X              After the loss of any one node (zone, with --anti-affinity zone), each key
                                    group at its first copy: no survivor's mean load above X times its fair
                                    share by cpu. With --balance auto the balance yields to it.
    --minimise [failover]           Find the smallest failover limit first, then the best objective under it.
    --bound / --no-bound            Prove a bound for the heuristics too.  [default: no-bound]
    --current PLAN                  Upkeep: the plan whose checkpoints are in place now; wins over
                                    placement.checkpoints of the cluster.
    --threshold X                   Upkeep: how far from a fresh plan is close enough, as a share of what a
                                    random plan loses against it.
    --max-moves N                   Upkeep: move at most so many copies.  [x>=0]
    --max-bytes SIZE                Upkeep: transfer at most so much state, such as 20GB.
    --costs FILE                    Recovery costs: where they say that state is remote, a warning says that
                                    placing checkpoints no longer pays.
    --plot FILE                     Draw the copies on each node, as .svg or .png.
    --seed INTEGER RANGE            Seed of every random choice.  [default: 0; 0<=x<=2147483647]
    --time-limit TIME               Stop searching after this time.  [default: 10s]
    --gap SHARE                     Stop where value and proven bound are this near, relative as the gap.
                                    [default: 0.001]
    --iterations N                  Bound the search by work instead of time.  [x>=0]
    --strict-inputs                 Refuse a plan whose objective depends on something assumed.
    --trace FILE                    Write value and bound over time, as JSON lines.
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --rows N|all                    Rows of each long table; JSON and files hold all.
    --detailed-exitcode             Exit 3 when the plan moves checkpoints.
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    -h, --help                      Show this message and exit.
