"""What do queues, latency and tasks do while operators are split, and does all count once?

The input comes in batches, numbered by the sources. Every task processes its key groups' part of each batch in turn;
what a split operator puts out is put in order again by these numbers before it goes on [Mudassar2019, figure 6]. Fuzzy
scores of tasks in every window tell bottlenecks [Mudassar2019, algorithm 1], or a plan of kind scale-out says who is
split when; Storm's way is to restart the whole topology.

``simulate`` asks of a ``scene`` (its ``job`` from files, its ``load`` over time) what each mode does. ``run`` puts a
``job_run`` under a ``coordinator``: ``operator_run`` divides input among tasks and puts output in order, ``task`` and
``keyed_state`` are one task and what it holds, ``detector`` scores, ``splits`` has the techniques; ``run`` also tells
what came of it.

Held against: queues as formulas have them, the state of an operator that was never split, and the shape of figures 10,
11, 13 and 14 of the paper.
"""
