"""The fewest replicas that reach a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.plan import Status, sound_bound
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.bounds import quick_bound
from ftplan.planners.replication.choice import EQUAL, Solve
from ftplan.planners.replication.planner import Replication, ReplicationOptions
from ftplan.planners.result import Result

#: Seconds for bounds between those of the planner.
BOUNDING_S = 5.0

#: Whether a set of replicas, shape (tasks,), is as good as was asked.
Enough = Callable[[BoolArray], bool]


def fewest(
    problem: ReplicationProblem, solve: Solve, options: ReplicationOptions, target: float, enough: Enough
) -> Result[Replication]:
    """Return the fewest replicas that a planner reaches a target with.

    Budgets are bisected; each gets an equal part of the time. ``bound`` is the number of replicas that no choice can
    do without: one more than the largest budget whose proven bound lies below the target. Where not even a replica of
    every task is *enough* the choice is all tasks.

    Cost: 2 log2(tasks) runs of the planner. Guarantee: the minimum, where the planner proves each of its optima.
    """
    most = int(problem.fails.sum())
    part = replace(options, time_limit_s=options.time_limit_s / max(1.0, 2.0 * math.log2(most + 1.0)))
    clock = Budget.of(options)
    bounds: dict[int, float] = {}

    def at(budget: int) -> Result[Replication]:
        result = solve(replace(problem, budget=float(budget)), part)
        bounds[budget] = 1.0 if result.bound is None else result.bound
        return result

    low, high, best = -1, most, at(most)
    if best.answer is None:
        return best
    while high - low > 1 and not clock.over():
        middle = (low + high) // 2
        result = at(middle)
        replicated = None if result.answer is None else result.answer.replicated
        if replicated is not None and problem.value(replicated) >= target - EQUAL and enough(replicated):
            high, best = middle, result
        else:
            low = middle
    least = _least(problem, bounds, target, most, Budget(BOUNDING_S, ends=options.ends))
    assert best.answer is not None
    count = int(problem.useful(best.answer.replicated).sum())
    status: Status = "optimal" if count <= least else "feasible"
    warnings = tuple(dict.fromkeys((*best.warnings, *clock.warnings())))
    return replace(best, status=status, bound=sound_bound("min", float(count), float(least)), warnings=warnings)


def _least(problem: ReplicationProblem, bounds: dict[int, float], target: float, most: int, clock: Budget) -> int:
    """Return how many replicas it takes at least, by the bounds of planners and by quick ones between them."""
    low = max((b for b, bound in bounds.items() if bound < target - EQUAL), default=-1)
    high = min((b for b, bound in bounds.items() if b > low and bound >= target - EQUAL), default=most)
    while high - low > 1 and not clock.over():
        middle = (low + high) // 2
        if quick_bound(replace(problem, budget=float(middle)), clock) < target - EQUAL:
            low = middle
        else:
            high = middle
    return low + 1
