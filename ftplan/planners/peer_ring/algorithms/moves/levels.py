"""The best ring of a few orders: least cost by zones, least largest load, fewest bytes, then least uneven.

Where none follows the one in place: why, and the smallest change that lets one (:func:`explain_infeasible`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np

from ftplan.model.plan import Infeasible
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.moves.cuts import MOST_STEPS, CutEffort, RingChange, floor_bytes, least_bytes
from ftplan.planners.peer_ring.algorithms.moves.evening import EvenCuts, evened
from ftplan.planners.peer_ring.algorithms.orders.windows import cost_of_order
from ftplan.planners.peer_ring.algorithms.partition import ring_of
from ftplan.planners.peer_ring.algorithms.tiers import tiered
from ftplan.planners.peer_ring.problem import ZoneCost
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


#: Any cuts are wanted, whatever they cost.
ANY_COST = 1e300
#: Steps of a bisection for the least largest load: it ends before, since loads are finitely many.
MOST_BISECTIONS = 60
#: Places of cuts that are looked at for fewest bytes in the best of some orders; in the k-th best a k-th of them.
MOST_STEPS_OF_BEST = 60_000_000
#: Nodes times positions up to which cuts of the best order are made more even after bytes, where it is one of many.
MOST_TIGHTENED_PLACES = 200_000
#: Loads that lie closer together, by their size, are one: limits are kept within rounding.
SAME_LOAD = 4.0 * ROUNDING


class RatedOrder(NamedTuple):
    """A circular order of the members, and what zones cost it."""

    order: IntArray
    zones: ZoneCost


class RatedRing(NamedTuple):
    """A ring with its levels.

    ``load_bound`` and ``bytes_bound`` hold for the orders that were looked at, with as few violations.
    """

    order: IntArray
    first: IntArray
    ring: Ring
    zones: ZoneCost
    load: float
    bytes: float
    load_bound: float
    bytes_bound: float


class LevelLimits(NamedTuple):
    """What is good enough in load, what may travel, and what no ring goes below in largest load.

    ``every`` says that the orders are all there are, so that what is proven of each is of use.
    """

    target: float = 0.0
    max_bytes: float = np.inf
    least_load: float = 0.0
    every: bool = True


def orders_of(change: RingChange, found: Iterable[IntArray]) -> list[RatedOrder]:
    """Return each circular order once, as it begins with its first node, those that cost least by zones first."""
    seen = dict[tuple[int, ...], None]()
    for order in found:
        turned = np.roll(order, -int(np.argmin(order)))
        seen.setdefault(tuple(turned.tolist()))
    made = [np.array(order, dtype=np.int64) for order in seen]
    return sorted(
        (RatedOrder(order, cost_of_order(change.problem, order)) for order in made), key=lambda one: one.zones
    )


def best_of(change: RingChange, orders: list[RatedOrder], wanted: LevelLimits, budget: Budget) -> RatedRing | None:
    """Return the best ring of these orders, None where none of them keeps within room and bytes.

    Exact for the orders while the budget lasts: more bytes, or a higher target, are never worse. Each level's search is
    pruned by what is known: cost is one pass of least_bytes an order, and a bisection whenever one is better.
    """
    for zones in sorted({one.zones for one in orders}):
        group = [one.order for one in orders if one.zones == zones]
        load, bound, order = least_load_of_orders(change, group, wanted, budget)
        if order is not None:
            found = _fewest_bytes(change, group, order, (zones, load, bound), wanted, budget)
            return _evened(change, group, _least_load_after_bytes(change, group, found, wanted, budget))
    return None


def _least_load_after_bytes(
    change: RingChange, group: list[IntArray], found: RatedRing, wanted: LevelLimits, budget: Budget
) -> RatedRing:
    """Return the ring of the least largest load that moves as few bytes, where more load than the least was allowed.

    Its load's bound is of rings with as few bytes. Of too many nodes to look at all orders, that of *found* is.
    """
    if found.load <= wanted.least_load * (1.0 + ROUNDING) or wanted.target <= found.load_bound * (1.0 + ROUNDING):
        return found
    if not wanted.every:
        if len(found.order) * len(change.problem.position) > MOST_TIGHTENED_PLACES:
            return found
        group = [found.order]
    tight = LevelLimits(0.0, found.bytes, wanted.least_load, wanted.every)
    load, bound, order = least_load_of_orders(change, group, tight, budget)
    if order is None or budget.over():
        return found
    after = _fewest_bytes(change, group, order, (found.zones, load, bound), tight, budget)
    after = min(found, after, key=lambda one: (one.bytes > found.bytes * (1.0 + ROUNDING) + ROUNDING, one.load))
    bound = bound if found.bytes <= found.bytes_bound * (1.0 + ROUNDING) else found.load_bound
    return after._replace(load_bound=min(bound, after.load), bytes_bound=found.bytes_bound)


def _evened(change: RingChange, group: list[IntArray], found: RatedRing) -> RatedRing:
    """Return the least uneven ring of these orders that is as good."""
    best = evened(change.problem, EvenCuts(found.order, found.first), found.load, group, change)
    return found._replace(order=best.order, first=best.first, ring=ring_of(change.problem, *best))


def least_load_of_orders(
    change: RingChange, group: list[IntArray], wanted: LevelLimits, budget: Budget
) -> tuple[float, float, IntArray | None]:
    """Return the least largest load of the orders within the bytes allowed, its bound, and an order that reaches it."""
    best, proven, by = np.inf, np.inf, None
    for order in group:
        below = best * (1.0 - SAME_LOAD)
        if best <= wanted.least_load * (1.0 + ROUNDING):
            break
        found = _within(change, order, below, wanted.max_bytes, budget)
        if found is not None:
            best, bound = _bisected(change, order, found, wanted, budget)
            proven, by = min(proven, bound), order
    if budget.over():
        proven = wanted.least_load
    return best, min(max(proven, wanted.least_load), best), by


def _bisected(
    change: RingChange, order: IntArray, high: float, wanted: LevelLimits, budget: Budget
) -> tuple[float, float]:
    low = wanted.least_load
    found = _within(change, order, low, wanted.max_bytes, budget) if low > 0.0 else None
    if found is not None:
        return min(found, high), min(found, high)
    for _ in range(MOST_BISECTIONS):
        if high - low <= SAME_LOAD * high:
            return high, high
        if budget.over():
            break
        middle = (low + high) / 2.0
        found = _within(change, order, middle, wanted.max_bytes, budget)
        low, high = (middle, high) if found is None else (low, min(found, high))
    return high, low


def _within(change: RingChange, order: IntArray, load: float, most: float, budget: Budget) -> float | None:
    """Return the largest load of a ring within so much load and so many bytes, None without one."""
    enough, limit = (ANY_COST, np.inf) if np.isinf(most) else (most, most * (1.0 + ROUNDING) + ROUNDING)
    found = least_bytes(change, order, load, budget, enough, limit, CutEffort(np.inf, np.inf))
    if found.first is None:
        return None
    return change.problem.largest_load(ring_of(change.problem, order, found.first))


def _fewest_bytes(
    change: RingChange,
    group: list[IntArray],
    reached: IntArray,
    levels: tuple[ZoneCost, float, float],
    wanted: LevelLimits,
    budget: Budget,
) -> RatedRing:
    zones, load, load_bound = levels
    allowed = max(load, wanted.target)
    cost, bound, by, first = np.inf, np.inf, reached, None
    for rank, (least, order) in enumerate(_promising(change, group, allowed, budget)):
        if cost <= max(least, change.lacking):
            bound = min(bound, cost)
            break
        steps = MOST_STEPS if wanted.every else MOST_STEPS_OF_BEST / (rank + 1)
        found = least_bytes(change, order, allowed, budget, change.lacking, cost, CutEffort(steps=steps))
        bound = min(bound, found.bound)
        if found.first is not None and found.cost < cost:
            cost, by, first = found.cost, order, found.first
    if first is None:  # the clock ran out before any cuts were found: those that were meant
        first = least_bytes(change, reached, allowed, Budget(np.inf), ANY_COST).first
        assert first is not None
    ring = ring_of(change.problem, by, first)
    least = max(change.lacking, min(bound, cost))
    actual = change.problem.largest_load(ring)
    return RatedRing(by, first, ring, zones, actual, cost, load_bound, least)


def _promising(change: RingChange, group: list[IntArray], load: float, budget: Budget) -> list[tuple[float, IntArray]]:
    """Return orders with bytes that none of their cuts go below, those first that may be cheapest."""
    if len(group) == 1:
        return [(0.0, group[0])]
    floors = [0.0 if budget.over() else floor_bytes(change, order, load) for order in group]
    return [(floors[k], group[k]) for k in sorted(range(len(group)), key=lambda k: (floors[k], k))]
