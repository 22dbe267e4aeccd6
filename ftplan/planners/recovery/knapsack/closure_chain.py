"""An upper bound for every capacity at once: what queries are worth beyond a price per core, by minimum cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.knapsack.instance import BoolArray, SetUnionKnapsack

#: Whole units into which the sum of all priorities is divided for the cuts.
UNITS = 2.0**44
#: Cuts at most for each capacity that is asked for.
CUTS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """The best set of queries at a price per core: ``worth`` is at least the most that Σ priority − price × cost is."""

    price: float
    queries: BoolArray  # (Q,)
    value: float  # Σ priority
    cost: float  # cores
    worth: float

    def bound(self, capacity: float) -> float:
        """Return what no set of queries of at most this cost exceeds in priority (weak duality)."""
        return self.worth + self.price * capacity


def closure_chain(problem: SetUnionKnapsack, capacities: FloatArray, budget: Budget) -> list[Closure]:
    """Return closures at the prices that bound the given capacities best, from the highest price to the lowest.

    The price is a Lagrangian multiplier on the capacity; for a fixed one the best set is a minimum cut (Rhys, Balinski:
    queries against the bundles that they need). Between two neighbouring closures the price is that at which they
    are worth the same, and a cut there either finds a set that is worth more or proves the line between them best
    (Eisner & Severance). Only the stretches that hold a capacity are divided. At its end the bound is that of the
    linear relaxation. Every closure bounds every capacity, so stopping early is sound. At most ``CUTS`` cuts each.
    """
    network = _Network(problem)
    total = float(problem.weight[problem.sharing > 0].sum())
    everything = Closure(0.0, np.ones(problem.queries, dtype=np.bool_), float(problem.priority.sum()), total, 0.0)
    everything = _priced(everything, 0.0)
    free = problem.whole(np.zeros(problem.queries, dtype=np.bool_))
    nothing = Closure(np.inf, free, problem.value(free), 0.0, 0.0)
    found = [everything]
    spans = [(nothing, everything)]
    for _ in range(CUTS * len(capacities)):
        if not spans or budget.over():
            break
        low, high = spans.pop(0)
        inside = (capacities >= low.cost) & (capacities < high.cost)
        if not inside.any() or high.value <= low.value:
            continue
        price = (high.value - low.value) / (high.cost - low.cost)
        middle = network.closure(price)
        found.append(middle)
        on_line = low.value - price * low.cost
        if middle.value - price * middle.cost > on_line + 1e-9 * max(1.0, abs(on_line)):
            spans += [(low, middle), (middle, high)]
    return sorted(found, key=lambda closure: -closure.price)


def bounds(chain: list[Closure], capacities: FloatArray) -> FloatArray:
    """Return the upper bound on the summed priority for each capacity, shape (K,)."""
    lines = np.array([[closure.bound(capacity) for capacity in capacities.tolist()] for closure in chain])
    return np.asarray(lines.min(axis=0) * (1.0 + 1e-12), dtype=np.float64)


def _priced(closure: Closure, price: float) -> Closure:
    worth = closure.value - price * closure.cost
    return Closure(price, closure.queries, closure.value, closure.cost, worth)


class _Network:
    """source → query (its priority) → bundle (no limit) → sink (price × weight), in whole units."""

    def __init__(self, problem: SetUnionKnapsack) -> None:
        from ortools.graph.python import max_flow

        self.problem = problem
        queries, bundles = problem.queries, problem.bundles
        self.units = UNITS / max(float(problem.priority.sum()), 1e-9)
        # priorities are rounded up and prices down, so that no worth is too small
        self.worth = np.ceil(problem.priority * self.units).astype(np.int64)
        self.source, self.sink = queries + bundles, queries + bundles + 1
        self.flow = max_flow.SimpleMaxFlow()
        every = np.arange(queries, dtype=np.int32)
        node = np.arange(queries, queries + bundles, dtype=np.int32)
        most = np.full(len(problem.member), int(self.worth.sum()) + 1, dtype=np.int64)
        self._arcs(np.full(queries, self.source, dtype=np.int32), every, self.worth)
        self._arcs(problem.row.astype(np.int32), (problem.member + queries).astype(np.int32), most)
        self.priced: IntArray = self._arcs(
            node, np.full(bundles, self.sink, dtype=np.int32), np.zeros(bundles, np.int64)
        )

    def _arcs(self, tail: object, head: object, capacity: object) -> IntArray:
        return np.asarray(self.flow.add_arcs_with_capacity(tail, head, capacity))

    def closure(self, price: float) -> Closure:
        """Return the best set of queries at a price."""
        problem = self.problem
        cap = np.minimum(np.floor(price * problem.weight * self.units), UNITS * 4).astype(np.int64)
        self.flow.set_arcs_capacity(self.priced, cap)
        status = self.flow.solve(self.source, self.sink)
        if status != self.flow.OPTIMAL:
            raise AssertionError(f"minimum cut: status {status}")
        kept = np.zeros(problem.queries + problem.bundles + 2, dtype=np.bool_)
        kept[self.flow.get_source_side_min_cut()] = True
        queries = kept[: problem.queries]
        worth = (int(self.worth.sum()) - int(self.flow.optimal_flow())) / self.units
        return Closure(price, queries, problem.value(queries), problem.cost(queries), worth * (1.0 + 1e-12))
