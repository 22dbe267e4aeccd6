"""Frozen data: topology, cluster, statistics, failure, plan. Numpy inside, no input or output.

- What is read: ``topology.py``, ``cluster.py``, ``failure.py``, ``statistics.py``, ``recovery_costs.py``; together a
  ``problem.py``. What is written: ``plan.py``, the envelope of every plan, and ``violation.py``.
- What follows from the topology: ``task_graph.py`` (tasks by number), ``rates.py``, ``failed_queries.py``.
- ``measures/``: what several questions measure, from statistics or plans.
- Names and numbers: ``kinds.py`` (the questions), ``names.py`` (identifiers, order),
  ``units.py``, ``ranges.py``, ``tolerances.py``, ``defaults.py``; ``machine_limits.py`` is what this machine has.
"""
