"""``recovery-schedule``: nodes failed and room is scarce. Which failed tasks are restored first, where, and when?

Model ([SuZhouTR], sections 4 and 5). A *query* is an output task with all tasks upstream of it; it is restored when
the last of its failed tasks is. A step is taken at the failure, at each later failure and when nodes arrive. In one
step, with c cores free (definition 2, a set-union knapsack)::

    max Σ_q priority[q] · whole[q]    s. t.  Σ_t cpu[t] · restored[t] <= c,  whole[q] <= restored[t] for every t of q

That is the paper's objective ``priority``, step after step. ``priority-time``, the default, is least Σ priority ×
seconds down until the horizon and ``fidelity-time`` most output fidelity × seconds: the whole repair as one scheduling
problem, with nodes that arrive and fail, restore slots on each node, replay, and running tasks that may be paused.

From files to a plan:

- ``kind.py`` is the row, ``options.py`` has every option with its default; ``make.py`` leads through what follows.
- ``prepare.py`` makes the arrays of ``problem.py``: what failed and what that costs, where there is room and what lies
  there (``hosts.py``), who arrives, and until when the repair is looked at where it is not given.
- ``algorithms/`` answers with a ``schedule.py``; ``profit_density.py`` is the paper's measure of a query.
- ``body.py`` is the body of the plan and writes it; ``metrics.py`` compares it with its baselines, ``warnings.py``
  and, where no query returns, ``smallest_fix.py`` say what an operator should know.

From a plan, without any algorithm: ``incident.py`` is what the plan is judged against, ``replay/`` plays it against
that, ``rules.py`` is the checker, ``judge.py`` (verify), ``score.py`` (evaluate), ``explain.py`` with
``explain_times.py`` and ``candidates.py``, ``diff.py``. Tables are in ``view.py`` and ``view_charts.py``, pictures in
``figure.py``, what both read of a plan in ``figure_times.py``. ``following.py`` is the recovery as the choice
of replicas asks for it.

Proven: best-density reaches 1 - e^(-1/d) of each step's optimum where no failed task is in more than d failed queries
and its seeds are complete; exact and dynamic programming are optimal by step; over time exact and auto have the best
bound of several relaxations. No answer but that of operator-centric is worse than the baselines.
docs/methods/recovery.md has the reasons.
"""

#: Modules that other questions may import.
SHARED = ("body", "following", "judge", "options", "prepare")
