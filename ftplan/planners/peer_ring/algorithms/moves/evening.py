"""The most even cuts of an order that are as good otherwise: dynamic programming over all cuts from each start.

Last of all levels: rings with the same largest load, and the same bytes that travel, differ in how even the rest is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.peer_ring.algorithms.moves.cuts import RingChange
from ftplan.planners.peer_ring.algorithms.partition import sums_around
from ftplan.planners.peer_ring.problem import RingProblem

#: Pairs of places that are looked at in all: of many orders and starts, only those that come first.
MOST_PAIRS = 40_000_000


class EvenCuts(NamedTuple):
    """Nodes in clockwise order and the first position of each, (n,)."""

    order: IntArray
    first: IntArray


def unevenness(problem: RingProblem, order: IntArray, first: IntArray) -> float:
    """Return the sum of squared loads over cpu: least where every node has its fair share."""
    sums = sums_around(problem.load)
    arcs = sums[_ends(first, len(problem.load))] - sums[first]
    return float((arcs**2 / problem.cpu[order]).sum())


def _ends(first: IntArray, size: int) -> IntArray:
    """Return where the arcs that begin at some positions end, (n,), as places over two turns."""
    return first + (np.roll(first, -1) - first - 1) % size + 1


def evened(
    problem: RingProblem, found: EvenCuts, load: float, orders: Sequence[IntArray], change: RingChange | None = None
) -> EvenCuts:
    """Return the least uneven cuts of some orders within a largest *load* over the fair share and the bytes of *found*.

    *change*: the ring in place, whose bytes may not grow; None without one. The order of *found* is looked at first;
    there the start is also turned to the other nodes, so that with too little room for all starts each cut still moves.

    Guarantee: the least of these orders where all their starts are within MOST_PAIRS. Cost O(n M^2) a start.
    """
    size, nodes = len(problem.load), len(found.order)
    best, value = found, unevenness(problem, *found)
    if nodes * size**2 > MOST_PAIRS or nodes < 2 or not problem.load.any():
        return best
    left, others = MOST_PAIRS // (nodes * size**2), list(range(size))
    least = None if change is None else _Cuts(problem, found.order, load, change).bytes(found.first)
    for order in (found.order, *orders):
        cuts = _Cuts(problem, order, load, change)
        starts = others if left >= size else [int(found.first[k]) for k in range(min(left, nodes))]
        if order is not found.order and left < size:
            break
        for start in starts:
            first = cuts.least(start, least)
            if first is not None and (uneven := unevenness(problem, order, first)) < value * (1.0 - ROUNDING):
                best, value = EvenCuts(order, first), uneven
        left -= len(starts)
    return best


class _Cuts:
    """What arcs of each slot of an order weigh and cost, as sums over two turns."""

    def __init__(self, problem: RingProblem, order: IntArray, load: float, change: RingChange | None) -> None:
        self.size, self.cpu = len(problem.load), problem.cpu[order]
        self.sums = sums_around(problem.load)
        self.limit = load * problem.fair[order] * (1.0 + ROUNDING)
        self.bytes_to = np.zeros((len(order), 2 * self.size + 1))
        if change is not None:
            self.limit = change.limits(order, load)
            walked = (np.arange(len(order))[:, None] + np.arange(change.walk)) % len(order)
            for slot, nodes in enumerate(order[walked]):
                held = (change.held[:, :, None] == nodes).any(axis=1).sum(axis=1)
                self.bytes_to[slot] = sums_around(problem.worth * (change.walk - held))

    def bytes(self, first: IntArray) -> float:
        """Return what travels for cuts, (n,)."""
        slots, ends = np.arange(len(first)), _ends(first, self.size)
        return float((self.bytes_to[slots, ends] - self.bytes_to[slots, first]).sum())

    def least(self, start: int, most: float | None) -> IntArray | None:
        """Return the least uneven cuts from a start within the limits and at most so many bytes; None without."""
        nodes, places = len(self.limit), self.size + 1
        at = start + np.arange(places)
        loads = self.sums[at][None, :] - self.sums[at][:, None]
        ahead = np.triu(np.ones((places, places), dtype=np.bool_), 1)
        cost, uneven = np.full(places, np.inf), np.zeros(places)
        cost[0] = 0.0
        came = np.zeros((nodes, places), dtype=np.int64)
        noise = NOISE * max(float(self.bytes_to[:, self.size].max()), 1.0)
        for slot in range(nodes):
            bytes_to = self.bytes_to[slot, at]
            total = cost[:, None] + np.where(ahead & (loads <= self.limit[slot]), bytes_to - bytes_to[:, None], np.inf)
            cost = total.min(axis=0)
            sums = np.where(total <= cost + noise, uneven[:, None] + loads**2 / self.cpu[slot], np.inf)
            came[slot] = sums.argmin(axis=0)
            uneven = np.where(np.isfinite(cost), sums.min(axis=0), np.inf)
        if not np.isfinite(cost[-1]) or (most is not None and cost[-1] > most * (1.0 + ROUNDING) + noise):
            return None
        first, place = np.empty(nodes, dtype=np.int64), self.size
        for slot in range(nodes - 1, -1, -1):
            place = int(came[slot, place])
            first[slot] = (start + place) % self.size
        return first
