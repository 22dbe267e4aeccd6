"""The order of nodes on a ring with the fewest arcs of which two holders lie in one zone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders.crowded_model import least_crowded
from ftplan.planners.peer_ring.algorithms.orders.crowded_search import swapped
from ftplan.planners.peer_ring.algorithms.orders.dealt import dealt, paired, possible, with_excess
from ftplan.planners.peer_ring.algorithms.orders.windows import crowded, fewest_crowded
from ftplan.planners.peer_ring.problem import RingProblem

#: Nodes up to which the solver is asked where the construction is not proven best.
SOLVED = 60


class ZoneOrder(NamedTuple):
    """Nodes by number in clockwise order (n,), arcs with two holders in one zone, and a number no order goes below."""

    order: IntArray
    violations: int
    bound: int


def width_of(problem: RingProblem) -> int:
    """Return how many neighbours hold an arc: r + 1, one less where the last copy is on a node of the tier."""
    return problem.replication + (0 if problem.tier.any() else 1)


def zone_order(problem: RingProblem, seed: int, budget: Budget) -> ZoneOrder:
    """Return the order of the members that :func:`zones_in_order` has, nodes of a zone in order of their ids."""
    member = problem.member
    zones, at = np.unique(problem.zone[member], return_inverse=True)
    sizes, width = np.bincount(at, minlength=len(zones)), width_of(problem)
    if problem.tier.any() and (width == 1 or possible(sizes, width + 1)):
        sequence, bound = apart_without_tier(sizes, width), 0
    else:
        sequence, bound = zones_in_order(sizes, width, seed, budget)
    order = np.empty(len(member), dtype=np.int64)
    for zone in range(len(zones)):
        order[np.flatnonzero(sequence == zone)] = member[at == zone]
    return ZoneOrder(order, crowded(sequence, width)[0], max(bound, _beside_tier(problem, width)))


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
    return dealt(sizes, width + 1) if possible(sizes, width + 1) else paired(sizes)


def zones_in_order(sizes: IntArray, width: int, seed: int, budget: Budget) -> tuple[IntArray, int]:
    """Return an order of zones of these sizes (Z,), (n,), and a number of windows with a zone twice that none is below.

    A window is *width* neighbours on the circle. No window has a zone twice where that is possible, which is exactly
    where no zone has more than floor(n / width) nodes; for pairs there is a construction of the fewest too. Else the
    excess is put together, swaps improve on it, and CP-SAT does where nothing is proven for up to SOLVED nodes: fewest
    such windows, then most zones in the worst of them.

    Guarantee: optimal where the bound is reached. Cost O(n + Z log Z), except in the last case.
    """
    if possible(sizes, width):
        return dealt(sizes, width), 0
    bound = fewest_crowded(sizes, width)
    if width == 2:
        return paired(sizes), bound
    order = min((with_excess(sizes, width), dealt(sizes, width)), key=lambda found: crowded(found, width))
    order = swapped(order, width, bound, seed, budget)
    if len(order) > SOLVED or np.count_nonzero(sizes) < 2:
        return order, bound
    return least_crowded(sizes, width, order, bound, seed, budget)
