Every planner, with its guarantee and source.

  $ ftplan algorithms --format table
  algorithm            command               default  guarantee                                                                                          source
  auto                 allocate-checkpoints  yes      no worse than correlated; optimal, or the proven gap at the time limit                             correlated, then exact
  baseline             allocate-checkpoints  no       none: random, never on the primary's node, copies on different nodes                               Madsen & Zhou, CIKM 2015, section 7 (Baseline)
  even                 allocate-checkpoints  no       at most ceil(copies / nodes) copies on a node; random within that                                  Madsen & Zhou, CIKM 2015, section 7 (Even Distribution)
  correlated           allocate-checkpoints  no       optimal without a balance rule; heuristic with one                                                 Madsen & Zhou, CIKM 2015, Algorithm 3, mended
  exact                allocate-checkpoints  no       optimal, or the proven gap at the time limit                                                       generalised assignment: Lagrangian dual, reduced costs, branch and cut (SCIP); flow for counts
  operator-centric     recovery-schedule     no       none: the cheapest task whose upstream lives, without a look at queries                            Su & Zhou, technical report, section 7 (OC)
  best-density         recovery-schedule     no       (1 - e^(-1/d)) of each step's optimum where no failed task is in more than d failed queries        Su & Zhou, technical report, Algorithm 3, mended
  dynamic-programming  recovery-schedule     no       each step optimal, over time only where tasks are few; refuses more queries than it can take       Su & Zhou, technical report, Algorithm 4 (appendix B), mended
  local-search         recovery-schedule     no       none; reaches the best published values of set-union knapsacks                                     tabu search with strategic oscillation, after Glover & Kochenberger
  exact                recovery-schedule     no       each step, or over time the whole repair, optimal, or the proven gap at the time limit             closure bounds by minimum cuts, reduction, branch and bound; over time an interval model (CP-SAT)
  auto                 recovery-schedule     yes      each step, or over time the whole repair, as well as time allows, with the best bound of any       best-density, exact, local-search, exact
  auto                 replicate-tasks       yes      no worse than structure-aware; optimal, or the proven gap at the time limit                        structure-aware, then exact
  greedy               replicate-tasks       no       none: the tasks whose single failure costs most, no look at MC-trees; improved with a cluster      Su & Zhou, ICDE 2016, Algorithm 2
  dynamic-programming  replicate-tasks       no       optimal; refuses more MC-trees than it can take                                                    Su & Zhou, ICDE 2016, Algorithm 1, mended
  structure-aware      replicate-tasks       no       none but that more budget is no worse on nodes; completes MC-trees whose replicas find nodes       Su & Zhou, ICDE 2016, Algorithms 3, 4 and 5, mended
  exact                replicate-tasks       no       optimal, or the proven gap at the time limit                                                       tables of the best value at each cost, integer program over tasks and nodes, branch and bound
  greedy               drain-schedule        no       never more rounds than one by one or zone by zone; a proven bound from cliques, zones and numbers  DSATUR (Brelaz 1979), iterated greedy colouring, tabu search on partial colourings
  exact                drain-schedule        yes      the fewest rounds, or the proven gap at the time limit                                             heaviest allowed sets (Mehrotra & Trick 1996, Held, Cook & Sewell 2012), integer program (CP-SAT)
  adaptive             rebalance             yes      no needless move; phases in which no node is overloaded; a proven bound                            Madsen & Zhou, CIKM 2015, section 7.1: the most with the least loaded node; local search, dual bound
  exact                rebalance             no       least cost of all moves, or the proven gap at the time limit                                       integer programs over key groups and nodes; what no phase can take is cut off
  exact                scale-out             yes      most sustained load, then fewest cores, or the proven gap at the time limit                        every parallelism with the best ranges; integer program over levels, tasks and nodes (CP-SAT)
  ds2                  scale-out             no       none: demand over the true rate of a task, even key ranges, no look at skew                        Kalavri et al., OSDI 2018 (DS2)
  doubling             scale-out             no       none: twice the tasks of a bottleneck, even key ranges                                             Mudassar et al. 2019, Algorithms 1 to 3
  exact                peer-ring             no       fewest losses by a zone, violations, least load, bytes, load again, each optimal or with its gap   zone order by blocks or integer program (CP-SAT); circular partition; dynamic programming over cuts
  paper                peer-ring             no       none: random tokens, then neighbours take half an arc of the overloaded; a proven bound            Kumbhare et al. 2015, sections V-A and VI
  virtual-nodes        peer-ring             no       none: many hashed tokens a node, no look at load or zones; a node that joins moves only its arcs   DeCandia et al., SOSP 2007 (Dynamo)
  auto                 peer-ring             yes      that of exact; of virtual-nodes where a ring of many tokens a node moves less and as safely        exact, compared with virtual-nodes

Every metric, by the kind of plan that it judges.

  $ ftplan algorithms --metrics --format table
  metric                  kind                  better  unit         meaning
  correlation             allocate-checkpoints  low     load         the objective: sum over all copies of load times correlation with the host's key groups
  random-correlation      allocate-checkpoints  low     load         expected correlation of a random plan, for comparison
  gain-over-random        allocate-checkpoints  high    share        (random - value) / |random|: how far the correlation lies below a random plan's
  imbalance               allocate-checkpoints  low     share        largest deviation of a node's checkpointed load from its fair share, relative to that share
  usable-share            allocate-checkpoints  high    share        of the copies of key groups on overloaded nodes, over all windows, those whose host could take the group
  assisted-migrations     allocate-checkpoints  high    share        of the migrations that relieve overloaded nodes, heaviest key group first, those to a checkpoint's host
  max-copies-per-node     allocate-checkpoints  low     copies       most copies on one node
  zone-separation         allocate-checkpoints  high    share        copies that lie outside their primary's zone
  lost-groups             allocate-checkpoints  low     key groups   key groups whose primary and all copies are on failed nodes
  recoverable-share       allocate-checkpoints  high    share        of the key groups whose primary fails, those with a copy on a live node; 1 where none fails
  recoverable-load-share  allocate-checkpoints  high    share        the same, weighted by load; 1 where no load fails
  failover-load-ratio     allocate-checkpoints  low     share        largest load of a survivor over its fair share after the loss of any one node (zone, for a plan with anti-affinity zone), each key group at its first live copy
  loss-probability        allocate-checkpoints  low     probability  some key group loses its primary and all copies, by failure_probability of nodes and zones
  copysets                allocate-checkpoints  low     sets         distinct sets of nodes that hold a key group: primary and copies
  queries-back-share      recovery-schedule     high    share        of the queries that failed, those that are whole at the horizon
  priority-back-share     recovery-schedule     high    share        the same, weighted by priority
  first-back-s            recovery-schedule     low     s            when the first query is back; undefined where none is
  last-back-s             recovery-schedule     low     s            when the last query is back; undefined where one is not, or none failed
  mean-back-s             recovery-schedule     low     s            mean time that a failed query is down; until the horizon if it stays down
  priority-time           recovery-schedule     low     s            sum of priority times seconds down; what stays down counts the horizon
  fidelity-time           recovery-schedule     high    s            output fidelity integrated over the repair, until the horizon
  prefetched-share        recovery-schedule     low     share        of the recovered tasks, those begun with left-over capacity
  restore-s               recovery-schedule     low     s            from the decision until the task runs, summed over all tasks
  unrecovered-tasks       recovery-schedule     low     tasks        failed tasks that are still down at the end
  output-fidelity         replicate-tasks       high    share        how much of the output rests on all of its input, expected over the scenarios of a failure
  key-aligned-fidelity    replicate-tasks       high    share        the same, a loss upstream of several streams of one join counting once
  internal-completeness   replicate-tasks       high    share        of the records that tasks process without failure, those that live tasks still process
  replicas                replicate-tasks       low     replicas     tasks with an active replica
  priority-time           replicate-tasks       low     s            sum of priority times seconds down in the recovery afterwards, for plans made with --then-recover
  rounds                  drain-schedule        low     rounds       the objective: rounds of restarts
  duration-s              drain-schedule        low     s            all rounds, one after another
  lowest-fidelity         drain-schedule        high    share        output fidelity in the worst round
  lost-output-s           drain-schedule        low     s            1 - output fidelity, integrated over all rounds: seconds of full output that are lost
  queries-down            drain-schedule        low     queries      queries that are down in the worst round
  priority-down           drain-schedule        low     priority     summed priority of the queries that are down, in the worst round
  nodes-at-once           drain-schedule        low     nodes        most nodes that restart together
  moved-tasks             drain-schedule        low     moves        tasks that move away for a round, over all rounds
  unplaced-nodes          drain-schedule        low     nodes        nodes that should restart and are in no round
  latency-s               rebalance             low     s            pauses of all key groups that move, each moved alone
  completion-s            rebalance             low     s            time that all moves take, each alone
  bytes                   rebalance             low     bytes        what moves send over the network
  moves                   rebalance             low     moves        key groups that move
  assisted-share          rebalance             high    share        of the moves, those over a checkpoint on their target
  longest-pause-s         rebalance             low     s            longest pause of a key group, waiting in its phase included
  duration-s              rebalance             low     s            all phases, one after another
  phases                  rebalance             low     phases       phases of moves
  highest-utilisation     rebalance             low     share        load over capacity of the fullest node afterwards
  overloaded-nodes        rebalance             low     nodes        nodes that are overloaded afterwards
  overload-share          rebalance             low     share        windows in which a node is overloaded, with groups moved
  imbalance               rebalance             low     share        largest deviation of a node's load from its fair share afterwards, relative to that share
  new-copies-bytes        rebalance             low     bytes        checkpoints that are made anew
  copies-lost             rebalance             low     copies       checkpoint copies that there are fewer afterwards
  payback-s               rebalance             low     s            time after which the overload saved outweighs the load that was paused; undefined where none is saved
  blocked-moves           rebalance             low     moves        moves whose target, or what their state comes from, is down
  groups-down             rebalance             low     key groups   key groups that are on failed nodes afterwards
  lost-groups             rebalance             low     key groups   those of them whose checkpoints are all on failed nodes too
  sustained-load          scale-out             high    share        the objective: share of the demand that jobs sustain with no task above the target, weighted by output
  extra-cpu               scale-out             low     cores        cores that tasks reserve more than now, when old ones are gone
  cpu                     scale-out             low     cores        cores that all tasks reserve afterwards
  highest-utilisation     scale-out             low     share        use of the busiest task at the demand, afterwards
  operators-above-target  scale-out             low     operators    operators with a task above the target then
  fairness                scale-out             high    share        cores had over cores needed since the alarming threshold was crossed, with the new tasks; mean over the operators that are bottlenecks, undefined without one
  pause-s                 scale-out             low     s            longest pause of an operator that is split
  extra-core-seconds      scale-out             low     core-s       what runs beside the tasks that are needed, over all
  state-bytes             scale-out             low     bytes        state that new tasks take over
  operators-changed       scale-out             low     operators    operators whose tasks are replaced
  tasks-lost              scale-out             low     tasks        new tasks on failed nodes
  largest-load            peer-ring             low     share        the objective: largest load of a node over its fair share of free cpu
  zone-violations         peer-ring             low     arcs         arcs with two of their holders in one zone
  survival                peer-ring             high    probability  nothing is lost within one repair window, by failure_probability of nodes and zones; the worse end where only an interval is known
  loss-probability        peer-ring             low     probability  some key group loses its owner and all backups: the rest
  expected-lost-bytes     peer-ring             low     bytes        expected state that is lost within one repair window
  best-case               peer-ring             high    nodes        most nodes that may fail together without loss; at least so many
  fatal-zones             peer-ring             high    zones        fewest zones whose loss, all their nodes at once, loses something
  copysets                peer-ring             low     sets         distinct sets of nodes that hold all copies of a key group
  moved-bytes             peer-ring             low     bytes        what travels from the ring in place to this one, copies included
  memory-bytes            peer-ring             low     bytes        most that a node keeps for others: copies, and tuples not yet in them
  lost-groups             peer-ring             low     key groups   key groups whose owner and backups all fail
  lost-bytes              peer-ring             low     bytes        their state
  rereplicate-bytes       peer-ring             low     bytes        what travels after the failure until all copies are there again
  ready-s                 peer-ring             low     s            from the failure until all that is taken over runs again
  caught-up-s             peer-ring             low     s            the same until no record waits any more; undefined where that is never
  highest-utilisation     peer-ring             low     share        load over capacity of the fullest node, with what it takes over
  overloaded-nodes        peer-ring             low     nodes        nodes that are overloaded then
