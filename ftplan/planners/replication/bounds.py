"""Upper bounds of what replicas within a budget can keep, from tables of the best value at each cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.replication.models.circuit import Circuit, circuit
from ftplan.planners.replication.models.reduction import Reduced, reduce
from ftplan.planners.replication.models.units import Units, units

#: What is added to bounds for rounding errors, of the bound.
RAISED = 1e-11
#: Where costs are rounded by the budget, one budget of so many is bounded for itself.
EVERY = 10


@dataclass(frozen=True, slots=True, eq=False)
class Circuits:
    """A problem as circuits, one for each case, in whole units of cost; ``weights`` sum to 1."""

    units: Units
    circuits: list[Circuit]
    weights: list[float]

    @staticmethod
    def of(problem: ReplicationProblem, budget: Budget) -> Circuits:
        """Return the circuits; raises :class:`OutOfTime`."""
        whole = units(problem)
        free = whole.cost == 0
        model, cases = problem.model, problem.cases
        circuits = [circuit(problem.graph, model, ~case.failed | free, whole.cost, budget) for case in cases]
        return Circuits(whole, circuits, [case.weight / problem.total_weight for case in cases])

    def reduced(self, budget: Budget) -> list[Reduced]:
        """Return the table of each circuit; raises :class:`OutOfTime`."""
        return [reduce(each, self.units.limit, budget=budget) for each in self.circuits]

    def bound(self, reduced: list[Reduced], limit: int | None = None) -> float:
        """Return the expected value that the tables hold at a cost, by default the largest."""
        at = self.units.limit if limit is None else limit
        pairs = zip(self.weights, (each.table.values for each in reduced), strict=True)
        return sum(weight * float(values[min(at, len(values) - 1)]) for weight, values in pairs)


def raised(bound: float) -> float:
    """Return a bound of the metric, at most 1, raised for rounding errors."""
    return min(1.0, bound * (1.0 + RAISED))


def quick_bound(problem: ReplicationProblem, budget: Budget) -> float:
    """Return an upper bound of the value of any replicas within the budget, cheaply.

    Exact where all paths nest, see :func:`ftplan.planners.replication.exact.exact`; else what feeds several parts is
    copied, each copy at a part of the cost. Cost O(budget · tasks); 1 where the clock of *budget* runs out before.
    """
    try:
        circuits = Circuits.of(problem, budget)
        return raised(circuits.bound(circuits.reduced(budget)))
    except OutOfTime:
        return 1.0


def quick_bounds(problem: ReplicationProblem, limits: Sequence[float], budget: Budget) -> list[float]:
    """Return :func:`quick_bound` at each of some limits of cost from the tables of the largest."""
    if not limits:
        return []
    try:
        circuits = Circuits.of(replace(problem, budget=max(limits)), budget)
        if not circuits.units.whole:  # costs are rounded by the limit: a larger one's bound holds for a smaller one
            bounds = {
                most: quick_bound(replace(problem, budget=most), budget) for most in sorted(limits)[::-1][::EVERY]
            }
            return [bounds[min(other for other in bounds if other >= most)] for most in limits]
        reduced = circuits.reduced(budget)
    except OutOfTime:
        return [1.0] * len(limits)
    return [raised(circuits.bound(reduced, units(replace(problem, budget=most)).limit)) for most in limits]
