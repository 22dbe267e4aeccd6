"""Searches over placements of a whole repair; none promises anything, each is no worse than its start.

``list_schedule.py`` starts queries by priority per remaining work. ``order_search.py`` changes their order by ruin and
recreate [Christiaens2020] (``order_annealing.py``), ``tried_orders.py`` makes schedules in full where failures come
later. Compiled: ``placement_arrays.py`` (its rows in ``placement_rows.py``), ``placement_moves.py`` (a task),
``query_moves.py`` (a query).
"""
