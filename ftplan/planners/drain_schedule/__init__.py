"""``drain-schedule``: which nodes restart together, so that all have restarted after the fewest rounds?

Model. Nodes are split into rounds R_1 .. R_k; a round restarts its nodes together, and all are back before the next::

    min k    s. t.  every R_j is an allowed set of nodes

A set is allowed where no two copies of a key group (``--keep-copies``), and no task with its replica, go down
together; it has at most so many nodes, in all and of a zone; queries of a priority stay up; output fidelity
([SuZhou2016], section IV) stays above a limit; with ``--move`` its tasks find room elsewhere (two-dimensional bin
packing). By default the nodes of a round are of one zone, never all, and leave some output unless each takes all of it
even alone. Every subset of an allowed set is allowed: an independence system, so that this is graph colouring made
general. Among as few rounds those that are shorter in all are preferred.

From files to a plan:

- ``kind.py`` is the row, ``options.py`` has every option with its default; ``make.py`` leads through what follows.
- ``prepare.py`` makes the arrays of ``problem.py``; ``rules.py`` says what goes down with a set and what that breaks,
  ``packing.py`` where tasks that move find room.
- ``algorithms/`` answers, and says how many nodes may stop now (``algorithms/largest_set.py``).
- ``body.py`` is the body of the plan and writes it, with the summary; ``metrics.py`` has the figures, and the
  schedules that it is compared with: one by one, zone by zone.

From a plan, without any algorithm: ``from_plan.py`` is the question again, ``rules.py`` the checker, ``judge.py``
(verify), ``score.py`` (evaluate), ``explain.py``, ``diff.py``. Tables are in ``view.py``, pictures in ``figure.py``.

Proven: exact has the fewest rounds or states the gap: an integer program, and prices at which no allowed set is worth
more than a round ([MehrotraTrick1996], bounds safe from rounding by [Held2012]). greedy is never worse than one by one
or zone by zone, with a bound by cliques, zones and numbers. The time in all is not proven.
docs/methods/drain.md has the reasons.
"""

#: Modules that other questions may import.
SHARED: tuple[str, ...] = ()
