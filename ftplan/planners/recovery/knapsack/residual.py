"""The part of a recovery step that can matter: queries that fit alone, and the bundles that cost something."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.recovery.knapsack.instance import SetUnionKnapsack

#: Sums of the same cores in another order differ by less than this share.
ROUNDING = 1e-12


def fitting(knapsack: SetUnionKnapsack) -> tuple[IntArray, SetUnionKnapsack]:
    """Return the queries that fit alone, and the knapsack of only these over the bundles of positive weight.

    A query that costs more than the capacity is in no choice, so how often its bundles are shared is counted without
    it. A bundle of no weight, or of no query that is left, restricts nothing. Linear in the entries.
    """
    alone = np.bincount(knapsack.row, knapsack.weight[knapsack.member], knapsack.queries)
    fit = alone <= knapsack.limit * (1.0 + ROUNDING)
    entries = fit[knapsack.row] & (knapsack.weight[knapsack.member] > 0.0)
    bundles, member = np.unique(knapsack.member[entries], return_inverse=True)
    queries = np.flatnonzero(fit)
    counts = np.bincount(knapsack.row[entries], minlength=knapsack.queries)[queries]
    return queries, SetUnionKnapsack(
        priority=knapsack.priority[queries],
        weight=knapsack.weight[bundles],
        start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        member=member.astype(np.int64),
        capacity=knapsack.capacity,
    )
