  $ ftplan simulate --help
  Usage: ftplan simulate [OPTIONS] COMMAND [ARGS]...
    See what happens, before it does: recoveries, migrations, rings, scaling.
  Options:
    -h, --help  Show this message and exit.
  Commands:
    migration  Key groups that move: a plan's moves message by message, or adaptation over time.
    recovery   A failure and the recovery from it, batch by batch.
    ring       A peer ring at work: failures, take-overs, load that moves, nodes that join and leave.
    scaling    Operators that are split while they run: queues, latency and tasks over time.
