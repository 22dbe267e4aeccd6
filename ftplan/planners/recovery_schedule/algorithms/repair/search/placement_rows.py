"""Rows of the arrays of :mod:`placement_arrays`: few arrays compile in a fraction of the time that many take."""

from __future__ import annotations

# Repair.of_query
PRIORITY, FLOOR = 0, 1
# Repair.of_task
COST, NOTICED, DOWN, REPLAY, CATCH_UP, RESTORE, URGENCY, BULK = 0, 1, 2, 3, 4, 5, 6, 7
# Repair.of_bundle
CORES, WORK = 0, 1
# Repair.near
NEAR_HOST, NEAR_SECONDS = 0, 1
# Placed.task_real
KEY, STEP, READY, CAUGHT, OLD_KEY, OLD_STEP, BEST_KEY, BEST_STEP = 0, 1, 2, 3, 4, 5, 6, 7
# Placed.task_int and, the first two, Placed.query_int
CHANGED_IN, CHANGED, HOST, LATER, EARLIER, OLD_HOST, LISTED, BEST_HOST = 0, 1, 2, 3, 4, 5, 6, 7
# Placed.query_int
IS_STALE, CHOSEN, OLD_CHOSEN, STALE_QUERY = 2, 3, 4, 5
# Placed.query_real
RANK, BEGINS, BACK, OLD_RANK, OLD_BEGINS = 0, 1, 2, 3, 4
# Placed.bundle_int, with IS_STALE
NEED, STALE_BUNDLE = 0, 1
# Placed.counter
ROUND, TASKS, QUERIES, STALE, LISTED_NOW = 0, 1, 2, 3, 4

#: Noise of the moves: how often a host is overlooked, how much chance there is in the order of a query's tasks, and
#: which share of the time that is left a task may come later than its query would be whole at best.
BLINK, JITTER, SLACK = 0, 1, 2
#: How the hosts of a query's tasks are chosen: the soonest; as late as the query waits anyway; there the fullest.
SOONEST, LATEST, TIGHTEST = 0, 1, 2
