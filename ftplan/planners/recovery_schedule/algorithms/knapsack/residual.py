"""The part of a recovery step that is left: queries that may be chosen, over the bundles that still cost something."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, group_starts


def residual(
    knapsack: SetUnionKnapsack, queries: BoolArray, weight: FloatArray, capacity: float
) -> tuple[SetUnionKnapsack, IntArray]:
    """Return the knapsack of some queries (Q,) for new weights (B,) and capacity, and the bundles that are left.

    A bundle of no weight, or of no query that is left, restricts nothing. Linear in the entries.
    """
    entries = queries[knapsack.row] & (weight[knapsack.member] > 0.0)
    bundles, member = np.unique(knapsack.member[entries], return_inverse=True)
    row = (np.cumsum(queries) - 1)[knapsack.row[entries]]
    start = group_starts(row, int(queries.sum()))
    small = SetUnionKnapsack(knapsack.priority[queries], weight[bundles], start, member.astype(np.int64), capacity)
    return small, bundles


def fitting(knapsack: SetUnionKnapsack) -> tuple[IntArray, SetUnionKnapsack]:
    """Return the queries that fit alone, and the knapsack of only these.

    A query that costs more than the capacity is in no choice, so how often its bundles are shared is counted without
    it.
    """
    alone = np.bincount(knapsack.row, knapsack.weight[knapsack.member], knapsack.queries)
    fit = alone <= knapsack.limit * (1.0 + NOISE)
    return np.flatnonzero(fit), residual(knapsack, fit, knapsack.weight, knapsack.capacity)[0]
