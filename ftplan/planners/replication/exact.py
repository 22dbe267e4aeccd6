"""The best replicas under a budget, with a proof or a proven gap."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import numpy as np

from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.plan import Status, sound_bound
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.replication.bounds import RAISED, Circuits, raised
from ftplan.planners.replication.models.circuit import Circuit, circuit
from ftplan.planners.replication.models.integer_program import integer_program
from ftplan.planners.replication.models.reduction import Reduced
from ftplan.planners.replication.models.tables import choices
from ftplan.planners.replication.models.units import units
from ftplan.planners.replication.planner import Replication, ReplicationOptions
from ftplan.planners.replication.search.branching import BranchAndBound
from ftplan.planners.replication.structure_aware import structure_aware
from ftplan.planners.result import Result

#: The share of its bound at which a value counts as the optimum.
MET = 1e-7
#: Part of the time for the tables: where they are not ready by then, another plan and the integer program do without.
TABLES = 0.5
#: Part of the time for branch and bound before an integer program, where operators are large and where they are not
#: and the choices are few; of what is left for the program; and the gap below which large operators need none.
BRANCHING, TASTE, TASTE_ITERATIONS, FEW_BLOCKS, PROGRAM, CLOSE = 0.6, 0.1, 20, 1000, 0.8, 0.01


@dataclass(slots=True, eq=False)
class _Incumbent:
    """The best plan so far and the least bound."""

    problem: ReplicationProblem
    replicated: BoolArray
    value: float
    bound: float = 1.0

    def offer(self, replicated: BoolArray, bound: float = np.inf) -> None:
        """Take a plan where it fits and is better, and a bound where it is less."""
        value = self.problem.value(replicated)
        if self.problem.fits(self.problem.cost(replicated)) and value > self.value:
            self.replicated, self.value = replicated, value
        self.bound = sound_bound("max", self.value, min(self.bound, bound * (1.0 + RAISED)))

    @property
    def proven(self) -> bool:
        """Whether the bound is met."""
        return self.value >= self.bound * (1.0 - MET)


def exact(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Choose the replicas of most expected fidelity under the budget.

    Where all paths of the topology nest, as in in-trees of full edges with joins, or lanes of tasks that split and
    meet again, dynamic programming over costs is exact: operators whose tasks are fed alike take their heaviest tasks
    first, parts in series and joins multiply, parallel parts add up. Else branch and bound over the operators that
    feed several others, and an integer program over single tasks, the first where operators are large, the other where
    they are not or where there are several cases. Costs that no unit divides are rounded down for the bound.

    Cost: O(budget · tasks) where paths nest; exponential at worst elsewhere, within the limits of the options.

    Guarantee: optimal where it says so, up to 1e-7 of the value; else the bound is proven.

    References: output fidelity is [SuZhou2016], section III; the paper has no exact method beyond a few MC-trees.
    """
    # Departure from the paper's algorithm 1: no MC-tree is ever listed, since on full edges there are billions.
    budget = Budget.of(options)
    incumbent = _Incumbent(problem, problem.free, problem.value(problem.free))
    with contextlib.suppress(OutOfTime):
        _solve(incumbent, options, budget)
    replicated = problem.useful(incumbent.replicated)
    value, bound = problem.value(replicated), incumbent.bound
    status: Status = "optimal" if value >= bound * (1.0 - MET) else "feasible"
    bound = sound_bound("max", value, bound)
    return Result(status, Replication(replicated), ("budget",), bound, warnings=budget.warnings())


def curve(problem: ReplicationProblem, limits: list[float], budget: Budget) -> list[tuple[float, float]] | None:
    """Return value and bound of the best replicas at each of some budgets, from one table.

    None where paths do not nest, or the table is not ready in a part of the time: then each budget is a question.
    """
    if len(problem.cases) > 1:
        return None
    part = budget.part(TABLES)
    try:
        tables = Circuits.of(replace(problem, budget=max(limits)), part)
        reduced = tables.reduced(part) if tables.units.whole else []
    except OutOfTime:
        return None
    if not reduced or not reduced[0].exact:
        return None
    values = [tables.bound(reduced, units(replace(problem, budget=limit)).limit) for limit in limits]
    return [(value, raised(value)) for value in values]


def _solve(incumbent: _Incumbent, options: ReplicationOptions, budget: Budget) -> None:
    """Improve plan and bound until they meet or the work is done; raises :class:`OutOfTime` where the clock ends it."""
    problem, part = incumbent.problem, budget.part(TABLES)
    try:
        tables = Circuits.of(problem, part)
        reduced = tables.reduced(part)
    except OutOfTime:
        budget.cut = True
        heuristic = structure_aware(problem, replace(options, time_limit_s=budget.left_s / 2.0)).answer
        assert heuristic is not None
        incumbent.offer(heuristic.replicated)
        _program(incumbent, Circuits.of(problem, budget), budget)
        return
    incumbent.offer(incumbent.replicated, tables.bound(reduced))
    for each, table in zip(tables.circuits, reduced, strict=True):
        incumbent.offer(_rounded(problem, each, table))
    if incumbent.proven:
        return
    if len(tables.circuits) > 1:
        _program(incumbent, tables, budget)
        return
    _search(incumbent, tables, budget)


def _search(incumbent: _Incumbent, tables: Circuits, budget: Budget) -> None:
    """Branch first where operators are large, else after the integer program, but for a taste of bounded work."""
    (each,) = tables.circuits
    search, large = BranchAndBound(each, tables.units.limit), _has_large_operators(each)
    part = budget.part(BRANCHING if large else TASTE)
    if not large:  # bounded work, so that what follows starts from the same plan in every run
        part.iterations = min(TASTE_ITERATIONS, part.iterations or TASTE_ITERATIONS)
    if large or len(each.blocks) <= FEW_BLOCKS:
        _branch(incumbent, search, part)
    budget.cut |= part.cut
    if not incumbent.proven and not (large and incumbent.bound <= incumbent.value * (1.0 + CLOSE)):
        part = budget.part(PROGRAM)
        _program(incumbent, tables, part)
        budget.cut |= part.cut
    if not incumbent.proven:
        _branch(incumbent, search, budget)


def _branch(incumbent: _Incumbent, search: BranchAndBound, budget: Budget) -> None:
    best = search.resume(budget)
    incumbent.offer(_tasks(incumbent.problem, search.circuit, best.counts), best.bound)


def _program(incumbent: _Incumbent, tables: Circuits, budget: Budget) -> None:
    problem, circuits = incumbent.problem, tables.circuits
    cost = np.where(problem.fails, problem.weight, 0.0)
    if not tables.units.whole:  # what costs less than a unit is not free here
        one = np.ones(len(cost), dtype=np.int64)
        live = [~case.failed | (cost <= 0.0) for case in problem.cases]
        circuits = [circuit(problem.graph, problem.model, each, one, budget) for each in live]
    scale = max(incumbent.bound, 1e-12)
    solution = integer_program(circuits, tables.weights, cost, problem.limit, budget, incumbent.replicated, scale)
    plan = incumbent.replicated
    if solution.replicated is not None:
        plan = (solution.replicated & problem.fails) | plan & (problem.weight <= 0.0)
    incumbent.offer(plan, solution.bound)


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
    replicated = problem.free
    for k, count in counts.items():
        replicated[each.blocks[k].tasks[:count]] = True
    return replicated
