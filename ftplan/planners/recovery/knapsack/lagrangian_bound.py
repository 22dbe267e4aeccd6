"""An upper bound on a set-union knapsack by the best price on its capacity, and what it proves of single queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.knapsack.fractional_bound import fractional_bound
from ftplan.planners.recovery.knapsack.instance import GAP, BoolArray, SetUnionKnapsack
from ftplan.planners.recovery.knapsack.priced_closure import PricedClosure, priced_closure
from ftplan.planners.recovery.knapsack.reduction import Fixed

#: Minimum cuts after which the search for the best price ends; a dozen is usual.
MOST_CUTS = 60


@dataclass(frozen=True, eq=False)
class LagrangianBound:
    """The bound, the largest closures on both sides of the capacity, and bounds under conditions.

    ``price`` is the last that was tried, the best where the search came to its end. ``below`` fits; ``above`` does
    not, or is all queries. Conditions as in :class:`PricedClosure`, the least over all prices that were tried.
    """

    bound: float
    below: BoolArray  # (Q,)
    above: BoolArray  # (Q,)
    if_in: FloatArray  # (Q,)
    if_out: FloatArray  # (Q,)
    if_paid: FloatArray  # (B,)
    if_barred: FloatArray  # (B,)
    price: float = 0.0

    def fixed(self, at_least: float) -> Fixed:
        """Return what holds for each choice of at least this value."""
        return Fixed(self.if_out < at_least, self.if_in < at_least, self.if_barred < at_least, self.if_paid < at_least)

    def tightened(self, closure: PricedClosure, price: float, *, fits: bool) -> LagrangianBound:
        """Return the bound with what another price proves."""
        return LagrangianBound(
            min(self.bound, closure.bound),
            closure.queries if fits else self.below,
            self.above if fits else closure.queries,
            np.minimum(self.if_in, closure.if_in),
            np.minimum(self.if_out, closure.if_out),
            np.minimum(self.if_paid, closure.if_paid),
            np.minimum(self.if_barred, closure.if_barred),
            price,
        )


def best_price(knapsack: SetUnionKnapsack, budget: Budget, first: float | None = None) -> LagrangianBound:
    """Return the least bound over all prices: the linear relaxation's, since closures are integral.

    The line through the values of a closure that fits and one that does not gives the next price; it ends where no
    closure lies above the line (the steps of [Dinkelbach1967] on a concave envelope). *first* is a price to begin
    with, as that of a similar knapsack. Each cut is one iteration.
    """
    below, above = np.zeros(knapsack.queries, np.bool_), np.ones(knapsack.queries, np.bool_)
    bound = fractional_bound(knapsack)
    queries, bundles = np.full(knapsack.queries, bound), np.full(knapsack.bundles, bound)
    dual = LagrangianBound(bound, below, above, queries, queries, bundles, bundles)
    for _ in range(budget.passes(MOST_CUTS)):
        if budget.over():
            break
        low, high = knapsack.cost(dual.below), knapsack.cost(dual.above)
        if high <= low:
            break
        value = knapsack.value(dual.below)
        price = (knapsack.value(dual.above) - value) / (high - low) if first is None else first
        closure = priced_closure(knapsack, price)
        dual = dual.tightened(closure, price, fits=knapsack.cost(closure.queries) <= knapsack.limit)
        line = value + price * (knapsack.limit - low)
        if first is None and closure.bound <= line * (1 + GAP):
            break
        first = None
    return dual
