"""How many tasks bottlenecks get, on which nodes, by which technique. Knows problem, effects, rules and costs only.

- ``exact.py`` (default): levels of jobs in an integer program. ``baselines.py``: ``ds2`` and ``doubling``, cut
  down to what fits.
- ``free_cores.py``: the choices, and whether they fit beside the old tasks, in two waves. ``nodes.py``: which task
  goes where.
- ``outcome.py``: ranges, order of the changes, status, warnings.
- ``techniques.py``: the cheapest technique whose pause is short enough. ``alarming.py``: the threshold that leaves
  time to prepare with the fewest backups. ``churn/``: how often to rescale.
"""
