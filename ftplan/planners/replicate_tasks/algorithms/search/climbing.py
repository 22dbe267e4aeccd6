"""Solutions within budgets: first ones, and better ones from them, rung by rung of a ladder of budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.placement.room import Room, better, in_place
from ftplan.planners.replicate_tasks.algorithms.search.enumeration import enumerated
from ftplan.planners.replicate_tasks.algorithms.search.growth import TreeGrowth
from ftplan.planners.replicate_tasks.algorithms.search.ladder import climbed
from ftplan.planners.replicate_tasks.algorithms.search.ruin import improved, trimmed
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: Growths on one rung that try to do better, times tasks and cases of the topology; and the most of them.
WORK, TRIES = 50_000, 40
#: Replicas up to which a solution may also begin with the densest tree through each operator.
FEW = 8

#: Tasks times growths that try to do better where there are no hosts.
PLAIN = 100_000
#: Tasks times cases above which a solution is also grown in steps of this share, should the clock end the climb.
LARGE, COARSE = 5_000, 0.2

#: Make a solution larger, within its limit.
First = Callable[[Room], Room]


def climbed_within(
    problem: ReplicationProblem, budgets: Sequence[float], first: First, seed: int, clock: Budget, trees: bool = False
) -> list[Room]:
    """Return a solution for each of some ascending budgets: a first one on each rung, improved, and never worse.

    With *trees* solutions also grow from the rung below by MC-trees, and begin with other ones. Where replicas are in
    place, solutions that begin with them count too, and where changes are limited only these. Jobs of few failing
    tasks are searched completely.
    """
    growth = TreeGrowth(problem, clock)
    tries = min(TRIES, clock.passes(WORK // max(1, problem.tasks * len(problem.cases))))

    climbs = 0
    exhausted: list[IntArray] = []  # neither growth nor what was tried makes the last one better

    def climb(room: Room, steps: list[Room]) -> Room:
        nonlocal climbs
        if room.cost > room.limit:  # what is in place takes more than this rung has
            return room
        begun: list[Room] = []
        for price in growth.prices if trees else []:
            track = [room]
            growth.grown(room, price, steps=track)
            begun.append(track[-1])
            if begun[-1].value >= max(other.value for other in begun):
                steps[:] = track
        if not trees or tries:
            begun.append(first(room.empty()))
        if trees and tries and max(int(other.replicated.sum()) for other in begun) <= FEW:
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
    starts: list[Room] = [] if problem.max_changes is not None else [Room(problem)]
    if problem.current is not None:
        starts.append(in_place(problem))
    solutions: list[Sequence[Room]] = [climbed(problem, budgets, start, climb, clock) for start in starts]
    chosen = []
    for k, budget in enumerate(budgets):
        rooms = [rooms[k] for rooms in solutions]
        asked = Room(replace(problem, budget=budget))
        complete = enumerated(asked.problem)
        rooms += [Room(asked.problem, complete[0])] if complete is not None else []
        rooms += [quick] if quick is not None and clock.cut else []
        chosen.append(_best([room for room in rooms if room.cost <= asked.limit and room.within_changes]))
    return chosen


def grown_within(problem: ReplicationProblem, first: First, seed: int, clock: Budget) -> Room:
    """Return a solution within the budget, without hosts: the best of some beginnings, grown, then improved.

    It begins with nothing, with a *first* solution, and with the densest tree through each operator.
    """
    growth, empty = TreeGrowth(problem, clock), Room(problem)
    price = growth.prices[0]
    begun = [growth.grown(start, price) for start in (empty, trimmed(first(empty)), *growth.starts(empty, price))]
    complete = enumerated(problem)
    begun += [Room(problem, complete[0])] if complete is not None else []
    tries = clock.passes(PLAIN // max(1, problem.tasks))
    return improved(growth, trimmed(_best(begun)), growth.prices, tries, seed)


def _quick(growth: TreeGrowth, problem: ReplicationProblem, budget: float) -> Room | None:
    """Return a solution grown in few steps, for a large job on which the clock may end the climb; None for others."""
    if problem.tasks * len(problem.cases) <= LARGE:
        return None
    coarse = TreeGrowth(replace(problem, budget=budget), growth.budget)
    coarse.share, coarse.least = max(coarse.share, COARSE), max(coarse.least, problem.tasks // LARGE)
    return coarse.grown(Room(coarse.problem), coarse.prices[-1])


def _best(rooms: Sequence[Room]) -> Room:
    """Return the solution of most value, of equal ones the cheapest, of those the first."""
    return min(rooms, key=lambda room: room.rank)
