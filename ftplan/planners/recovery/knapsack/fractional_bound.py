"""An upper bound on a recovery step by a fractional knapsack: each query pays its share of what it needs."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.recovery.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery.knapsack.residual import fitting

#: Share by which a bound is raised against rounding errors of its sums.
RAISED = 1e-10


def fractional_bound(knapsack: SetUnionKnapsack) -> float:
    """Return an upper bound on the summed priority of any choice that fits.

    With f queries needing a bundle of weight w, queries that pay w / f each pay together at most what their union
    costs. So a choice that fits also fits a knapsack without sharing, whose fractional optimum (Dantzig: densest
    first, the last one in part) is the bound. Queries that do not fit alone are left out, also when f is counted.
    At most the sum of their priorities; exact when all of them fit together. O(entries + Q log Q).
    """
    _, small = fitting(knapsack)
    paid = shares(small)
    with np.errstate(divide="ignore", over="ignore"):
        order = np.argsort(-(small.priority / paid), kind="stable")
    reached = np.cumsum(paid[order])
    whole = int(np.searchsorted(reached, knapsack.limit, side="right"))
    if whole == small.queries:
        return float(small.priority.sum())
    room = knapsack.limit - (float(reached[whole - 1]) if whole else 0.0)
    part = min(1.0, room / float(paid[order[whole]]))
    bound = float(small.priority[order[:whole]].sum() + part * small.priority[order[whole]])
    return whole_numbers(small.priority, min(bound * (1.0 + RAISED), float(small.priority.sum())))


def shares(knapsack: SetUnionKnapsack) -> FloatArray:
    """Return what each query pays when those that need a bundle share its weight evenly, shape (Q,)."""
    share = knapsack.weight / np.maximum(knapsack.sharing, 1)
    return np.bincount(knapsack.row, share[knapsack.member], knapsack.queries).astype(np.float64)


def whole_numbers(priority: FloatArray, bound: float) -> float:
    """Return the bound rounded down where all priorities are whole numbers, since their sums are too."""
    return float(np.floor(bound)) if np.all(priority == np.floor(priority)) else bound
