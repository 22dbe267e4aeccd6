What ftplan can do.

  $ ftplan --help
  Usage: ftplan [OPTIONS] COMMAND [ARGS]...
    Plan the recovery of stream-processing jobs: checkpoints, replicas, recoveries, with proven bounds.
    Inputs come from flags, FTPLAN_* variables or ftplan.toml in the working folder or its parents, in this
    order. Standard output carries the answer only: JSON in a pipe, a table on a terminal.
  Options:
    --version   Show the version and exit.
    -h, --help  Show this message and exit.
  Commands:
    init                  Write starter files: topology, cluster, ftplan.toml.
    check                 Validate input files.
    collect               Save what an engine's REST endpoint answers over time.
    compute-stats         Compute statistics from logs with PySpark.
    stats-summary         Show what a statistics folder says.
    import-topology       Import a job and its hosts from an engine.
    generate              Make topologies, clusters, statistics, failures at random.
    allocate-checkpoints  Plan where each key group's checkpoint goes.
    replicate-tasks       Plan which tasks get an active replica.
    recovery-schedule     Plan which failed tasks come back first.
    rebalance             Plan which key groups move where, with short pauses.
    scale-out             Plan how many tasks operators get, before they are bottlenecks.
    drain-schedule        Plan which nodes restart together, in how few rounds.
    peer-ring             Plan tokens and copies on a ring that survives failures.
    checkpoint-interval   Find the interval that loses least time.
    calibrate             Fit what a recovery costs to measured recoveries.
    what-if               Plan or evaluate under many changed inputs, on all cores.
    simulate              See recoveries and migrations happen, or what a failure leaves.
    evaluate              Score a plan, also under failures or on other statistics.
    verify                Hold a plan to its rules and to its inputs.
    explain               Say why a plan decided as it did.
    diff                  Show what changes from one plan to another.
    export-plan           Write a plan in the words of an engine.
    report                Put plans onto one HTML page, for people.
    algorithms            List the planners, or the metrics.
    schema                Print the JSON Schema of a kind of file.
    doctor                Say what is installed and what works here.
