"""When is which query back after a failure, under a recovery schedule and a way to recover?

A job's tasks process batches at the topology's rates and share the cores of their nodes max-min fair; nodes fail, what
was on them is gone, new ones arrive. The coordinator notices it, takes tasks back to checkpoints and starts failed ones
where and when the schedule says. A query is available while its latency is below so
many times its usual one. Incremental recovery is that of [SuZhouTR], section 4; ``modes`` has others, as Storm, Spark
Streaming, Flink, Clonos and CheckMate recover.

``simulate`` prepares the ``scene`` (``job``: streams, what a record takes, cores; ``times``) and compares
``contenders``: a mode with a schedule (``schedules``) and what is random. ``runs`` carries them out in several
processes: ``run`` lets a ``coordinator`` (``agenda``, ``hosts``, ``controlled_tasks``) give orders to a plane of
``ftplan.simulation.dataflow``; ``series`` measures queries over time.

Held against: recovery times in closed form (``tests/simulation/oracles``), exactly-once record by record on the slow
plane in every mode, jobs of three or four tasks counted by hand, and recoveries measured on Flink
(``benchmarks/against_reality.py``).
"""
