"""Solutions for ever larger budgets, each grown from the one before, so that more is never worth less."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.placement.room import Room, significant
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: How much larger than the last one the next budget is, at least by the least cost of a replica; most budgets.
STEP, MOST = 1.4, 40
#: How much larger the steps become with the price of a look, and the largest step.
SLOWER, LARGEST = 0.5, 8.0
#: Of the replicas that go one after another, this share goes at once; looks that are too dear for that.
SHARE, DEAR = 0.01, 10.0

#: Return a better solution within the limit of one, and add all solutions on the way, ever dearer, to a list.
Climb = Callable[[Room, list[Room]], Room]


def climbed(
    problem: ReplicationProblem, budgets: Sequence[float], start: Room, climb: Climb, clock: Budget
) -> list[Room]:
    """Return a solution for each of some ascending budgets.

    The ladder's own budgets depend on what replicas cost only, and each solution begins with that of the budget below.
    Between two of them stand the solutions on the way up, and what is left of the upper one when its least replicas go
    one by one. Hence more budget is never worth less. Where the clock runs out, the last solution serves all budgets
    that are left.
    """
    room, waiting = start, list(budgets)
    best: list[Room] = []
    for high in _rungs(problem, max(budgets, default=0.0)):
        if clock.over():
            break
        steps: list[Room] = []
        upper = climb(room.copy(_limit(high)), steps)
        between = [budget for budget in waiting if budget < high * (1.0 - ROUNDING)]
        best += _between(room, steps, upper, between, clock)
        waiting = waiting[len(between) :]
        room = upper
    return best + [room] * len(waiting)


def _limit(budget: float) -> float:
    return budget + ROUNDING * max(1.0, budget)


def _rungs(problem: ReplicationProblem, largest: float) -> Iterator[float]:
    """Yield the budgets of the ladder, up to the first above the largest asked for."""
    weight = problem.weight[problem.fails]
    total, least = float(weight.sum()), float(weight[weight > 0.0].min(initial=math.inf))
    rung, k = 0.0, 0
    step = min(LARGEST, STEP * problem.looks**SLOWER)
    if problem.looks > 1.0:
        least = max(least, float(weight.mean()) * problem.looks)
    least = max(least, total / step**MOST) if total > 0.0 else 0.0
    while True:
        yield rung
        if rung >= total * (1.0 - ROUNDING) or rung * (1.0 - ROUNDING) > largest:
            return
        k = max(k + 1, math.floor(k * step))
        rung = min(total, k * least)


def _between(low: Room, steps: list[Room], high: Room, budgets: list[float], clock: Budget) -> list[Room]:
    """Return the best of the solutions between two neighbours on the ladder, for each budget."""
    coming_down = list(_fewer(high, low.cost, clock)) if budgets else []
    best = []
    for budget in budgets:
        limit = _limit(budget)
        going_up = [room for room in steps if room.cost <= limit][-1:]
        down = [room for room in coming_down if room.cost <= limit and room.within_changes][:1]
        best.append(min([low, *going_up, *down], key=lambda room: room.rank).copy(limit))
    return best


def _fewer(room: Room, least: float, clock: Budget) -> Iterator[Room]:
    """Yield what is left of a solution when its replicas of least gain go, down to some cost."""
    problem = room.problem
    yield room
    if problem.looks > DEAR:
        return
    share = SHARE * problem.looks
    while room.cost > least and not clock.over():
        order = _by_gain(room)
        if len(order) == 0:
            return
        room = room.copy()
        for task in order[: max(1, int(share * len(order)))].tolist():
            room.remove(task)
        for task in np.flatnonzero(room.replicated & (problem.useful_at(room.node) == NOWHERE)).tolist():
            room.remove(task)
        yield room


def _by_gain(room: Room) -> IntArray:
    """Return the replicas that cost something, that of least gain for its cost first."""
    problem, change = room.problem, room.single_changes
    tasks = np.flatnonzero(room.replicated & (problem.weight > 0.0))
    return np.asarray(tasks[np.lexsort((tasks, significant(change[tasks] / problem.weight[tasks])))], dtype=np.int64)
