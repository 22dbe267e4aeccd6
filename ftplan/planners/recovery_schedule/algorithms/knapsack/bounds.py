"""Upper bounds on a set-union knapsack: fractional, and by the best price on its capacity.

The fractional bound lets each query pay its share of what it needs. The Lagrangian bound also proves of single queries
and elements that they are in or out of every good choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, fitting
from ftplan.planners.recovery_schedule.algorithms.knapsack.project_selection import Bounds, select_projects
from ftplan.planners.recovery_schedule.algorithms.knapsack.reduction import Fixed

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


#: Minimum cuts after which the search for the best price ends; a dozen is usual.
MOST_CUTS = 60


@dataclass(frozen=True, eq=False)
class LagrangianBound:
    """The largest closures on both sides of the capacity, and the least bounds over all prices that were tried.

    ``below`` fits; ``above`` does not, or is all queries. ``price`` is the last that was tried, the best where the
    search came to its end.
    """

    bounds: Bounds
    below: BoolArray  # (Q,)
    above: BoolArray  # (Q,)
    price: float = 0.0

    @property
    def bound(self) -> float:
        """Upper bound on every choice."""
        return self.bounds.all

    def fixed(self, at_least: float) -> Fixed:
        """Return what holds for each choice of at least this value."""
        return Fixed(
            inside=self.bounds.if_out < at_least,
            outside=self.bounds.if_in < at_least,
            paid=self.bounds.if_barred < at_least,
            barred=self.bounds.if_paid < at_least,
        )


def best_price(knapsack: SetUnionKnapsack, budget: Budget, first: float | None = None) -> LagrangianBound:
    """Return the least bound over all prices: the linear relaxation's, since closures are integral.

    The line through the values of a closure that fits and one that does not gives the next price; it ends where no
    closure lies above the line (the steps of [Dinkelbach1967] on a concave envelope). *first* is a price to begin
    with, as that of a similar knapsack. Each cut is one iteration.
    """
    below, above = np.zeros(knapsack.queries, np.bool_), np.ones(knapsack.queries, np.bool_)
    bound = fractional_bound(knapsack)
    queries, elements = np.full(knapsack.queries, bound), np.full(knapsack.elements, bound)
    dual = LagrangianBound(Bounds(bound, queries, queries, elements, elements), below, above)
    for _ in range(budget.passes(MOST_CUTS)):
        if budget.over():
            break
        low, high = knapsack.cost(dual.below), knapsack.cost(dual.above)
        if high <= low:
            break
        value = knapsack.value(dual.below)
        price = (knapsack.value(dual.above) - value) / (high - low) if first is None else first
        chosen, bounds = select_projects(knapsack, price)
        below, above = (chosen, dual.above) if knapsack.fits(chosen) else (dual.below, chosen)
        dual = LagrangianBound(dual.bounds.least(bounds), below, above, price)
        line = value + price * (knapsack.limit - low)
        if first is None and bounds.all <= line * (1 + ROUNDING):
            break
        first = None
    return dual
