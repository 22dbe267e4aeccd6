"""The order of nodes on a ring with the fewest arcs that one zone destroys, then the fewest with a zone twice.

Where no zone is too large it is constructed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders.windows import (
    cost_of_order,
    crowded,
    fewest_crowded,
    improved_by_swaps,
    least_crowded,
)
from ftplan.planners.peer_ring.problem import RingProblem, ZoneCost


def is_possible(sizes: IntArray, width: int) -> bool:
    """Return whether each *width* neighbours can lie in zones of their own: no zone has more than floor(n / width)."""
    return width <= 1 or int(sizes.max()) <= int(sizes.sum()) // width


def spaced_order(sizes: IntArray, width: int) -> IntArray:
    """Return an order of zones (n,) with no zone twice among *width* neighbours, for sizes (Z,) where that is possible.

    The circle is cut into q = floor(n / width) blocks, the first n mod q of them one longer. Zones, the largest first,
    are dealt into place 1 of all blocks, then place 2 and so on, at last the extra place of the long blocks. A zone of
    q nodes fills a whole column; a smaller one that wraps leaves at least one whole block between its nodes. Cost
    O(n + Z log Z).
    """
    total = int(sizes.sum())
    blocks = max(total // max(width, 1), 1)
    length, longer = divmod(total, blocks)
    by_size = np.repeat(*_largest_first(sizes))
    places = np.full((length + 1, blocks), -1, dtype=np.int64)
    places[:length] = by_size[: length * blocks].reshape(length, blocks)
    places[length, :longer] = by_size[length * blocks :]
    order = places.T.ravel()
    return order[order >= 0]


def paired_order(sizes: IntArray) -> IntArray:
    """Return an order (n,) with the fewest equal neighbours where the largest zone has more than floor(n / 2) nodes.

    Every other node stands between two of the largest zone, whose runs differ by one at most: 2 m - n neighbours are
    equal, and fewer cannot be. Cost O(n).
    """
    ordered, counts = _largest_first(sizes)
    rest = np.repeat(ordered[1:], counts[1:])
    if rest.size == 0:
        return np.full(int(counts[0]), ordered[0], dtype=np.int64)
    runs = np.diff(np.arange(len(rest) + 1) * int(counts[0]) // len(rest))
    order = list[int]()
    for run, other in zip(runs.tolist(), rest.tolist(), strict=True):
        order += [int(ordered[0])] * run + [other]
    return np.array(order, dtype=np.int64)


def order_with_excess(sizes: IntArray, width: int) -> IntArray:
    """Return an order (n,) of zones of which some are too large: the others spread, the excess in runs beside its own.

    As many nodes as possible are dealt without a zone twice among *width* neighbours; what is left of a large zone
    stands in one run beside one of its nodes. Cost O(n Z).
    """
    spread = _spread(sizes, width)
    left = sizes - spread
    order = spaced_order(spread, width).tolist() if int(spread.sum()) else []
    for zone in np.flatnonzero(left).tolist():
        at = order.index(zone) if zone in order else len(order)
        order[at:at] = [zone] * int(left[zone])
    return np.array(order, dtype=np.int64)


def _spread(sizes: IntArray, width: int) -> IntArray:
    """Return how many nodes of each zone can stand without a zone twice among *width*: most in all, none if none."""
    for blocks in range(int(sizes.sum()) // width, 0, -1):
        spread = np.minimum(sizes, blocks)
        if int(spread.sum()) >= width * blocks:
            return np.asarray(spread)
    return np.zeros_like(sizes)


def _largest_first(sizes: IntArray) -> tuple[IntArray, IntArray]:
    ordered = np.argsort(-sizes, kind="stable")
    return ordered, sizes[ordered]


#: Nodes up to which the solver is asked where the construction is not proven best.
MOST_SOLVED_NODES = 60


class ZoneOrder(NamedTuple):
    """Nodes by number in clockwise order (n,), what zones cost it, and violations that none as safe goes below."""

    order: IntArray
    zones: ZoneCost
    bound: int


def zone_order(problem: RingProblem, seed: int, budget: Budget) -> ZoneOrder:
    """Return the order of the members that :func:`zones_in_order` has, nodes of a zone in order of their ids."""
    member = problem.member
    zones, at = np.unique(problem.zone[member], return_inverse=True)
    sizes, width = np.bincount(at, minlength=len(zones)), problem.width
    if problem.tier.any() and (width == 1 or is_possible(sizes, width + 1)):
        sequence, bound = apart_without_tier(sizes, width), 0
    else:
        sequence, bound = zones_in_order(sizes, width, seed, budget, problem.risky[zones])
    order = np.empty(len(member), dtype=np.int64)
    for zone in range(len(zones)):
        order[np.flatnonzero(sequence == zone)] = member[at == zone]
    return ZoneOrder(order, cost_of_order(problem, order), max(bound, _beside_tier(problem, width)))


def _beside_tier(problem: RingProblem, width: int) -> int:
    """Return how many arcs any order has with the last copy in a zone of the others, where the tier is in one zone.

    Its k members are in at least k + width - 1 windows, as many as if they stand together.
    """
    zones = np.unique(problem.zone[problem.tier])
    beside = int((problem.zone[problem.member] == zones[0]).sum()) if len(zones) == 1 else 0
    return min(beside + width - 1, len(problem.member)) if beside else 0


def apart_without_tier(sizes: IntArray, width: int) -> IntArray:
    """Return an order without violations in which the next node is in another zone too, where it can be.

    Copies that lie there once the tier is given up, or that are looked at for comparison, are apart as well.
    """
    return spaced_order(sizes, width + 1) if is_possible(sizes, width + 1) else paired_order(sizes)


def zones_in_order(sizes: IntArray, width: int, seed: int, budget: Budget, risky: BoolArray) -> tuple[IntArray, int]:
    """Return an order of zones of these sizes (Z,), (n,), and a number of windows with a zone twice that none is below.

    A window is *width* neighbours on the circle. The fewest windows lie within a *risky* zone (Z,), proven; the bound
    is of orders with as few. No window has a zone twice where that is possible, which is exactly where no zone has more
    than floor(n / width) nodes; for pairs there is a construction of the fewest too. Where some have to lie within one
    zone, every window has a zone twice. Else the excess is put together, or all are put apart, swaps improve on it
    (fewest such windows, then most zones in the worst of them), and CP-SAT on their number where nothing is proven for
    up to MOST_SOLVED_NODES.

    Guarantee: optimal where the bound is reached. Cost O(n + Z log Z), except in the last case.
    """
    if is_possible(sizes, width):
        return spaced_order(sizes, width), 0
    bound = fewest_crowded(sizes, width)
    if width == 2:
        return paired_order(sizes), bound
    apart = (
        spaced_order(sizes, 2) if is_possible(sizes, 2) else paired_order(sizes)
    )  # no window within a zone if can be
    if crowded(apart, width, risky)[0] > 0:
        return apart, int(sizes.sum())
    largest = int(sizes[risky].max(initial=0))  # at most width - 1 of it are in a window
    bound = max(bound, -(-(largest * width - int(sizes.sum())) // (width - 2)))
    tried = (order_with_excess(sizes, width), spaced_order(sizes, width), apart)
    order = min(tried, key=lambda found: crowded(found, width, risky))
    order = improved_by_swaps(order, width, bound, seed, budget, risky)
    if len(order) > MOST_SOLVED_NODES or np.count_nonzero(sizes) < 2:
        return order, bound
    return least_crowded(sizes, width, order, bound, seed, budget, risky)
