"""An upper bound for every capacity at once: what queries bring beyond a price per core, by minimum cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.knapsack.project_selection import maximum_closure

#: Whole units into which the sum of all priorities is divided for the cuts.
UNITS = 2.0**44
#: Cuts at most for each capacity that is asked for.
CUTS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """The best set of queries at a price per core; ``profit`` bounds its Σ priority − price × cost."""

    price: float
    value: float  # Σ priority
    cost: float  # cores
    profit: float

    def bound(self, capacity: float) -> float:
        """Return what no set of queries of at most this cost exceeds in priority (weak duality)."""
        return self.profit + self.price * capacity


def closure_chain(problem: SetUnionKnapsack, capacities: FloatArray, budget: Budget) -> list[Closure]:
    """Return closures at the prices that bound the given capacities best, from the highest price to the lowest.

    The price is a Lagrangian multiplier on the capacity; for a fixed one the best set is a minimum cut [Rhys1970].
    Between two neighbouring closures the price is that at which their profits are equal, and a cut there either has a
    set of more profit or proves the line between them best [Eisner1976]. Only the stretches that hold a
    capacity are divided. At its end the bound is that of the linear relaxation. Every closure bounds every capacity,
    so stopping early is sound. At most ``CUTS`` cuts each.
    """
    total = float(problem.weight[problem.sharing > 0].sum())
    value = float(problem.priority.sum())
    everything = Closure(0.0, value, total, value)
    free = problem.whole(np.zeros(problem.queries, dtype=np.bool_))
    nothing = Closure(np.inf, problem.value(free), 0.0, 0.0)
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
        middle = _closure(problem, price)
        chain.append(middle)
        on_line = low.value - price * low.cost
        if middle.value - price * middle.cost > on_line + ROUNDING * max(1.0, abs(on_line)):
            spans += [(low, middle), (middle, high)]
    return sorted(chain, key=lambda closure: -closure.price)


def bounds(chain: list[Closure], capacities: FloatArray) -> FloatArray:
    """Return the upper bound on the summed priority for each capacity, shape (K,)."""
    lines = np.array([[closure.bound(capacity) for capacity in capacities.tolist()] for closure in chain])
    return np.asarray(lines.min(axis=0) * (1.0 + NOISE), dtype=np.float64)


def _closure(problem: SetUnionKnapsack, price: float) -> Closure:
    """Return the best set of queries at a price; priorities are rounded up and prices down: no profit is too small."""
    units = UNITS / max(float(problem.priority.sum()), 1e-9)
    profit = np.ceil(problem.priority * units).astype(np.int64)
    toll = np.minimum(np.floor(price * problem.weight * units), UNITS * 4).astype(np.int64)
    cut = maximum_closure(problem, profit, toll)
    most = int(cut.profit.sum()) / units * (1.0 + NOISE)
    return Closure(price, problem.value(cut.queries), problem.cost(cut.queries), most)
