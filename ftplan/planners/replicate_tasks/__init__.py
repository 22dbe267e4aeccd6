"""``replicate-tasks``: which tasks get an active replica, and where, so that failures leave most output intact?

Model ([SuZhou2016], sections III and IV). Failure case c of weight p[c] takes down tasks and nodes; a task lives
where it does not fail, or its replica lives. F is *output fidelity*, the share of complete output (or another
metric)::

    max Σ_c p[c] · F(live tasks in c)    s. t.  Σ_t weight[t] · replicate[t] <= budget,  room, zones, limit on changes

In the worst case all tasks fail. Where paths join, F multiplies: it pays to replicate *MC-trees*, minimal sets of
tasks that put something out. With ``--then-recover`` the objective is least expected priority × seconds down in the
recovery schedule that follows each case.

From files to a plan:

- ``kind.py`` is the row, ``options.py`` has every option with its default; ``make.py`` leads through what follows.
- ``prepare.py`` makes the arrays of ``problem.py``, with a budget (``budget.py``), nodes and replicas in place
  (``hosts.py``), and a metric besides output fidelity: internal completeness or ``key_aligned_fidelity.py``.
- ``algorithms/`` answers; ``mc_trees.py`` and, shared with others, ``model/measures/fidelity_gains.py`` (what one
  replica more or less does) and ``planners/fidelity_circuit/`` are its measures.
- ``then_recover.py`` asks ``recovery_schedule/`` about the ``recovery_cases.py``.
- ``body.py`` is the body of the plan and writes it; ``metrics.py`` has its figures.

From a plan, without any algorithm: ``from_plan.py`` is the question again, ``rules.py`` the checker, ``judge.py``
(verify), ``score.py`` (evaluate), ``explain.py`` with ``candidates.py``, ``diff.py``.
Tables are in ``view.py``, pictures in ``figure.py``.

Proven: exact and dynamic programming are optimal or state the gap, and so does auto, the default: structure-aware and
then exact; every planner's answer has a proven bound; on
nodes more budget is never worse with structure-aware. docs/methods/replication.md has the reasons.
"""

#: Modules that other questions may import.
SHARED = ()
