"""Why no ring follows the one in place, and the smallest change that lets one."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, floor, log10

import numpy as np

from ftplan.model.plan import Infeasible
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.moves.cuts import least_bytes
from ftplan.planners.peer_ring.algorithms.moves.levels import ANY_COST, RatedOrder
from ftplan.planners.peer_ring.algorithms.moves.ring_change import RingChange
from ftplan.planners.peer_ring.algorithms.partition import ring_of
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.rules import CAPACITY, MOST_BYTES

#: Digits of the overload that is named.
OVERLOAD_DIGITS = 4


def explain_infeasible(change: RingChange, orders: list[RatedOrder], budget: Budget) -> Infeasible:
    """Return which limit no ring of these orders keeps: room of the nodes that stay, or the bytes that may travel."""
    least, ring = fewest_bytes(change, orders, budget)
    if ring is None:
        return _room(change, orders, budget)
    least = max(least, change.bytes(tiered(change.problem, ring)))
    most = change.problem.max_bytes or 0.0
    return Infeasible(
        f"{least:.6g} bytes travel at least, and {most:.6g} may",
        MOST_BYTES,
        most,
        least,
        f"--max-bytes {ceil(least)}",
    )


def fewest_bytes(change: RingChange, orders: list[RatedOrder], budget: Budget) -> tuple[float, Ring | None]:
    """Return the fewest bytes that travel to a ring of these orders, whatever its load, and the ring; none without."""
    least, ring = np.inf, None
    for one in orders:
        found = least_bytes(change, one.order, np.inf, budget, change.lacking, least)
        if found.first is not None and found.cost < least:
            least, ring = found.cost, ring_of(change.problem, one.order, found.first)
        if least <= change.lacking:
            break
    return least, ring


def _room(change: RingChange, orders: list[RatedOrder], budget: Budget) -> Infeasible:
    problem = change.problem
    needed = np.inf
    for one in orders:
        if budget.over():
            break
        if _fits(change, one.order, needed * (1.0 - 10.0**-OVERLOAD_DIGITS)):
            needed = _least_overload(change, one.order, needed, budget)
    leaves = ", ".join(f"node:{problem.nodes[k]}" for k in np.flatnonzero(problem.removed).tolist())
    return Infeasible(
        f"the nodes that stay cannot take the load of those that leave within {problem.overload:g} of their capacity",
        CAPACITY,
        problem.overload,
        needed,
        f"--overload {needed:g}, or let fewer of {leaves} leave",
    )


def _least_overload(change: RingChange, order: IntArray, high: float, budget: Budget) -> float:
    """Return about the least overload at which some cuts fit, rounded up so that they do."""
    low = change.problem.overload
    high = min(high, 1e6 * max(low, 1.0))
    while high > low * (1.0 + 0.1 * 10.0**-OVERLOAD_DIGITS) and not budget.over():
        middle = (low * high) ** 0.5
        low, high = (low, middle) if _fits(change, order, middle) else (middle, high)
    scale = 10.0 ** (OVERLOAD_DIGITS - 1 - floor(log10(high)))
    return ceil(high * scale) / scale


def _fits(change: RingChange, order: IntArray, overload: float) -> bool:
    eased = RingChange(replace(change.problem, overload=min(overload, 1e300)), capped=True)
    return least_bytes(eased, order, np.inf, Budget(np.inf), ANY_COST).first is not None
