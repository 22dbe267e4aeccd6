"""Exact models of the allocation.

``flow``: a limit on numbers of copies alone. ``linear_model``: branch and cut by SCIP; ``reduced_cost_fixing``, above
this folder, leaves it few columns. ``integer_model``: CP-SAT says whether limits can be kept, and how far one must
stretch. ``failover_rows``: the failover rule in both.
"""
