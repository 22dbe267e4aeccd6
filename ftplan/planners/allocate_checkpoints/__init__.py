"""``allocate-checkpoints``: on which nodes do the checkpoint copies of each key group lie?

A node that is overloaded can hand a key group over cheaply to a node that holds a copy of its state, and a lost key
group is restored where its copy is.

Model ([Madsen2015], section 6, a generalised assignment problem). x[g, i] says that a copy of key group g lies on node
i; c copies each; home(g) is the node of its primary::

    min Σ_g Σ_i cost[g, i] · x[g, i]    s. t.  Σ_i x[g, i] = c,  x[g, home(g)] = 0,  zones apart,  and on each node
        (1 - Δ) · fair[i] <= Σ_g load[g] · x[g, i] <= (1 + Δ) · fair[i]   (or its number of copies),  memory,
        after the loss of any one node or zone no survivor above the failover limit

cost[g, i] is, by ``objective.py``: ``correlation``, load[g] × Σ corr(g, h) over the groups h on i (the paper's);
``node-correlation``, with the load of i as a whole; ``usable``, minus the windows in which g's node is overloaded and
i could take g.

From files to a plan:

- ``kind.py`` is the row, ``options.py`` has every option with its default; ``make.py`` leads through what follows.
- ``prepare.py`` has the inputs and the windows, ``problem.py`` makes the arrays of ``algorithms/arrays.py``.
- ``algorithms/`` answers; ``maintenance.py`` moves what is in place towards that answer, and no more than needed.
- ``body.py`` is the body of the plan: assignments and moves; ``summary.py`` has its figures and whether it is worth
  having, ``holdout.py`` judges it on the last part of the trace; ``copy_measures.py`` and ``metrics.py`` measure.

From a plan, without any algorithm: ``rules.py`` has the rules and ``violations.py`` the checker, ``judge.py`` (verify),
``score.py`` (evaluate), ``explain.py``, ``diff.py``. Tables are in
``view.py``, pictures in ``figure.py``. ``key_group_sweep.py`` asks how many key groups an operator should have.

Proven: exact is optimal or states the gap, and so does auto, the default, which begins with correlated; correlated
(Algorithm 3, corrected) is optimal without a balance rule; the least balance and failover limit are proven, or said to
be open; maintenance keeps the rules of the fresh plan.
docs/methods/checkpoints.md has the reasons.
"""

#: Modules that other questions may import.
SHARED: tuple[str, ...] = ()
