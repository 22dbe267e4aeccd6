"""How often to rescale: the cheapest schedule that a trace of demand allows, and policies that do not know it.

``trace.py`` is the account by which all are measured: task-seconds, overloaded windows, rescales. ``optimum.py`` is the
cheapest schedule with all demand known (dynamic programming in ``schedule_sweep.py``, compiled): what no policy beats;
and one that works off what rescales leave over. ``policies.py`` go by what they have seen, ``planned.py`` by a
forecast; ``choice.py`` finds the best of them.
"""
