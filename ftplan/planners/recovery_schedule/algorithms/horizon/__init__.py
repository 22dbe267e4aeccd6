"""All steps of a repair as one choice: which query is whole by which step, with cores summed over the nodes.

The choice is a time-indexed set-union knapsack (``time_indexed.py``, with a bound of each step by minimum cuts),
solved by ``time_indexed_model.py`` (CP-SAT) where it is small, else searched by ``ruin_and_recreate.py`` on the
compiled ``ruin_and_recreate_moves.py``. ``priority_time.py`` and ``fidelity_time.py`` are the policies for the two
objectives over time, ``fidelity_bound.py`` bounds output fidelity at every capacity by a linear relaxation.

Sums of cores promise more than nodes hold: choices may not be placeable as they are, bounds hold all the same.
"""
