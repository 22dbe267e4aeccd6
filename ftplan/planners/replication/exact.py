"""The best replicas under a budget, with a proof or a proven gap."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.metrics.fidelity import FidelityModel
from ftplan.model.plan import Status, sound_bound
from ftplan.model.task_graph import BoolArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.replication.formula import formula
from ftplan.planners.replication.models.circuit import Circuit, circuit
from ftplan.planners.replication.models.integer_program import integer_program
from ftplan.planners.replication.models.reduction import Reduced, reduce
from ftplan.planners.replication.models.tables import choices
from ftplan.planners.replication.models.units import Units, units
from ftplan.planners.replication.needed import needed
from ftplan.planners.replication.problem import SLACK, Replication, ReplicationOptions, ReplicationProblem
from ftplan.planners.replication.search.branching import Search
from ftplan.planners.replication.structure_aware import structure_aware
from ftplan.planners.result import Result

#: What is added to bounds for rounding errors, of the bound; and the share at which a value counts as the optimum.
RAISED, MET = 1e-11, 1e-7
#: Part of the time for the tables: where they are not ready by then, another plan and the integer program do without.
TABLES = 0.5
#: Part of the time for branch and bound before an integer program, where operators are large and where they are not
#: and the choices are few; of what is left for the program; and the gap below which large operators need none.
BRANCHING, TASTE, TASTE_ITERATIONS, FEW_BLOCKS, PROGRAM, CLOSE = 0.6, 0.1, 20, 1000, 0.8, 0.01


@dataclass(slots=True, eq=False)
class _Best:
    """The best plan so far and the least bound; ``value`` is always the problem's own."""

    problem: ReplicationProblem
    model: FidelityModel
    replicated: BoolArray
    value: float
    bound: float
    known: bool = True  # whether the model is the problem's own formula

    def offer(self, replicated: BoolArray, bound: float = np.inf) -> None:
        """Take a plan where it fits and is better, and a bound where it is less."""
        value = self.problem.value(replicated)
        if self.problem.fits(self.problem.cost(replicated)) and value > self.value:
            self.replicated, self.value = replicated, value
        least = min(self.bound, bound * (1.0 + RAISED))
        # A bound of another formula than the problem's only steers the search, and no answer states it.
        self.bound = sound_bound("max", self.value, least) if self.known else max(self.value, least)

    @property
    def proven(self) -> bool:
        """Whether the bound is met."""
        return self.value >= self.bound * (1.0 - MET)


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """A problem as circuits, one for each case, in whole units of cost."""

    units: Units
    circuits: list[Circuit]
    weights: list[float]

    @staticmethod
    def of(problem: ReplicationProblem, model: FidelityModel, budget: Budget) -> _Tables:
        """Return the circuits; raises :class:`OutOfTime`."""
        whole = units(problem)
        free = whole.cost == 0
        circuits = [circuit(problem.graph, model, ~case.failed | free, whole.cost, budget) for case in problem.cases]
        total = sum(case.weight for case in problem.cases)
        return _Tables(whole, circuits, [case.weight / total for case in problem.cases])

    def reduced(self, budget: Budget) -> list[Reduced]:
        """Return the table of each circuit; raises :class:`OutOfTime`."""
        return [reduce(each, self.units.limit, budget=budget) for each in self.circuits]


def exact(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Choose the replicas of most expected fidelity under the budget.

    Where all paths of the topology nest, as in in-trees of full edges with joins, or lanes of tasks that split and
    meet again, dynamic programming over costs is exact: operators whose tasks are fed alike take their heaviest tasks
    first, parts in series and joins multiply, parallel parts add up. Else branch and bound over the operators that
    feed several others, and an integer program over single tasks, the first where operators are large, the other where
    they are not or where there are several cases. Costs that no unit divides are rounded down for the bound.

    Cost: O(budget · tasks) where paths nest; exponential at worst elsewhere, within the limits of the options.

    Guarantee: optimal where it says so, up to 1e-7 of the value; else the bound is proven. A metric whose formula is
    unknown gets a plan for output fidelity and the bound 1.

    Source: output fidelity is Su & Zhou, ICDE 2016, section III; they have no exact method beyond a few MC-trees.
    """
    # Departure from the paper's algorithm 1: no MC-tree is ever listed, since on full edges there are billions.
    budget = Budget.of(options)
    model = formula(problem)
    known = model is not None
    model = problem.model if model is None else model
    free = problem.fails & (problem.weight <= 0.0)
    best = _Best(problem, model, free, problem.value(free), 1.0, known)
    with contextlib.suppress(OutOfTime):
        _solve(best, options, budget)
    replicated = _pruned(problem, model, best.replicated) if known else best.replicated
    bound = best.bound if known else 1.0
    value = problem.value(replicated)
    status: Status = "optimal" if value >= bound * (1.0 - MET) else "feasible"
    return Result(
        status, Replication(replicated), ("budget",), sound_bound("max", value, bound), warnings=budget.warnings()
    )


def quick_bound(problem: ReplicationProblem, budget: Budget | None = None) -> float:
    """Return an upper bound of the score of any replicas within the budget, cheaply; 1 where the formula is unknown.

    Exact where all paths nest, see :func:`exact`; else what feeds several parts is copied, each copy at a part of the
    cost. Cost O(budget · tasks); 1 where the clock of *budget* runs out before.
    """
    clock, model = budget or Budget(np.inf), formula(problem)
    if model is None:
        return 1.0
    try:
        tables = _Tables.of(problem, model, clock)
        found = sum(w * r.table.values[-1] for w, r in zip(tables.weights, tables.reduced(clock), strict=True))
    except OutOfTime:
        return 1.0
    return min(1.0, float(found) * (1.0 + RAISED))


def quick_bounds(problem: ReplicationProblem, budgets: Sequence[float], budget: Budget | None = None) -> list[float]:
    """Return :func:`quick_bound` for each budget from the tables of the largest: a bound at every cost on the way."""
    clock, model = budget or Budget(np.inf), formula(problem)
    if model is None or not budgets:
        return [1.0] * len(budgets)
    try:
        tables = _Tables.of(replace(problem, budget=max(budgets)), model, clock)
        if not tables.units.whole:  # costs are rounded by the budget: a larger one's bound holds for a smaller one
            some = {b: quick_bound(replace(problem, budget=b), clock) for b in sorted(budgets)[::-1][::10]}
            return [some[min(other for other in some if other >= b)] for b in budgets]
        columns = [(w, r.table.values) for w, r in zip(tables.weights, tables.reduced(clock), strict=True)]
    except OutOfTime:
        return [1.0] * len(budgets)
    found = []
    for most in budgets:
        limit = units(replace(problem, budget=most)).limit
        value = sum(w * float(values[min(limit, len(values) - 1)]) for w, values in columns)
        found.append(min(1.0, value * (1.0 + RAISED)))
    return found


def curve(
    problem: ReplicationProblem, budgets: list[float], options: ReplicationOptions
) -> list[tuple[float, float, float]]:
    """Return (budget, value, bound) of the best replicas for each budget.

    Where all paths nest, one table has the optimum of every budget; else each budget is solved for itself, in an equal
    part of the time, and no value is less, no bound more, than that of a smaller, of a larger budget. Where the clock
    runs out, the largest budgets are missing.
    """
    if not budgets:
        return []
    model, clock = formula(problem), Budget.of(options)
    part = clock.part(TABLES)
    if model is not None and len(problem.cases) == 1:
        with contextlib.suppress(OutOfTime):
            largest = _Tables.of(replace(problem, budget=max(budgets)), model, part)
            if largest.units.whole and (found := largest.reduced(part)[0]).exact:
                values = found.table.values
                limits = [units(replace(problem, budget=b)).limit for b in budgets]
                each = [float(values[min(limit, len(values) - 1)]) for limit in limits]
                return [(b, v, min(1.0, v * (1.0 + RAISED))) for b, v in zip(budgets, each, strict=True)]
    order = sorted(range(len(budgets)), key=lambda k: budgets[k])
    points: dict[int, tuple[float, float]] = {}
    for k in order:
        if clock.over():
            break
        here = replace(problem, budget=budgets[k])
        result = exact(here, replace(options, time_limit_s=clock.left_s / (len(budgets) - len(points))))
        assert result.answer is not None
        assert result.bound is not None
        points[k] = (here.value(result.answer.replicated), result.bound)
    order = order[: len(points)]
    if not order:
        return []
    value = np.maximum.accumulate([points[k][0] for k in order])
    bound = np.minimum.accumulate([points[k][1] for k in reversed(order)])[::-1]
    place = {k: at for at, k in enumerate(order)}
    return [(b, float(value[place[k]]), float(bound[place[k]])) for k, b in enumerate(budgets) if k in place]


def _solve(best: _Best, options: ReplicationOptions, budget: Budget) -> None:
    """Improve plan and bound until they meet or the work is done; raises :class:`OutOfTime` where the clock ends it."""
    part = budget.part(TABLES)
    try:
        tables = _Tables.of(best.problem, best.model, part)
        found = tables.reduced(part)
    except OutOfTime:
        budget.cut = True
        other = structure_aware(best.problem, replace(options, time_limit_s=budget.left_s / 2.0)).answer
        assert other is not None
        best.offer(other.replicated)
        _program(best, _Tables.of(best.problem, best.model, budget), budget)
        return
    bound = sum(w * r.table.values[-1] for w, r in zip(tables.weights, found, strict=True))
    best.offer(best.replicated, float(bound))
    for each, reduced in zip(tables.circuits, found, strict=True):
        best.offer(_rounded(best.problem, each, reduced))
    if best.proven:
        return
    if len(tables.circuits) > 1:
        _program(best, tables, budget)
        return
    each = tables.circuits[0]
    search, large = Search(each, tables.units.limit), _has_large_operators(each)
    part = budget.part(BRANCHING if large else TASTE)
    if not large:  # bounded work, so that what follows starts from the same plan in every run
        part.iterations = min(TASTE_ITERATIONS, part.iterations or TASTE_ITERATIONS)
    if large or len(each.blocks) <= FEW_BLOCKS:
        _branch(best, search, part)
    budget.cut |= part.cut
    if not best.proven and not (large and best.bound <= best.value * (1.0 + CLOSE)):
        part = budget.part(PROGRAM)
        _program(best, tables, part)
        budget.cut |= part.cut
    if not best.proven:
        _branch(best, search, budget)


def _branch(best: _Best, search: Search, budget: Budget) -> None:
    found = search.run(budget)
    best.offer(_tasks(best.problem, search.circuit, found.counts), found.bound)


def _program(best: _Best, tables: _Tables, budget: Budget) -> None:
    problem = best.problem
    cost, circuits = np.where(problem.fails, problem.weight, 0.0), tables.circuits
    if not tables.units.whole:  # what costs less than a unit is not free here
        one = np.ones(len(cost), dtype=np.int64)
        circuits = [
            circuit(problem.graph, best.model, ~case.failed | (cost <= 0.0), one, budget) for case in problem.cases
        ]
    limit = problem.budget + SLACK * max(1.0, abs(problem.budget))
    scale = max(best.bound, 1e-12)
    found = integer_program(circuits, tables.weights, cost, limit, budget, best.replicated, scale)
    plan = best.replicated
    if found.replicated is not None:
        plan = (found.replicated & problem.fails) | best.replicated & (problem.weight <= 0.0)
    best.offer(plan, found.bound)


def _has_large_operators(each: Circuit) -> bool:
    """Return whether tasks mostly sit in operators that are fed alike."""
    return sum(block.most for block in each.blocks) >= 4 * len(each.blocks)


def _rounded(problem: ReplicationProblem, each: Circuit, reduced: Reduced) -> BoolArray:
    """Return a plan that fits, from the table of the output: at the largest cost where the most of all copies fits."""
    low, high = 0, len(reduced.table.values) - 1
    plan = _at(problem, each, reduced, high)
    if problem.fits(problem.cost(plan)):
        return plan
    while high - low > 1:
        middle = (low + high) // 2
        fits = problem.fits(problem.cost(_at(problem, each, reduced, middle)))
        low, high = (middle, high) if fits else (low, middle)
    return _at(problem, each, reduced, low)


def _at(problem: ReplicationProblem, each: Circuit, reduced: Reduced, cost: int) -> BoolArray:
    """Return the tasks that a table takes at a cost, the most of all copies."""
    return _tasks(problem, each, {k: max(counts) for k, counts in choices(reduced.table, cost).counts.items()})


def _tasks(problem: ReplicationProblem, each: Circuit, counts: dict[int, int]) -> BoolArray:
    """Return the tasks of some blocks' choices, and all that cost nothing."""
    replicated = problem.fails & (problem.weight <= 0.0)
    for k, count in counts.items():
        replicated[each.blocks[k].tasks[:count]] = True
    return replicated


def _pruned(problem: ReplicationProblem, model: FidelityModel, replicated: BoolArray) -> BoolArray:
    """Return the replicas that complete some MC-tree in some case."""
    kept = np.zeros(problem.tasks, dtype=np.bool_)
    for case in problem.cases:
        if case.weight > 0.0:
            kept |= needed(model, ~case.failed | replicated) & case.failed
    return kept & replicated
