"""An upper bound on a set-union knapsack by the best price on its capacity, and what it proves of single queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.knapsack.fractional_bound import fractional_bound
from ftplan.planners.recovery.knapsack.instance import BoolArray, SetUnionKnapsack
from ftplan.planners.recovery.knapsack.priced_closure import PricedClosure, priced_closure
from ftplan.planners.recovery.knapsack.reduction import Fixed

#: Minimum cuts after which the search for the best price ends; a dozen is usual.
MOST_CUTS = 60


@dataclass(frozen=True, eq=False)
class Dual:
    """The Lagrangian bound, the largest closures on both sides of the capacity, and bounds under conditions.

    ``price`` is the last that was tried, the best where the search came to its end.

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
    price: float = 0.0

    def fixed(self, at_least: float) -> Fixed:
        """Return what holds for each choice that is worth *at_least* so much."""
        return Fixed(self.if_out < at_least, self.if_in < at_least, self.if_barred < at_least, self.if_paid < at_least)


def best_price(knapsack: SetUnionKnapsack, budget: Budget, first: float | None = None) -> Dual:
    """Return the least bound over all prices: the linear relaxation's, since closures are integral.

    The line through the values of a closure that fits and one that does not gives the next price; it ends where no
    closure lies above the line (Dinkelbach's steps on a concave envelope). *first* is a price to begin
    with, as that of a similar knapsack. Each cut is one iteration.
    """
    below, above = np.zeros(knapsack.queries, np.bool_), np.ones(knapsack.queries, np.bool_)
    bound = fractional_bound(knapsack)
    queries, bundles = np.full(knapsack.queries, bound), np.full(knapsack.bundles, bound)
    dual = Dual(bound, below, above, queries, queries, bundles, bundles, 0)
    for cuts in range(1, budget.passes(MOST_CUTS) + 1):
        if budget.over():
            break
        low, high = knapsack.cost(dual.below), knapsack.cost(dual.above)
        if high <= low:
            break
        least, most = knapsack.value(dual.below), knapsack.value(dual.above)
        price = (most - least) / (high - low) if first is None or cuts > 1 else first
        at_price = priced_closure(knapsack, price)
        fits = knapsack.cost(at_price.queries) <= knapsack.limit
        dual = _tighter(dual, at_price, price, fits, cuts)
        line = least + price * (knapsack.limit - low)
        if at_price.bound <= line * (1 + 1e-9) and (first is None or cuts > 1):
            break
    return dual


def _tighter(dual: Dual, found: PricedClosure, price: float, fits: bool, cuts: int) -> Dual:
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
        price,
    )
