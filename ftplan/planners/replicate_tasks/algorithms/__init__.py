"""Planners of task replications: which know the problem, and neither files nor plans.

Rows of the registry name ``greedy``, ``dynamic_programming``, ``structure_aware`` and ``exact``. ``planner.py`` has
what each takes and returns, and asks one with a proven bound (``bounds.py``).

- ``deployment.py`` sets an answer against the replicas in place, ``fewest.py`` reaches a target, ``curve.py`` asks
  for many budgets; ``recovery_savings.py`` chooses by the recovery afterwards, by ``restore_sets.py``.
- ``replica_placement.py`` is a solution while it grows and changes; ``shortage.py`` says why there is none.
- ``search/``: growth by MC-trees, ladders of budgets, branch and bound. ``models/``: fidelity as circuits, tables and
  integer programs.
"""
