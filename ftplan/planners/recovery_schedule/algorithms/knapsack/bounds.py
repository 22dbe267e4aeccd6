"""The fractional bound on a set-union knapsack: each query pays its share of what it needs."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, fitting

#: Share by which a bound is raised against rounding errors of its sums.
RAISED = 1e-10


def fractional_bound(knapsack: SetUnionKnapsack) -> float:
    """Return an upper bound on the summed priority of any choice that fits.

    Queries that share the weight of each element evenly pay together at most what their union costs. So a choice that
    fits also fits a knapsack without sharing, whose fractional optimum (densest first, the last one in part:
    [Dantzig1957]) is the bound. Queries that do not fit alone are left out, also when sharing is counted. At most the
    sum of their priorities; exact when all of them fit together. O(entries + Q log Q).
    """
    _, small = fitting(knapsack)
    order = np.argsort(-small.density, kind="stable")
    priority, cost = small.priority[order], small.shared_cost[order]
    reached = np.cumsum(cost)
    whole = int(np.searchsorted(reached, knapsack.limit, side="right"))
    total = float(small.priority.sum())
    if whole == small.queries:
        return total
    left = knapsack.limit - (float(reached[whole - 1]) if whole else 0.0)
    part = min(1.0, left / float(cost[whole]))
    bound = float(priority[:whole].sum() + part * priority[whole])
    return whole_numbers(small.priority, min(bound * (1.0 + RAISED), total))


def whole_numbers(priority: FloatArray, bound: float) -> float:
    """Return the bound rounded down where all priorities are whole numbers, since their sums are too."""
    return float(np.floor(bound)) if np.all(priority == np.floor(priority)) else bound
