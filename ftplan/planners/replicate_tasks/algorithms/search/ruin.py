"""Solutions that are taken apart in places and grown again, as long as that makes them better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, better, significant
from ftplan.planners.replicate_tasks.algorithms.search.growth import Price, TreeGrowth

#: Costs that differ by less, of the cost, are equal.
EQUAL = 1e-12
#: Replicas of one node or operator, or of no kinship, that are given up together at most.
TOGETHER = 12


def improved(
    growth: TreeGrowth, room: ReplicaPlacement, prices: Sequence[Price], tries: int, seed: int
) -> ReplicaPlacement:
    """Return a solution that giving up replicas and growing again does not better, as far as it was tried.

    Each replica alone, that of least gain first; with hosts then those of a node together, then random ones. Replicas
    without use go with them. What is as good and cheaper is better.

    Cost: *tries* growths. Guarantee: no worse than *room*, within its limits.
    """
    waiting = _ruins(room, prices[0], seed)
    value = room.value
    for number in range(tries):
        given_up = next(waiting, None)
        if given_up is None or growth.budget.over():
            break
        other = growth.grown(without(room, given_up), prices[number % len(prices)], given_up[0])
        changed = other.value
        cheaper = not better(value, changed) and other.cost < room.cost - EQUAL * max(1.0, room.cost)
        if (better(changed, value) or cheaper) and other.within_changes:
            room, value = other, changed
            waiting = _ruins(room, prices[0], seed)
    return room


def without(room: ReplicaPlacement, tasks: list[int]) -> ReplicaPlacement:
    """Return a solution without some replicas and all that are of no use then."""
    other = room.copy()
    for task in tasks:
        other.remove(task)
    return trimmed(other)


def trimmed(room: ReplicaPlacement) -> ReplicaPlacement:
    """Return a solution without replicas of no use; where changes are limited those in place stay."""
    useful = room.problem.without_useless(room.node)
    tasks = np.flatnonzero(room.replicated & (useful == NOWHERE)).tolist()
    if not tasks:
        return room
    other = room.copy()
    for task in tasks:
        other.remove(task)
    return other


def _ruins(room: ReplicaPlacement, price: Price, seed: int) -> Iterator[list[int]]:
    """Yield sets of replicas to give up, that which must not come back at once first."""
    gain = room.single_changes
    tasks = np.flatnonzero(room.replicated & (room.problem.weight > 0.0))
    order = tasks[np.lexsort((tasks, significant(gain[tasks] / price.each[tasks])))].tolist()
    yield from ([task] for task in order)
    if len(order) < 2 or room.problem.hosts is None:
        return
    nodes = room.node[order]
    for node in dict.fromkeys(nodes.tolist()):
        here = [task for task, place in zip(order, nodes.tolist(), strict=True) if place == node]
        if len(here) > 1:
            yield here[:TOGETHER]
    draw = np.random.default_rng(seed)
    while True:
        count = int(draw.integers(2, max(3, min(TOGETHER, len(order)) + 1)))
        yield draw.permutation(order)[:count].tolist()
