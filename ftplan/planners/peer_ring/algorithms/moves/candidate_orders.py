"""Orders that may follow the one in place: all of few nodes, else those that keep it and those that are best in load.

What is looked at depends on the ring in place and the nodes only, not on the target or on the bytes allowed: so a
higher target, or more bytes, never lead to a worse ring.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.bounds import LeastLoad
from ftplan.planners.peer_ring.algorithms.moves.cuts import FEW_TRIES, RingChange, least_bytes
from ftplan.planners.peer_ring.algorithms.moves.insertion import order_with_joins
from ftplan.planners.peer_ring.algorithms.orders.windows import cost_of_order, less_crowded
from ftplan.planners.peer_ring.problem import RingProblem

#: Most orders that are looked at, and most steps: orders times nodes times positions.
MOST_ORDERS = 5_040
MOST_ORDER_STEPS = 300_000_000


def alike(change: RingChange) -> IntArray:
    """Return a class for each node, (N,): nodes of a class have the same cpu and room, and hold nothing yet.

    They have the same zone too, or each has one of its own. Any other node is a class of its own.
    """
    problem, held = change.problem, np.diff(change.holds[0])
    alone = np.bincount(problem.zone[problem.members], minlength=len(problem.zones))[problem.zone] <= 1
    keys = np.column_stack(
        [np.where(alone, -1, problem.zone), problem.cpu, change.most, np.arange(len(problem.nodes)) + 1.0]
    )
    keys[held == 0, 3] = 0.0
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def count_orders(change: RingChange) -> int | None:
    """Return how many orders there are, None where these are too many to look at all."""
    member = change.problem.member
    if len(member) > 30:
        return None
    count = factorial(len(member) - 1)
    for size in np.unique(alike(change)[member[1:]], return_counts=True)[1].tolist():
        count //= factorial(size)
    steps = count * len(member) * len(change.problem.position)
    return count if count <= MOST_ORDERS and steps <= MOST_ORDER_STEPS else None


def every_order(change: RingChange) -> Iterator[IntArray]:
    """Yield circular orders of the members, one for all that differ only in nodes that are alike."""
    first, *others = change.problem.member.tolist()
    kind = alike(change)
    for arranged in _arranged([], others, kind):
        yield np.array([first, *arranged], dtype=np.int64)


def _arranged(begun: list[int], left: list[int], kind: IntArray) -> Iterator[list[int]]:
    if not left:
        yield begun
    seen = set[int]()
    for node in left:
        if int(kind[node]) not in seen:
            seen.add(int(kind[node]))
            yield from _arranged([*begun, node], [other for other in left if other != node], kind)


#: Largest loads, over the least, for which good orders are looked for.
ORDER_LOADS = (1.0, 1.01, 1.03, 1.1, 1.25, 1.5, 2.0, np.inf)
#: Of these, those for which neighbours of good orders are looked at.
NEIGHBOUR_LOADS = (1.0, 1.1)
#: Steps of the search among neighbours: candidates times nodes times positions.
MOST_NEIGHBOUR_STEPS = 400_000_000


def members_in_place(problem: RingProblem) -> IntArray:
    """Return the members on the ring in place in their circular order, by their first tokens."""
    assert problem.current is not None
    nodes = problem.current.node[problem.members[problem.current.node]]
    _, at = np.unique(nodes, return_index=True)
    return nodes[np.sort(at)]


def candidate_orders(change: RingChange, best: LeastLoad, budget: Budget) -> Iterator[IntArray]:
    """Yield orders of the members, those that keep the circle in place first.

    *best*: what is best without a look at the ring in place.
    """
    problem = change.problem
    stays = members_in_place(problem)
    joins = np.setdiff1d(problem.member, stays)
    for order in list(_orders_in_place(change, stays, joins, best.largest, budget)):  # before time goes into neighbours
        yield order
        fixed = order
        if cost_of_order(problem, order) > best.zones:
            fixed = less_crowded(problem, order, best.zones, budget)
            yield fixed
        for factor in NEIGHBOUR_LOADS:
            yield from _neighbours(change, fixed, best.largest * factor, budget)
    yield best.order


def _orders_in_place(
    change: RingChange, stays: IntArray, joins: IntArray, load: float, budget: Budget
) -> Iterator[IntArray]:
    """Yield orders that keep the circle of those that stay."""
    if not len(joins):
        yield stays
        return
    yield _spread(stays, joins)
    seen = set[tuple[int, ...]]()
    for factor in ORDER_LOADS:
        order = order_with_joins(change, stays, joins, load * factor, budget)
        if order is not None and tuple(order.tolist()) not in seen:
            seen.add(tuple(order.tolist()))
            yield order


def _spread(stays: IntArray, joins: IntArray) -> IntArray:
    """Return the order where those that join stand evenly between those that stay."""
    at = (np.arange(len(joins)) * len(stays)) // max(len(joins), 1) + 1
    return np.insert(stays, np.minimum(at, len(stays)), joins)


def _neighbours(change: RingChange, order: IntArray, load: float, budget: Budget) -> Iterator[IntArray]:
    """Yield orders that one node's move at a time makes cheaper for a largest load, where that is little work."""
    n, size = len(order), len(change.problem.position)
    if n * n * n * size > MOST_NEIGHBOUR_STEPS or n < 4:
        return
    zones = cost_of_order(change.problem, order)
    cost = least_bytes(change, order, load, budget, effort=FEW_TRIES).cost
    for _ in range(budget.passes(3)):
        better = False
        for node in order.tolist():
            rest = np.roll(order, -int(np.flatnonzero(order == node)[0]))[1:]
            for gap in range(1, n - 1):
                if budget.over() or cost <= change.lacking:
                    return
                moved = np.insert(rest, gap, node)
                if cost_of_order(change.problem, moved) > zones:
                    continue
                found = least_bytes(change, moved, load, budget, change.lacking, cost, FEW_TRIES)
                if found.first is not None and found.cost < cost:
                    order, cost, better = moved, found.cost, True
                    rest = np.roll(order, -int(np.flatnonzero(order == node)[0]))[1:]
        if not better:
            break
        yield order
