The options, as a newcomer reads them.

  $ ftplan scale-out --help
  Usage: ftplan scale-out [OPTIONS]
    Plan which operators get how many tasks: find bottlenecks early, and split them at the right cost.
    Scores operators by cpu, memory and data size of their worst task (0 to 100, --rules), window by window:
    from --alarming on an operator is prepared, above --promote it is a bottleneck, below --scale-in it has
    too many tasks. How many it needs follows from the time that its tasks take for a record, not from back
    pressure, which blames the wrong one. The plan gives every operator that changes tasks, key ranges and,
    with a cluster, nodes, a --technique that carries its state over, what that pauses and costs, and the
    steps. Needs a topology and statistics over time.
  Options:
    -t, --topology FILE             Topology, YAML or JSON; - is standard input.
    -c, --cluster FILE              Cluster, YAML or JSON.
    -s, --stats DIR                 Statistics folder, from compute-stats.
    --spread                        Without a placement, place tasks round robin in file order.
    --max-stats-age AGE             Refuse statistics that end earlier than this before now.
    --min-coverage SHARE            Refuse statistics with records in fewer windows than this.
    --algorithm [exact|ds2|doubling]
                                    The planner.  [default: exact]
    --alarming X|auto               Score from which an operator is prepared: a secondary is started, or its
                                    state checkpointed. auto = the one with the least backup running time that
                                    is ready in --ready of the crossings in the statistics.  [default: 55.0]
    --promote X                     Score above which an operator is a bottleneck, and is split.  [default:
                                    70.0]
    --scale-in X                    Score below which an operator has too many tasks.  [default: 25.0]
    --hold N                        Windows for which a score stays below --scale-in before tasks go.
                                    [default: 3; x>=1]
    --rules FILE                    Labels, membership functions and rules of the fuzzy inference.  [default:
                                    those of --print-rules]
    --technique [active-backup|checkpoint|assisted|auto]
                                    How operators are split: active-backup = a secondary runs from --alarming
                                    on; checkpoint = state is stored from --alarming on, then loaded and
                                    replayed; assisted = where checkpoints lie on the nodes already; auto =
                                    the least extra core-seconds within --latency-budget.  [default: auto]
    --latency-budget TIME           No pause is longer.  [default: 1s, where --technique auto reaches it]
    --split [load|hash]             How key groups are divided: load = contiguous ranges of even load; hash =
                                    of even number, as engines do.  [default: load]
    --target-utilisation X          No task is busier than this at the demand that operators are sized for.
                                    [default: 0.7]
    --demand peak|mean|pN           Which demand of the windows of --look-back operators are sized for, at
                                    least.  [default: peak]
    --look-back TIME                Windows that sizes follow from, up to the end of the statistics.
                                    [default: 1d]
    --forecast [auto|none|seasonal-naive|smoothing|trend]
                                    How demand goes on: auto = whichever foretold the statistics best, judged
                                    on time that it had not seen.  [default: auto]
    --horizon TIME                  How far ahead demand is foretold.  [default: 1h]
    --growth X                      Multiplies the demand of sources, for what-if.  [default: 1.0]
    --task-capacity X               Records per second that a task takes at full use.  [default: true rates,
                                    from the time that tasks were busy]
    --task-memory SIZE              State that a task may hold, such as 2GB.  [default: its share of its
                                    node's memory]
    --max-parallelism N             Most tasks of an operator.  [default: its key groups, else 128]  [x>=1]
    --free-cpu X                    Cores that new tasks may take while the old ones still run.
    --quota X                       Cores of all tasks together, at any time.
    --key-log FILE                  Records by key (columns operator, key, records; Parquet or CSV): every max
                                    parallelism is tried on them.
    --ready X                       With --alarming auto: the share of crossings for which backups are ready.
                                    [default: 0.95]
    --setup TIME                    How long new tasks take to start, without state.  [default: restart_s of
                                    --costs, else 30s]
    --checkpoint-interval TIME      How often state is stored from --alarming on.  [default: the operator's
                                    interval, else 60s]
    --checkpoint-records N          Store it also when so many records have changed it since, sooner than
                                    that.
    --bandwidth SPEED               Of state transfers, per second: MB of 2^20 bytes, or a size such as 1GB.
                                    [default: as --costs says, else the cluster's network, else 100MB]
    --max-rescales-per-day N        Replay policies that rescale an operator at most so often a day: the one
                                    of fewest core-hours on the first half of the statistics is judged on the
                                    rest, beside the optimum that knows all demand.  [x>=0]
    --rescale-time TIME             For how long nothing is processed while an operator is rescaled.
                                    [default: restart_s of --costs, else 30s]
    --max-overloaded X              With --max-rescales-per-day: the share of windows that may be overloaded;
                                    of policies, the share that may end with work left over.  [default: 0.05]
    --costs FILE                    Recovery costs, as fitted on measured recoveries.
    --checkpoints PLAN              Checkpoint allocation in place: no transfer where a copy lies; wins over
                                    placement.checkpoints.
    --plot FILE                     Draw the scores of operators over time, as .svg or .png.
    --seed INTEGER RANGE            Seed of every random choice.  [default: 0; 0<=x<=2147483647]
    --time-limit TIME               Stop searching after this time.  [default: 60s]
    --iterations N                  Bound the search by work instead of time.  [x>=0]
    -o, --output FILE               Write JSON here; - is standard output.  [default: -]
    --force                         Overwrite an existing output.
    --format [json|table|markdown]  How standard output looks.  [default: table on a terminal, else json]
    --detailed-exitcode             Exit 3 when the plan changes the number of tasks of any operator.
    --no-progress                   No progress bar.
    -q, --quiet                     Only the answer and errors.
    -v, --verbose                   Say on standard error what is read and how long it takes.
    --debug                         Show the trace of an error.
    --print-rules                   Print the rules that come with ftplan, to change a copy for --rules, and
                                    exit.
    -h, --help                      Show this message and exit.

The rules that come with ftplan.

  $ ftplan scale-out --print-rules
  # How "ftplan scale-out" scores how near a task is to being a bottleneck, from 0 to 100. These are the rules that come
  # with ftplan; change a copy, and give it with --rules FILE ("ftplan check FILE" reads it). They are ours: the paper
  # that this way of scoring follows gives none.
  #
  # inputs   What is known of a task in a window, in percent; one that is left out does not count.
  #            cpu     of its time that it was at work
  #            memory  of the memory that it may hold
  #            data    records that wait for it, of what it takes in a window
  #          Each has labels. A label is a trapezoid, [start, top, last, end]: its degree is 0 up to start, rises to 1 at
  #          top, falls from last on, and is 0 from end on; or a triangle, [start, top, end].
  # score    Labels of the score, in the same way.
  # rules    What follows from what:
  #            if CONDITION then LABEL, or: otherwise LABEL   (as far as no other rule holds)
  #          A condition is one of these, or several joined by "and", "or", "not" and parentheses ("and" binds closer):
  #            cpu is high       data is not low
  #            all high          any high          none high          (of the inputs)
  #            two or more high  exactly two high
  #          "and" is the least degree, "or" the largest, "not" what is missing to 1, "two or more" the second largest.
  #
  # Every label of the score is cut at the largest degree of its rules; the score is the centre of gravity of what is
  # left. As the outer labels have a width, no score is 0 or 100: with these rules they lie between 20.42 and 79.58, and
  # a threshold outside is refused.
  format: ftplan/bottleneck-rules
  format_version: "1.0"
  inputs:
    cpu:
      low: [0, 0, 30, 50]
      medium: [30, 50, 70]
      high: [50, 70, 100, 100]
    memory:
      low: [0, 0, 30, 50]
      medium: [30, 50, 70]
      high: [50, 70, 100, 100]
    data:
      low: [0, 0, 30, 50]
      medium: [30, 50, 70]
      high: [50, 70, 100, 100]
  score:
    under: [0, 0, 30, 50]
    normal: [30, 50, 70]
    over: [50, 70, 100, 100]
  rules:
    - if two or more high then over
    - if data is high and cpu is not low then over
    - if two or more low and none high then under
    - otherwise normal
