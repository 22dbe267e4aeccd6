"""How often to rescale: the cheapest schedule that a trace of demand allows, and policies that do not know it.

``trace.py`` is the account by which all are measured: task-seconds, overloaded windows, rescales. ``optimum.py`` is the
cheapest schedule with all demand known (dynamic programming, compiled): what no policy beats;
and one that works off what rescales leave over. ``choice.py`` has policies that go by what they have seen, or by
a forecast, and finds the best of them.
"""
