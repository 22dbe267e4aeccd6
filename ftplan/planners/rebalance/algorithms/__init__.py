"""Planners of rebalances. They know problem, rules, effects and costs of the question, no file and no option.

- ``adaptive.py`` (default) pairs the most with the least loaded node as in [Madsen2015], section 7.1 (``pairing.py``),
  improves that (``search/``), and closes gaps by small integer programs. ``exact.py`` starts from it, solves the whole
  (``models/``) and cuts off moves that no phases can carry out.
- ``candidates.py`` is what each key group costs on each node; all of the above read it.
- ``lower_bound.py`` on ``relaxation.py``: prices of load, and covers of what has to leave a node.
- ``outcome.py`` turns moves into a result: ``phases/``, copies made anew, status.
- ``infeasibility.py`` with ``raisable_limits.py``: why there is no rebalance, and the smallest change that helps.
- ``cluster_size.py`` with ``fewest_nodes.py``: how many nodes to add or to remove, and which.
"""
