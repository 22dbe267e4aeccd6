"""The knapsack with a price on each core instead of a capacity: project selection, by one minimum cut [Picard1976].

Source to query with its priority, query to its elements, element to sink with its priced weight; the source's side of a
minimum cut is the best set of queries, a maximum closure. Cuts at several prices bound every capacity at once
(:func:`parametric_selections`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack

#: Whole units into which the sum of all priorities is divided for the cuts.
UNITS = 2.0**44
#: Cuts at most for each capacity that is asked for.
CUTS = 12


@dataclass(frozen=True, slots=True, eq=False)
class PricedSelection:
    """The best set of queries at a price per core; ``profit`` bounds its Σ priority − price × cost."""

    price: float
    value: float  # Σ priority
    cost: float  # cores
    profit: float

    def bound(self, capacity: float) -> float:
        """Return what no set of queries of at most this cost exceeds in priority (weak duality)."""
        return self.profit + self.price * capacity


def parametric_selections(problem: SetUnionKnapsack, capacities: FloatArray, budget: Budget) -> list[PricedSelection]:
    """Return closures at the prices that bound the given capacities best, from the highest price to the lowest.

    The price is a Lagrangian multiplier on the capacity; for a fixed one the best set is a minimum cut [Rhys1970].
    Between two neighbouring closures the price is that at which their profits are equal, and a cut there either has a
    set of more profit or proves the line between them best [Eisner1976]. Only the stretches that hold a
    capacity are divided. At its end the bound is that of the linear relaxation. Every closure bounds every capacity,
    so stopping early is sound. At most ``CUTS`` cuts each.
    """
    total = float(problem.weight[problem.sharing > 0].sum())
    value = float(problem.priority.sum())
    everything = PricedSelection(0.0, value, total, value)
    free = problem.whole(np.zeros(problem.queries, dtype=np.bool_))
    nothing = PricedSelection(np.inf, problem.value(free), 0.0, 0.0)
    chain = [everything]
    spans = [(nothing, everything)]
    for _ in range(CUTS * len(capacities)):
        if not spans or budget.over():
            break
        low, high = spans.pop(0)
        inside = (capacities >= low.cost) & (capacities < high.cost)
        if not inside.any() or high.value <= low.value:
            continue
        price = (high.value - low.value) / (high.cost - low.cost)
        middle = _priced_selection(problem, price)
        chain.append(middle)
        on_line = low.value - price * low.cost
        if middle.value - price * middle.cost > on_line + ROUNDING * max(1.0, abs(on_line)):
            spans += [(low, middle), (middle, high)]
    return sorted(chain, key=lambda closure: -closure.price)


def bounds_by_capacity(chain: list[PricedSelection], capacities: FloatArray) -> FloatArray:
    """Return the upper bound on the summed priority for each capacity, shape (K,)."""
    lines = np.array([[closure.bound(capacity) for capacity in capacities.tolist()] for closure in chain])
    return np.asarray(lines.min(axis=0) * (1.0 + NOISE), dtype=np.float64)


def _priced_selection(problem: SetUnionKnapsack, price: float) -> PricedSelection:
    """Return the best set of queries at a price; priorities are rounded up and prices down: no profit is too small."""
    units = UNITS / max(float(problem.priority.sum()), 1e-9)
    profit = np.ceil(problem.priority * units).astype(np.int64)
    cost = np.minimum(np.floor(price * problem.weight * units), UNITS * 4).astype(np.int64)
    cut = maximum_closure(problem, profit, cost)
    most = int(cut.profit.sum()) / units * (1.0 + NOISE)
    return PricedSelection(price, problem.value(cut.queries), problem.cost(cut.queries), most)


#: Integer profits sum to at most 2 to this power: exact in floating point, and far from an overflow.
PROFIT_BITS = 50


class Bounds(NamedTuple):
    """Upper bounds on the value of choices that fit.

    ``all`` holds for every choice, ``if_in[q]`` and ``if_out[q]`` for those with query q and without it,
    ``if_paid[b]`` and ``if_barred[b]`` for those that pay element b and that do not.
    """

    all: float
    if_in: FloatArray  # (Q,)
    if_out: FloatArray  # (Q,)
    if_paid: FloatArray  # (B,)
    if_barred: FloatArray  # (B,)

    def least(self, other: Bounds) -> Bounds:
        """Return the smaller one of each two bounds."""
        return Bounds(
            min(self.all, other.all),
            np.minimum(self.if_in, other.if_in),
            np.minimum(self.if_out, other.if_out),
            np.minimum(self.if_paid, other.if_paid),
            np.minimum(self.if_barred, other.if_barred),
        )


class ClosureCut(NamedTuple):
    """A maximum closure, and what a maximum flow leaves of each query's profit and of each element's cost."""

    queries: BoolArray  # (Q,)
    profit: IntArray  # (Q,)
    unpaid: IntArray  # (B,)


def select_projects(knapsack: SetUnionKnapsack, price: float) -> tuple[BoolArray, Bounds]:
    """Return the set of queries of largest value - price × (cost - limit), shape (Q,), and that as an upper bound.

    Profits are rounded up and priced weights down to integers, so the bound holds in exact arithmetic. A maximum
    flow splits each element's price among its queries; what a query keeps of its priority, and what is unpaid
    of an element's price, is lost when it is decided the other way: the bounds under a condition. Cost of one flow.
    """
    scale = 2.0 ** (PROFIT_BITS - 1 - np.ceil(np.log2(max(float(knapsack.priority.sum()), 1e-200))))
    profit = np.ceil(knapsack.priority * scale).astype(np.int64)
    total = int(profit.sum())
    exact = np.minimum(knapsack.weight * price * scale * (1 - 1e-15), float(total))
    cut = maximum_closure(knapsack, profit, np.floor(exact).astype(np.int64))
    kept, unpaid = cut.profit.astype(np.float64), cut.unpaid.astype(np.float64)
    value = float(kept.sum()) / scale + price * knapsack.limit
    slack = NOISE * (abs(value) + total / scale)

    def less(loss: FloatArray) -> FloatArray:
        return np.asarray(value + slack - loss / scale, dtype=np.float64)

    row, member = knapsack.row, knapsack.member
    if_in = less(np.bincount(row, unpaid[member], knapsack.queries).astype(np.float64))
    if_barred = less(np.bincount(member, kept[row], knapsack.elements).astype(np.float64))
    return cut.queries, Bounds(value + slack, if_in, less(kept), less(unpaid), if_barred)


def maximum_closure(knapsack: SetUnionKnapsack, profit: IntArray, cost: IntArray) -> ClosureCut:
    """Return the set of queries of most profit (Q,) less the costs (B,) of their elements; the smallest of equals."""
    from ortools.graph.python import max_flow

    queries, elements = knapsack.queries, knapsack.elements
    source, sink = queries + elements, queries + elements + 1
    flow = max_flow.SimpleMaxFlow()
    every = np.arange(source)
    tail = np.concatenate((np.full(queries, source), knapsack.row, every[queries:]))
    head = np.concatenate((every[:queries], queries + knapsack.member, np.full(elements, sink)))
    capacity = np.concatenate((profit, profit[knapsack.row], cost))
    arcs = flow.add_arcs_with_capacity(tail, head, capacity)
    flow.add_arc_with_capacity(source, sink, 0)  # both ends exist also where there are no elements
    if flow.solve(source, sink) != flow.OPTIMAL:
        raise RuntimeError("the maximum flow of a recovery step was not found")
    used = np.asarray(flow.flows(arcs), dtype=np.int64)
    side = np.zeros(sink + 1, dtype=np.bool_)
    side[np.asarray(flow.get_source_side_min_cut(), dtype=np.int64)] = True
    return ClosureCut(side[:queries], profit - used[:queries], cost - used[len(used) - elements :])
