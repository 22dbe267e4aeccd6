"""Choices that fit from choices that do not, or that leave room: drop and add queries by density."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.profit_density import density

#: Share of the chosen queries that are dropped before shares are computed again.
DROPPED_AT_ONCE = 0.03


def complete(knapsack: SetUnionKnapsack, chosen: BoolArray, weight: FloatArray, budget: Budget) -> BoolArray:
    """Add the query with the largest priority for its missing *weight* (B,) while one fits; ties by name.

    With each element's own weight this is the plain density, with the weight divided by its sharing that of [SuZhouTR].
    Cost O(matrix + added queries × Q).
    """
    covered, chosen = knapsack.covered(chosen), chosen.copy()
    start, queries = knapsack.by_element
    due = ~covered[knapsack.member]
    cost = np.bincount(knapsack.row, knapsack.weight[knapsack.member] * due, knapsack.queries)
    rated = np.bincount(knapsack.row, weight[knapsack.member] * due, knapsack.queries)
    residual = knapsack.limit - float(knapsack.weight[covered].sum())
    while not budget.over():
        may = ~chosen & (cost <= residual)
        if not may.any():
            break
        # sums that were subtracted from have rounding errors: what is nearly free is free
        best = int(np.where(may, density.plain(knapsack.priority, np.maximum(rated, NOISE)), -1.0).argmax())
        chosen[best] = True
        for b in knapsack.member[knapsack.start[best] : knapsack.start[best + 1]].tolist():
            if not covered[b]:
                covered[b] = True
                residual -= float(knapsack.weight[b])
                cost[queries[start[b] : start[b + 1]]] -= knapsack.weight[b]
                rated[queries[start[b] : start[b + 1]]] -= weight[b]
    return chosen


def trim(knapsack: SetUnionKnapsack, chosen: BoolArray, budget: Budget) -> BoolArray:
    """Drop queries until the rest fits: those with the least priority for their share of what is chosen, in batches.

    Where the time is over, as many at once as have the cores that are lacking.
    """
    chosen = chosen.copy()
    while not knapsack.fits(chosen):
        entry = chosen[knapsack.row]
        member, row = knapsack.member[entry], knapsack.row[entry]
        sharing = np.bincount(member, minlength=knapsack.elements)
        share = np.bincount(row, (knapsack.weight / np.maximum(sharing, 1))[member], knapsack.queries)
        order = np.argsort(np.where(chosen, density.plain(knapsack.priority, share), np.inf), kind="stable")
        freed = np.cumsum(share[order])
        enough = int(np.searchsorted(freed, knapsack.cost(chosen) - knapsack.limit)) + 1
        batch = enough if budget.over() else max(1, int(DROPPED_AT_ONCE * chosen.sum()))
        chosen[order[: min(batch, enough)]] = False
    return chosen


def best_completion(knapsack: SetUnionKnapsack, starts: list[BoolArray], budget: Budget) -> BoolArray:
    """Return the most valuable choice that grows from any of *starts*, trimmed where they do not fit."""
    weights = (knapsack.weight, knapsack.weight / np.maximum(knapsack.sharing, 1))
    candidates: list[BoolArray] = []
    for start in starts:
        fitting = trim(knapsack, start, budget)
        candidates += [*(complete(knapsack, fitting, weight, budget) for weight in weights), fitting]
    possible = [chosen for chosen in candidates if knapsack.fits(chosen)]
    return max(possible, key=knapsack.value, default=np.zeros(knapsack.queries, dtype=np.bool_))
