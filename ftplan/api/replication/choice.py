"""Which tasks get a replica: a planner under a budget, or as few replicas as reach a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ftplan.api.replication.problem import Prepared
from ftplan.model.plan import Infeasible, Status, Warn, sound_bound
from ftplan.model.task_graph import BoolArray
from ftplan.model.tolerances import ROUNDING
from ftplan.planners import registry
from ftplan.planners.budget import Budget
from ftplan.planners.replication.problem import Replication, ReplicationOptions, ReplicationProblem
from ftplan.planners.result import Result

#: Part of the time for a planner without a bound of its own; the rest is for a bound.
PLANNED = 0.8

Planner = Callable[[ReplicationProblem, ReplicationOptions], Result[Replication]]
#: Whether a set of replicas, shape (tasks,), is as good as was asked.
Enough = Callable[[BoolArray], bool]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a planner chose. ``bound``: of the metric, or with a target of the number of replicas."""

    replicated: BoolArray | None
    status: Status
    bound: float | None = None
    reason: str | None = None
    infeasible: Infeasible | None = None
    warnings: tuple[Warn, ...] = ()


def choose(prepared: Prepared, row: registry.Row, options: ReplicationOptions) -> Choice:
    """Ask a planner, and make sure of a proven bound and of a plan that keeps the budget.

    Raises
    ------
    RuntimeError
        If the planner exceeds the budget: a fault of it.
    """
    problem = prepared.problem
    if registry.beside(row, "quick_bound") is None:  # its bound takes time beside it
        options = replace(options, time_limit_s=PLANNED * options.time_limit_s)
    result: Result[Replication] = registry.load(row)(problem, options)
    if result.answer is None:
        return Choice(None, result.status, result.bound, result.reason, result.infeasible, result.warnings)
    replicated = result.answer.replicated & problem.fails
    if not problem.fits(problem.cost(replicated)):
        raise RuntimeError(f"{row.name} spends {problem.cost(replicated):g} of a budget of {problem.budget:g}")
    value = problem.value(replicated)
    warnings, own = result.warnings, result.bound
    if own is None:
        clock = Budget(options.time_limit_s, options.iterations, ends=options.ends)
        own = quick_bound(problem, clock)
        warnings = tuple(dict.fromkeys((*warnings, *clock.warnings())))
    bound = sound_bound("max", value, own)
    status: Status = result.status
    if met(value, bound):
        status, bound = "optimal", value  # bounds are raised a little for rounding errors
    return Choice(replicated, status, bound, result.reason, warnings=warnings)


def met(value: float, bound: float) -> bool:
    """Return whether a bound is met up to a rounding error of it; where fidelities are tiny, so is that."""
    return bound - value <= ROUNDING * bound


def quick_bound(problem: ReplicationProblem, clock: Budget) -> float:
    """Return a proven bound of the metric, cheaply; 1 where there is no time for it."""
    found = registry.beside(registry.row("replicate-tasks", "exact"), "quick_bound")
    return 1.0 if found is None or clock.over() else float(found(problem, clock))


def fewest(prepared: Prepared, row: registry.Row, options: ReplicationOptions, target: float, enough: Enough) -> Choice:
    """Return the fewest replicas that a planner reaches a target with.

    Budgets are bisected; each gets an equal part of the time. ``bound`` is the number of replicas that no choice can
    do without: one more than the largest budget whose proven bound lies below the target. Where not even a replica of
    every task is *enough* the choice is all tasks.

    Cost: 2 log2(tasks) runs of the planner. Guarantee: the minimum, where the planner proves each of its optima.
    """
    problem = prepared.problem
    most = int(problem.fails.sum())
    part = replace(options, time_limit_s=options.time_limit_s / max(1.0, 2.0 * math.log2(most + 1.0)))
    clock = Budget.of(options)
    bounds: dict[int, float] = {}

    def at(budget: int) -> Choice:
        found = choose(replace(prepared, problem=replace(problem, budget=float(budget))), row, part)
        bounds[budget] = 1.0 if found.bound is None else found.bound
        return found

    low, high, best = -1, most, at(most)
    if best.replicated is None:
        return best
    while high - low > 1 and not clock.over():
        middle = (low + high) // 2
        found = at(middle)
        if found.replicated is not None and _reaches(prepared, found.replicated, target) and enough(found.replicated):
            high, best = middle, found
        else:
            low = middle
    needed = _least(problem, bounds, target, most, Budget(5.0, ends=options.ends))
    assert best.replicated is not None
    count = int(prepared.useful(best.replicated).sum())
    status: Status = "optimal" if count <= needed else "feasible"
    warnings = tuple(dict.fromkeys((*best.warnings, *clock.warnings())))
    bound = sound_bound("min", float(count), float(needed))
    return replace(best, status=status, bound=bound, warnings=warnings)


def _reaches(prepared: Prepared, replicated: BoolArray, target: float) -> bool:
    return prepared.problem.value(replicated) >= target - ROUNDING


def _least(problem: ReplicationProblem, bounds: dict[int, float], target: float, most: int, clock: Budget) -> int:
    """Return how many replicas are needed at least, by the bounds of planners and by quick ones between them."""
    low = max((b for b, bound in bounds.items() if bound < target - ROUNDING), default=-1)
    high = min((b for b, bound in bounds.items() if b > low and bound >= target - ROUNDING), default=most)
    while high - low > 1 and not clock.over():
        middle = (low + high) // 2
        if quick_bound(replace(problem, budget=float(middle)), clock) < target - ROUNDING:
            low = middle
        else:
            high = middle
    return low + 1


def at_random(problem: ReplicationProblem, seed: int, most: int | None = None) -> BoolArray:
    """Return replicas of random tasks that fit the budget one after another, at most so many, shape (tasks,)."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(problem.fails))
    chosen = np.zeros(problem.tasks, dtype=np.bool_)
    if (problem.weight[order] == 1.0).all():
        chosen[order[: int(min(problem.budget, len(order) if most is None else most))]] = True
        return chosen
    cost = 0.0
    for task, weight in zip(order.tolist(), problem.weight[order].tolist(), strict=True):
        if most is not None and chosen.sum() >= most:
            break
        if problem.fits(cost + weight):
            chosen[task] = True
            cost += weight
    return chosen
