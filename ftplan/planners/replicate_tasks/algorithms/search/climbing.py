"""Solutions within budgets: first ones, and better ones from them, rung by rung of a ladder of budgets.

Each rung grows from the one below, so that more budget is never worth less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, better, in_place, significant
from ftplan.planners.replicate_tasks.algorithms.search.enumeration import enumerated
from ftplan.planners.replicate_tasks.algorithms.search.growth import TreeGrowth, improved, trimmed
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: How much larger than the last one the next budget is, at least by the least cost of a replica; most budgets.
STEP, MOST = 1.4, 40
#: How much larger the steps become with the price of a look, and the largest step.
SLOWER, LARGEST = 0.5, 8.0
#: Of the replicas that go one after another, this share goes at once; looks that are too dear for that.
SHARE, DEAR = 0.01, 10.0

#: Return a better solution within the limit of one, and add all solutions on the way, ever dearer, to a list.
Climb = Callable[[ReplicaPlacement, list[ReplicaPlacement]], ReplicaPlacement]


def climbed(
    problem: ReplicationProblem, budgets: Sequence[float], start: ReplicaPlacement, climb: Climb, clock: Budget
) -> list[ReplicaPlacement]:
    """Return a solution for each of some ascending budgets.

    The ladder's own budgets depend on what replicas cost only, and each solution begins with that of the budget below.
    Between two of them stand the solutions on the way up, and what is left of the upper one when its least replicas go
    one by one. Hence more budget is never worth less. Where the clock runs out, the last solution serves all budgets
    that are left.
    """
    room, waiting = start, list(budgets)
    best: list[ReplicaPlacement] = []
    for high in _rungs(problem, max(budgets, default=0.0)):
        if clock.over():
            break
        steps: list[ReplicaPlacement] = []
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


def _between(
    low: ReplicaPlacement, steps: list[ReplicaPlacement], high: ReplicaPlacement, budgets: list[float], clock: Budget
) -> list[ReplicaPlacement]:
    """Return the best of the solutions between two neighbours on the ladder, for each budget."""
    coming_down = list(_fewer(high, low.cost, clock)) if budgets else []
    best = []
    for budget in budgets:
        limit = _limit(budget)
        going_up = [room for room in steps if room.cost <= limit][-1:]
        down = [room for room in coming_down if room.cost <= limit and room.within_changes][:1]
        best.append(min([low, *going_up, *down], key=lambda room: room.rank).copy(limit))
    return best


def _fewer(room: ReplicaPlacement, least: float, clock: Budget) -> Iterator[ReplicaPlacement]:
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


def _by_gain(room: ReplicaPlacement) -> IntArray:
    """Return the replicas that cost something, that of least gain for its cost first."""
    problem, change = room.problem, room.single_changes
    tasks = np.flatnonzero(room.replicated & (problem.weight > 0.0))
    return np.asarray(tasks[np.lexsort((tasks, significant(change[tasks] / problem.weight[tasks])))], dtype=np.int64)


#: Growths on one rung that try to do better, times tasks and cases of the topology; and the most of them.
WORK, TRIES = 50_000, 40
#: Replicas up to which a solution may also begin with the densest tree through each operator.
MAX_REPLICAS_FOR_STARTS = 8

#: Tasks times growths that try to do better where there are no hosts.
PLAIN = 100_000
#: Tasks times cases above which a solution is also grown in steps of this share, should the clock end the climb.
LARGE, COARSE = 5_000, 0.2

#: Make a solution larger, within its limit.
First = Callable[[ReplicaPlacement], ReplicaPlacement]


def climbed_within(
    problem: ReplicationProblem, budgets: Sequence[float], first: First, seed: int, clock: Budget, trees: bool = False
) -> list[ReplicaPlacement]:
    """Return a solution for each of some ascending budgets: a first one on each rung, improved, and never worse.

    With *trees* solutions also grow from the rung below by MC-trees, and begin with other ones. Where replicas are in
    place, solutions that begin with them count too, and where changes are limited only these. Jobs of few failing
    tasks are searched completely.
    """
    growth = TreeGrowth(problem, clock)
    tries = min(TRIES, clock.passes(WORK // max(1, problem.tasks * len(problem.cases))))

    climbs = 0
    exhausted: list[IntArray] = []  # neither growth nor what was tried makes the last one better

    def climb(room: ReplicaPlacement, steps: list[ReplicaPlacement]) -> ReplicaPlacement:
        nonlocal climbs
        if room.cost > room.limit:  # what is in place takes more than this rung has
            return room
        begun: list[ReplicaPlacement] = []
        for price in growth.prices if trees else []:
            track = [room]
            growth.grown(room, price, steps=track)
            begun.append(track[-1])
            if begun[-1].value >= max(other.value for other in begun):
                steps[:] = track
        if not trees or tries:
            begun.append(first(room.empty()))
        if trees and tries and max(int(other.replicated.sum()) for other in begun) <= MAX_REPLICAS_FOR_STARTS:
            for price in growth.prices:
                begun += [growth.grown(start, price) for start in growth.starts(room.empty(), price)]
        grown = trimmed(_best([room, *(other for other in begun if other.within_changes)]))
        climbs += 1
        spent = bool(exhausted) and bool((exhausted[-1] == room.node).all())
        if spent and not better(grown.value, room.value):
            return room
        best = improved(growth, grown, growth.prices, tries, seed + climbs)
        if not better(best.value, room.value):
            exhausted.append(best.node)
        return best

    quick = _quick(growth, problem, max(budgets, default=0.0)) if trees and problem.max_changes is None else None
    starts: list[ReplicaPlacement] = [] if problem.max_changes is not None else [ReplicaPlacement(problem)]
    if problem.current is not None:
        starts.append(in_place(problem))
    solutions: list[Sequence[ReplicaPlacement]] = [climbed(problem, budgets, start, climb, clock) for start in starts]
    chosen = []
    for k, budget in enumerate(budgets):
        rooms = [rooms[k] for rooms in solutions]
        asked = ReplicaPlacement(replace(problem, budget=budget))
        complete = enumerated(asked.problem)
        rooms += [ReplicaPlacement(asked.problem, complete[0])] if complete is not None else []
        rooms += [quick] if quick is not None and clock.cut else []
        chosen.append(_best([room for room in rooms if room.cost <= asked.limit and room.within_changes]))
    return chosen


def grown_within(problem: ReplicationProblem, first: First, seed: int, clock: Budget) -> ReplicaPlacement:
    """Return a solution within the budget, without hosts: the best of some beginnings, grown, then improved.

    It begins with nothing, with a *first* solution, and with the densest tree through each operator.
    """
    growth, empty = TreeGrowth(problem, clock), ReplicaPlacement(problem)
    price = growth.prices[0]
    begun = [growth.grown(start, price) for start in (empty, trimmed(first(empty)), *growth.starts(empty, price))]
    complete = enumerated(problem)
    begun += [ReplicaPlacement(problem, complete[0])] if complete is not None else []
    tries = clock.passes(PLAIN // max(1, problem.tasks))
    return improved(growth, trimmed(_best(begun)), growth.prices, tries, seed)


def _quick(growth: TreeGrowth, problem: ReplicationProblem, budget: float) -> ReplicaPlacement | None:
    """Return a solution grown in few steps, for a large job on which the clock may end the climb; None for others."""
    if problem.tasks * len(problem.cases) <= LARGE:
        return None
    coarse = TreeGrowth(replace(problem, budget=budget), growth.budget)
    coarse.share, coarse.least = max(coarse.share, COARSE), max(coarse.least, problem.tasks // LARGE)
    return coarse.grown(ReplicaPlacement(coarse.problem), coarse.prices[-1])


def _best(rooms: Sequence[ReplicaPlacement]) -> ReplicaPlacement:
    """Return the solution of most value, of equal ones the cheapest, of those the first."""
    return min(rooms, key=lambda room: room.rank)
