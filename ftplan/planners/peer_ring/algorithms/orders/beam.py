"""Orders of unequal nodes that waste little, at any size: a beam of partial orders, zones as given.

They are built place by place, and those that waste least are kept; compiled. Shapes: G groups of nodes that are taken
in order, n nodes, B partial orders that are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ftplan.compiled import compiled, pays_to_compile
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders.every_order import BoundedOrder
from ftplan.planners.peer_ring.algorithms.orders.node_classes import NodeClasses
from ftplan.planners.peer_ring.algorithms.partition import scattered, sums_around
from ftplan.planners.peer_ring.algorithms.partition_kernel import farthest
from ftplan.planners.peer_ring.problem import RingProblem


@compiled
def beam(
    sums: Any, cpu: Any, begin: Any, zone: Any, zones: Any, start: Any, limit: Any, kept: Any, parent: Any, chosen: Any,
) -> Any:  # fmt: skip
    """Cover the circle from *start* by arcs within the limit, nodes of zone ``zones[k]`` at place k.

    ``cpu`` (n,) is that of all nodes, group after group, and ``begin`` (G + 1,) where each group begins. Each partial
    order goes on with the next node of every group of the zone; of those, the *kept* that waste the least room are
    followed up. Their groups go into ``chosen`` (n, B), where they came from into ``parent`` (n, B). Returns the one
    that covers the circle, -1 if none does. No arc is empty.
    """
    nodes, groups, size = len(zones), len(zone), (len(sums) - 1) // 2
    goal = start + size
    total = cpu.sum()
    slack = limit * total - (sums[goal] - sums[start])
    if slack < 0.0:
        return -1
    place, used = np.empty(kept, dtype=np.int64), np.zeros(kept)
    following = np.empty((kept, groups), dtype=np.int64)
    place[0] = start
    following[0] = begin[:groups]
    many = 1
    new_place, new_used, new_waste = place.copy(), used.copy(), np.empty(kept)
    new_following = following.copy()
    for step in range(nodes):
        found = 0
        last = goal - (nodes - 1 - step)
        for one in range(many):
            for group in range(groups):
                node = following[one, group]
                if zone[group] != zones[step] or node == begin[group + 1]:
                    continue
                end = farthest(sums, place[one], limit * cpu[node], last)
                if end == place[one]:
                    continue
                after = used[one] + cpu[node]
                waste = limit * after - (sums[end] - sums[start])
                if waste > slack * (1.0 + 1e-9) + limit * total * 1e-12:
                    continue
                if found == kept and waste >= new_waste[found - 1]:
                    continue
                at, double = found, False
                while at > 0 and new_waste[at - 1] >= waste:
                    at -= 1
                    if new_place[at] == end and new_used[at] == after:
                        double = True
                        break
                if double:
                    continue
                found = min(found + 1, kept)
                for k in range(found - 1, at, -1):
                    new_place[k], new_used[k], new_waste[k] = new_place[k - 1], new_used[k - 1], new_waste[k - 1]
                    parent[step, k], chosen[step, k] = parent[step, k - 1], chosen[step, k - 1]
                new_place[at], new_used[at], new_waste[at] = end, after, waste
                parent[step, at], chosen[step, at] = one, group
        if found == 0:
            return -1
        for k in range(found):
            new_following[k] = following[parent[step, k]]
            new_following[k, chosen[step, k]] += 1
        for k in range(found):
            following[k] = new_following[k]
            place[k], used[k] = new_place[k], new_used[k]
        many = found
    for one in range(many):
        if place[one] == goal:
            return one
    return -1


#: Partial orders kept, and fewer where there are many groups: kept times groups of a zone is at most the second.
MOST_PARTIAL_ORDERS, MOST_CHOICES = 64, 512
#: Groups of nodes of a zone, in order of their size, that it is chosen from.
MOST_GROUPS = 64
#: Ways to begin (first place, first zone) that are tried at most, and steps in all.
MOST_BEGINNINGS, MOST_STEPS = 400, 1_000_000_000.0
#: Share of the distance to the bound that is too little to look for; the first limit is so much above the bound.
SMALLEST_STEP, FIRST_STEP = 1e-3, 0.01


class Beam:
    """Orders that follow a sequence of zones, turned so that another zone comes first; which of its nodes is free.

    *order*: (n,) nodes by number, clockwise, whose zones are kept.
    """

    def __init__(self, problem: RingProblem, classes: NodeClasses, order: IntArray) -> None:
        self.size = len(problem.load)
        self.sums = sums_around(problem.load)
        groups = list(_groups(problem, classes))
        self.nodes = np.concatenate([nodes for _, nodes in groups])
        self.begin = np.cumsum([0, *(len(nodes) for _, nodes in groups)])
        self.zone = np.array([zone for zone, _ in groups], dtype=np.int64)
        self.cpu = problem.cpu[self.nodes]
        number = np.empty(len(problem.nodes), dtype=np.int64)
        number[self.nodes] = np.repeat(self.zone, np.diff(self.begin))
        self.zones = number[order]
        busiest = int(np.bincount(self.zone).max())
        self.kept = max(min(MOST_PARTIAL_ORDERS, MOST_CHOICES // busiest), 1)
        steps = 8.0 * len(order) * (self.kept * busiest + len(groups))
        self.ways = int(min(max(MOST_STEPS / steps / 20.0, 2), MOST_BEGINNINGS))
        self.run = beam if pays_to_compile(steps * self.ways) else beam.plain
        shape = (len(order), self.kept)
        self.parent, self.chosen = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)

    def least(self, low: float, high: float, budget: Budget) -> BoundedOrder:
        """Return the best order found whose largest load by cpu is below *high*; ``bound`` is its load, no bound.

        Ends where one is as low as *low*.
        """
        low = max(low, float(self.sums[self.size]) / float(self.cpu.sum()))
        best, answer = high, BoundedOrder(np.empty(0, dtype=np.int64), -1, high)
        for start, turn in self._begins(budget):
            if budget.over() or best <= low * (1.0 + ROUNDING):
                break
            under, aim, found = self._first(start, turn, low, best, budget)
            while found is not None:
                best, answer = aim, BoundedOrder(found, start, aim)
                found = None
                while found is None and best - under > SMALLEST_STEP * best * 0.1 and not budget.over():
                    aim = 0.5 * (under + best)
                    found = self._order(start, turn, aim)
                    if found is None:
                        under = aim
        return answer

    def _first(
        self, start: int, turn: int, low: float, best: float, budget: Budget
    ) -> tuple[float, float, IntArray | None]:
        """Return a limit below *best* at which an order is found, one below at which none is, and the order.

        Limits grow from the bound: where one is too wide, nodes that come first take so much that those at the end get
        one position each, whether it fits or not.
        """
        under, aim = low, low * (1.0 + FIRST_STEP)
        while aim < best - FIRST_STEP * low and not budget.over():
            found = self._order(start, turn, aim)
            if found is not None:
                return under, aim, found
            under, aim = aim, low + 2.0 * (aim - low)
        aim = best - SMALLEST_STEP * (best - low)
        return under, aim, self._order(start, turn, aim)

    def _begins(self, budget: Budget) -> Iterator[tuple[int, int]]:
        places, turns = scattered(self.size, 0, self.size), scattered(len(self.zones), 0, len(self.zones))
        for k in range(budget.passes(self.ways)):
            yield int(places[k % len(places)]), int(turns[k % len(turns)])

    def _order(self, start: int, turn: int, limit: float) -> IntArray | None:
        """Return nodes by number whose arcs from *start* keep the limit, None if none are found."""
        zones = np.roll(self.zones, -turn)
        given = (self.sums, self.cpu, self.begin, self.zone, zones, start, limit, self.kept)
        one = int(self.run(*given, self.parent, self.chosen))
        if one < 0:
            return None
        sequence = np.empty(len(zones), dtype=np.int64)
        for step in range(len(zones) - 1, -1, -1):
            sequence[step] = self.chosen[step, one]
            one = int(self.parent[step, one])
        order = np.empty(len(zones), dtype=np.int64)
        order[np.argsort(sequence, kind="stable")] = self.nodes
        return order


def _groups(problem: RingProblem, classes: NodeClasses) -> Iterator[tuple[int, IntArray]]:
    """Yield the zone and the nodes of each class; of zones with too many, those of neighbouring sizes together."""
    for zone in range(classes.zones):
        own = np.flatnonzero(classes.zone == zone)
        if len(own) <= MOST_GROUPS:
            yield from ((zone, classes.members[group]) for group in own)
            continue
        nodes = np.concatenate([classes.members[group] for group in own])
        nodes = nodes[np.argsort(problem.cpu[nodes], kind="stable")]
        yield from ((zone, part) for part in np.array_split(nodes, MOST_GROUPS))
