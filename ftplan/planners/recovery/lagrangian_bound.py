"""Upper bounds on a set-union knapsack: shares of weights, and the best price on the capacity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.knapsack import BoolArray, SetUnionKnapsack
from ftplan.planners.recovery.priced_closure import ROUNDING, PricedClosure, priced_closure
from ftplan.planners.recovery.reduction import Fixed

#: Minimum cuts after which the search for the best price ends; a dozen is usual.
MOST_CUTS = 60


def share_bound(knapsack: SetUnionKnapsack) -> float:
    """Return the fractional knapsack of all queries at their shares of weights, an upper bound in O(matrix).

    Su & Zhou's density splits the weight of a bundle evenly among the f queries that need it. The cost of any set of
    queries is at least the sum of their shares, since each bundle that it pays is shared by at most f of its queries.
    """
    share = np.bincount(
        knapsack.row,
        (knapsack.weight / np.maximum(knapsack.sharing, 1))[knapsack.member],
        knapsack.queries,
    )
    with np.errstate(divide="ignore"):
        order = np.argsort(-knapsack.priority / share, kind="stable")
    used = np.concatenate(([0.0], np.cumsum(share[order])[:-1]))
    part = np.clip((knapsack.limit - used) / np.maximum(share[order], 1e-300), 0.0, 1.0)
    part[share[order] <= 0.0] = 1.0
    return float((knapsack.priority[order] * part).sum()) * (1 + ROUNDING)


@dataclass(frozen=True, eq=False)
class Dual:
    """The Lagrangian bound, the largest closures on both sides of the capacity, and bounds under conditions.

    ``below`` fits; ``above`` does not, or is all queries. Conditions as in :class:`PricedClosure`, the least over all
    prices that were tried.
    """

    bound: float
    below: BoolArray  # (Q,)
    above: BoolArray  # (Q,)
    if_in: FloatArray  # (Q,)
    if_out: FloatArray  # (Q,)
    if_paid: FloatArray  # (B,)
    if_barred: FloatArray  # (B,)
    cuts: int

    def fixed(self, at_least: float) -> Fixed:
        """Return what holds for each choice that is worth *at_least* so much."""
        return Fixed(self.if_out < at_least, self.if_in < at_least, self.if_barred < at_least, self.if_paid < at_least)


def best_price(knapsack: SetUnionKnapsack, budget: Budget) -> Dual:
    """Return the least bound over all prices: the linear relaxation's, since closures are integral.

    The line through the values of a closure that fits and one that does not gives the next price; it ends where no
    closure lies above the line (Dinkelbach's steps on a concave envelope). Each cut is one iteration.
    """
    below, above = np.zeros(knapsack.queries, np.bool_), np.ones(knapsack.queries, np.bool_)
    bound = share_bound(knapsack)
    queries, bundles = np.full(knapsack.queries, bound), np.full(knapsack.bundles, bound)
    dual = Dual(bound, below, above, queries, queries, bundles, bundles, 0)
    for cuts in range(1, budget.passes(MOST_CUTS) + 1):
        if budget.over():
            break
        low, high = knapsack.cost(dual.below), knapsack.cost(dual.above)
        if high <= low:
            break
        least, most = knapsack.value(dual.below), knapsack.value(dual.above)
        price = (most - least) / (high - low)
        at_price = priced_closure(knapsack, price)
        fits = knapsack.cost(at_price.queries) <= knapsack.limit
        dual = _tighter(dual, at_price, fits, cuts)
        line = least + price * (knapsack.limit - low)
        if at_price.bound <= line * (1 + 1e-9):
            break
    return dual


def _tighter(dual: Dual, found: PricedClosure, fits: bool, cuts: int) -> Dual:
    """Return the dual with what another price proves."""
    return Dual(
        min(dual.bound, found.bound),
        found.queries if fits else dual.below,
        dual.above if fits else found.queries,
        np.minimum(dual.if_in, found.if_in),
        np.minimum(dual.if_out, found.if_out),
        np.minimum(dual.if_paid, found.if_paid),
        np.minimum(dual.if_barred, found.if_barred),
        cuts,
    )
