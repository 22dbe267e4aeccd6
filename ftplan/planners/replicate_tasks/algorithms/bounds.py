"""Upper bounds of what replicas within a budget can keep, from tables of the best value at each cost in whole units."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, gcd, lcm

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.fidelity_circuit.circuit import Circuit, circuit, weighted_sum
from ftplan.planners.fidelity_circuit.reduction import Reduced, reduce
from ftplan.planners.replicate_tasks.algorithms.models.candidate_nodes import CandidateNodes, knapsacks
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: Denominators of costs that are tried, and how far a cost may be from such a fraction.
MOST_DENOMINATOR, NEAR = 10_000, 1e-12
#: Units of all tasks above which costs are rounded down to coarser ones.
MOST_UNITS = 60_000


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Costs and budget as whole numbers; where not ``whole``, costs were rounded down: what fits here may cost more."""

    cost: IntArray  # (T,)
    limit: int
    whole: bool


def units(problem: ReplicationProblem) -> Units:
    """Return the costs of a problem in the largest unit that divides all of them, or in a coarse one."""
    weight = problem.weight
    paid = weight[problem.fails & (weight > 0.0)]
    if len(paid) == 0:
        return Units(np.zeros(len(weight), dtype=np.int64), 0, True)
    distinct = np.unique(paid).tolist()
    fractions = [Fraction(w).limit_denominator(MOST_DENOMINATOR) for w in distinct]
    near = all(abs(float(f) - w) <= NEAR * w for f, w in zip(fractions, distinct, strict=True))
    whole, unit = False, 0.0
    if near:
        denominator = lcm(*(f.denominator for f in fractions))
        step = gcd(*(int(f * denominator) for f in fractions))
        unit = step / denominator
        whole = float(paid.sum()) / unit <= max(MOST_UNITS, 2 * len(paid))
    if not whole:
        unit = float(paid.sum()) / MOST_UNITS
    count = np.where(problem.fails, weight / unit, 0.0)
    cost = np.minimum(np.round(count) if whole else np.floor(count), 2.0**40).astype(np.int64)
    limit = min(max(0, floor(problem.limit / unit * (1.0 + 1e-12))), int(cost.sum()))
    return Units(cost, limit, whole)


#: What is added to bounds for rounding errors, of the bound.
RAISED = 1e-11
#: Where costs are rounded by the budget, one budget of so many is bounded for itself.
EVERY = 10
#: Tasks times cases above which only the budget and the shortest other limit are bounded.
MANY = 200_000
#: Parts of a unit, at most, where the cost of a task is divided among the cases in which it fails.
FINE = 12


@dataclass(frozen=True, slots=True, eq=False)
class CostCircuit:
    """A problem as one circuit in whole units of cost: the outputs of its cases are a weighted sum.

    ``fine`` > 1: units are divided, since a task that fails in several cases is in each of them a choice for itself,
    at a part of its cost; ``alone`` where no task is. What the cases spend sums to the budget at most.
    """

    units: Units
    circuit: Circuit
    fine: int
    alone: bool

    @staticmethod
    def of(problem: ReplicationProblem, budget: Budget, candidates: CandidateNodes | None = None) -> CostCircuit:
        """Return the circuit; raises :class:`OutOfTime`."""
        candidates = candidates or CandidateNodes.of(problem)
        whole = units(problem)
        weights = [case.weight / problem.total_weight for case in problem.cases]
        live = np.array([case.failed & candidates.survivable(c) for c, case in enumerate(problem.cases)])
        paid = live * (whole.cost > 0) * np.array(weights)[:, None]  # (cases, tasks)
        alone, fine = bool(((paid > 0.0).sum(axis=0) <= 1).all()), 1
        cost = np.where(live, whole.cost, 0)
        if not alone:
            fine = max(1, min(FINE, MOST_UNITS // max(1, int(whole.cost.sum()))))
            share = paid / np.maximum(paid.sum(axis=0), 1e-300)
            cost = np.floor(whole.cost * fine * share + 1e-9).astype(np.int64)
        circuits = []
        for case, own, may in zip(problem.cases, cost, live, strict=True):
            free = ~case.failed | (may & (own == 0))
            circuits.append(circuit(problem.graph, problem.model, free, np.where(may, own, -1), budget))
        return CostCircuit(whole, weighted_sum(circuits, weights), fine, alone)

    @property
    def limit(self) -> int:
        """The budget in the units of the circuit."""
        return self.units.limit * self.fine

    def reduced(self, budget: Budget) -> Reduced:
        """Return the table of the circuit; raises :class:`OutOfTime`."""
        return reduce(self.circuit, self.limit, budget=budget)

    def bound(self, reduced: Reduced, limit: int | None = None) -> float:
        """Return the expected value that the table holds at a cost, by default the largest."""
        values = reduced.table.values
        return float(values[min(self.limit if limit is None else limit * self.fine, len(values) - 1)])


def raised(bound: float) -> float:
    """Return a bound of the metric, at most 1, raised for rounding errors."""
    return min(1.0, bound * (1.0 + RAISED))


def least_value(problem: ReplicationProblem) -> float:
    """Return what every choice of replicas is worth that is worth anything: no value lies between 0 and it.

    What keeps anything of a slot keeps the least that one of its senders may, times its weight; joins multiply.
    """
    model = problem.model
    least = np.ones(problem.tasks if model.task_of is None else len(model.task_of))
    for level in model.levels:
        each, gathering = np.full(level.slots, np.inf), np.full(level.gatherings, np.inf)
        for into, place, parts in (
            (each, level.slot, level.weight * least[level.sender]),
            (gathering, level.gathering, level.gather_weight * least[level.gathered]),
        ):
            np.minimum.at(into, place[parts > 0.0], parts[parts > 0.0])
        spread = level.spread_weight > 0.0
        np.minimum.at(each, level.spread_slot[spread], (level.spread_weight * gathering[level.spread])[spread])
        least[level.task] = np.multiply.reduceat(np.minimum(each, 1.0), level.first)
    outputs = model.weight * least[model.outputs]
    cases = np.array([case.weight / problem.total_weight for case in problem.cases])
    return float(outputs[outputs > 0.0].min(initial=1.0) * cases[cases > 0.0].min(initial=1.0))


def quick_bound(problem: ReplicationProblem, budget: Budget) -> float:
    """Return an upper bound of the value of any replicas within the budget and on the nodes, cheaply.

    The least of a bound for the budget, one for the changes and one for the room of all nodes together. Each is exact
    where all paths nest and no task fails in two cases, see
    :func:`ftplan.planners.replicate_tasks.algorithms.exact.exact`; else what feeds several parts, and what fails in
    several cases, is copied, each copy at a part of the cost. Cost O(budget · tasks); 1 where the clock of *budget*
    runs out before.
    """
    return quick_bounds(problem, [problem.budget], budget)[0]


def quick_bounds(problem: ReplicationProblem, limits: Sequence[float], budget: Budget) -> list[float]:
    """Return :func:`quick_bound` at each of some limits of cost from the tables of the largest."""
    bounds = dict.fromkeys(limits, 1.0)
    with contextlib.suppress(OutOfTime):
        candidates = CandidateNodes.of(problem)
        largest = replace(problem, budget=max(limits, default=0.0))
        # where costs are rounded by the limit, a larger one's bound holds for a smaller one
        some = sorted(bounds)[::-1]
        for highest in some[:1] if units(largest).whole else some[::EVERY]:
            smaller = [limit for limit in some if limit <= highest]
            for limit, bound in _knapsack_bounds(replace(problem, budget=highest), smaller, candidates, budget):
                bounds[limit] = min(bounds[limit], bound)
        many = problem.tasks * len(problem.cases) > MANY
        for knapsack in knapsacks(problem, candidates)[1 : 2 if many else None]:
            room = knapsack.of(problem)
            ((_, bound),) = _knapsack_bounds(room, [room.budget], candidates, budget)
            bounds = {limit: min(bound, other) for limit, other in bounds.items()}
    return [raised(bounds[limit]) for limit in limits]


def _knapsack_bounds(
    problem: ReplicationProblem, limits: Sequence[float], candidates: CandidateNodes, budget: Budget
) -> list[tuple[float, float]]:
    """Return some limits of cost, at most the budget, each with a bound by it alone; raises :class:`OutOfTime`."""
    bounds, alone = _table_bounds(problem, limits, candidates, budget)
    if not alone:  # each case may have all of it
        apart = np.zeros(len(limits))
        for c, case in enumerate(problem.cases):
            some = replace(candidates, down=candidates.down[c : c + 1])
            own, _ = _table_bounds(replace(problem, cases=(case,)), limits, some, budget)
            apart += case.weight / problem.total_weight * own
        bounds = np.minimum(bounds, apart)
    return list(zip(limits, bounds.tolist(), strict=True))


def _table_bounds(
    problem: ReplicationProblem, limits: Sequence[float], candidates: CandidateNodes, budget: Budget
) -> tuple[FloatArray, bool]:
    """Return a bound at each limit from one table, and whether no task is in several cases."""
    whole = CostCircuit.of(problem, budget, candidates)
    reduced = whole.reduced(budget)
    if not whole.units.whole:
        return np.full(len(limits), whole.bound(reduced)), whole.alone
    costs = [units(replace(problem, budget=limit)).limit for limit in limits]
    return np.array([whole.bound(reduced, cost) for cost in costs]), whole.alone
