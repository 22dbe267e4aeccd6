"""Solutions within budgets: first ones, and better ones from them, rung by rung of a ladder of budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.placement.room import Room, better, in_place
from ftplan.planners.replication.search.enumeration import enumerated
from ftplan.planners.replication.search.growth import TreeGrowth
from ftplan.planners.replication.search.ladder import climbed
from ftplan.planners.replication.search.ruin import improved, trimmed

#: Growths on one rung that try to do better, times tasks and cases of the topology; and the most of them.
WORK, TRIES = 50_000, 40
#: Replicas up to which a solution may also begin with the densest tree through each operator.
FEW = 8

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
        if trees and max((int(other.replicated.sum()) for other in begun), default=0) <= FEW:
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
        chosen.append(_best([room for room in rooms if room.cost <= asked.limit and room.within_changes]))
    return chosen


def _best(rooms: Sequence[Room]) -> Room:
    """Return the solution of most value, of equal ones the cheapest, of those the first."""
    return min(rooms, key=lambda room: room.rank)
