"""Apache Flink: its REST endpoint, its reporter's logs, its checkpoints; and what of a plan its configuration can say.

Answers are JSON pages: ``/jobs/:id`` (plan, vertices), a vertex's subtasks with their counters and hosts, checkpoints,
task managers. They come live, from ``ftplan collect``, or saved by hand, when :mod:`.pages` tells by content which page
each is. An operator of ftplan is a vertex (a chain), a task a subtask, a key group Flink's own.

::

    importer    pages -> records (newest complete poll of each job) -> vertices (plan) -> assemble
    assemble    puts together hosts, measured (rates, cores, state), flows (what each edge carries), keys, joins
    collector   what a poll asks for
    rest_log    collected answers as a log        slf4j_log   the Slf4jReporter's log, whose names are read by names
    counter_rows, rest_files                      shared by log readers; state by key group from metadata of checkpoints
    exporter    a fragment of config.yaml, the rest as remarks

Not said by Flink, and assumed with a warning: how a flow divides over pairs of tasks, which input of a vertex had how
many records where several do, whether two keyed inputs are joined (names tell), cores of tasks without busy time. State
by key group is known only from metadata of heap checkpoints and savepoints. Flink cannot be told where a task runs.
"""
