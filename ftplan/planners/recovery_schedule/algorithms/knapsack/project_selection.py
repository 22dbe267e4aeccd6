"""The knapsack with a price on each core instead of a capacity: project selection, by one minimum cut [Picard1976].

Source to query with its priority, query to its elements, element to sink with its priced weight; the source's side of a
minimum cut is the best set of queries, a maximum closure. Cuts at several prices bound every capacity at once
(:func:`parametric_selections`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, fitting, residual

#: Whole units into which the sum of all priorities is divided for the cuts.
UNITS = 2.0**44
#: Capacities for which prices are sought where there are more.
PRICED = 24
#: Cuts at most for each capacity that is asked for; a dozen is usual.
CUTS = 30


@dataclass(frozen=True, slots=True, eq=False)
class PricedSelection:
    """The best set of queries at a price per core; ``profit`` bounds its Σ priority − price × cost."""

    price: float
    queries: BoolArray  # (Q,)
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
    value = float(problem.priority.sum())
    total = float(problem.weight[problem.sharing > 0].sum())
    everything = PricedSelection(0.0, np.ones(problem.queries, dtype=np.bool_), value, total, value)
    free = problem.whole(~everything.queries)
    nothing = PricedSelection(np.inf, free, problem.value(free), 0.0, 0.0)
    chain = [everything]
    spans = [(nothing, everything)]
    while spans and len(chain) <= CUTS * len(capacities) and not budget.over():
        low, high = spans.pop(0)
        inside = (capacities >= low.cost) & (capacities < high.cost)
        if not inside.any() or high.value <= low.value:
            continue
        middle = priced_selection(problem, (high.value - low.value) / (high.cost - low.cost))
        chain.append(middle)
        on_line = low.value - middle.price * low.cost
        if middle.value - middle.price * middle.cost > on_line + ROUNDING * max(1.0, abs(on_line)):
            spans += [(low, middle), (middle, high)]
    return sorted(chain, key=lambda closure: -closure.price)


def bounds_by_capacity(chain: list[PricedSelection], capacities: FloatArray) -> FloatArray:
    """Return the upper bound on the summed priority for each capacity, shape (K,)."""
    lines = np.array([[closure.bound(capacity) for capacity in capacities.tolist()] for closure in chain])
    return np.asarray(lines.min(axis=0) * (1.0 + NOISE), dtype=np.float64)


def most_by_capacity(
    problem: SetUnionKnapsack, possible: BoolArray, capacities: FloatArray, budget: Budget
) -> FloatArray:
    """Return an upper bound on the priority of some queries, shape (Q,), for each capacity, shape (K,).

    Queries that fit into none of them are left out. Rounded down where all priorities are whole numbers, since their
    sums are too. Prices are sought for ``PRICED`` of the capacities.
    """
    rest, _ = residual(problem, possible, problem.weight, float(capacities.max(initial=0.0)))
    _, small = fitting(rest)
    if small.queries == 0:
        return np.zeros(len(capacities))
    limit = capacities + ROUNDING * np.maximum(1.0, np.abs(capacities))
    total = float(small.priority.sum())
    if float(small.weight.sum()) <= limit.min():
        return np.full(len(capacities), total)
    asked = np.unique(limit)
    asked = asked[np.unique(np.linspace(0, len(asked) - 1, min(PRICED, len(asked))).astype(int))]
    most = np.minimum(bounds_by_capacity(parametric_selections(small, asked, budget), limit), total)
    whole = bool(np.all(small.priority == np.floor(small.priority)))
    return np.asarray(np.floor(most + 1e-6) if whole else most, dtype=np.float64)


def around_capacity(problem: SetUnionKnapsack, budget: Budget) -> tuple[PricedSelection, list[BoolArray]]:
    """Return the closure of the best price, whose bound is that of the linear relaxation, and those on both sides.

    That is the largest that fits and the smallest that does not, as far as there are any.
    """
    chain = parametric_selections(problem, np.array([problem.limit]), budget)
    costs = np.array([closure.cost for closure in chain])
    below, above = np.flatnonzero(costs <= problem.limit)[-1:], np.flatnonzero(costs > problem.limit)[:1]
    best = min(chain, key=lambda closure: closure.bound(problem.limit))
    return best, [chain[k].queries for k in (*below.tolist(), *above.tolist())]


def priced_selection(problem: SetUnionKnapsack, price: float) -> PricedSelection:
    """Return the best set of queries at a price; priorities are rounded up and prices down: no profit is too small.

    Raises
    ------
    RuntimeError
        If no maximum flow is found.
    """
    from ortools.graph.python import max_flow

    queries, elements = problem.queries, problem.elements
    units = UNITS / max(float(problem.priority.sum()), 1e-9)
    profit = np.ceil(problem.priority * units).astype(np.int64)
    cost = np.minimum(np.floor(price * problem.weight * units), UNITS * 4).astype(np.int64)
    source, sink = queries + elements, queries + elements + 1
    flow, every = max_flow.SimpleMaxFlow(), np.arange(source)
    tail = np.concatenate((np.full(queries, source), problem.row, every[queries:]))
    head = np.concatenate((every[:queries], queries + problem.member, np.full(elements, sink)))
    flow.add_arcs_with_capacity(tail, head, np.concatenate((profit, profit[problem.row], cost)))
    flow.add_arc_with_capacity(source, sink, 0)  # both ends exist also where there are no elements
    if flow.solve(source, sink) != flow.OPTIMAL:
        raise RuntimeError("the maximum flow of a recovery step was not found")
    side = np.zeros(sink + 1, dtype=np.bool_)
    side[np.asarray(flow.get_source_side_min_cut(), dtype=np.int64)] = True
    chosen = side[:queries]
    most = (int(profit.sum()) - int(flow.optimal_flow())) / units * (1.0 + NOISE)
    return PricedSelection(price, chosen, problem.value(chosen), problem.cost(chosen), most)
