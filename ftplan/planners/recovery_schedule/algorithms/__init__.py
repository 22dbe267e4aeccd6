"""Planners of recovery schedules: which know the problem, and neither files nor plans.

A named planner is a :class:`.repair.objectives.Method`: a solver of one step, and what it may do over time. Rows of
the registry name ``operator_centric``, ``best_density``, ``dynamic_programming``, ``local_search``, ``exact`` and
``auto``.

- ``by_objective.py`` is what all but the operator-centric order end in: it makes the schedule step by step, the
  baselines, and for objectives over time the whole repair, and returns the best.
- ``knapsack/``: one step as a set-union knapsack.
- ``schedule/``: from what is chosen at each step to a schedule on nodes.
- ``horizon/``: all steps as one choice, cores summed over the nodes.
- ``repair/``: the whole repair on its nodes, with every restore.

Each imports only those above it in this list, and ``by_objective.py`` all of them.
"""
