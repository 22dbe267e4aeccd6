"""Windows of neighbours on a ring: how many have a zone twice, and how few zones the worst has.

Where a zone is too large for each window, swaps of two nodes improve an order (:func:`improved_by_swaps`), and a
program for CP-SAT finds one of few nodes with the fewest crowded windows (:func:`least_crowded`). Of a ring in place
:func:`less_crowded` moves few nodes.
"""

from __future__ import annotations

from math import ceil
from random import Random
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.problem import RingProblem, ZoneCost
from ftplan.planners.solver import solve_sat

#: Places of windows that are looked at in all, and swaps of each node without a gain after which it ends.
MOST_WINDOW_PLACES, IDLE_SWAPS_PER_NODE = 2_000_000, 20
#: Swaps between two looks at the clock.
SWAPS_PER_CLOCK_CHECK = 64


def improved_by_swaps(order: IntArray, width: int, bound: int, seed: int, budget: Budget, risky: BoolArray) -> IntArray:
    """Return the order (n,) after swaps of nodes that make it no worse, until nothing is left to gain.

    Judged by :func:`crowded`, so that what no zone destroys stays so. Random by *seed*; cost O(n width) each, at
    most MOST_WINDOW_PLACES in all, and fewer by the budget's iterations.
    """
    total, random = len(order), Random(seed)
    best, value = order.copy(), crowded(order, width, risky)
    rounds = budget.passes(max(MOST_WINDOW_PLACES // max(total * width, 1), 20 * SWAPS_PER_CLOCK_CHECK))
    varied, gained = min(width - 1, len(np.unique(order))), 0
    for number in range(rounds):
        if (value[1] <= bound and value[2] <= -varied) or number > gained + IDLE_SWAPS_PER_NODE * total:
            break
        if number % SWAPS_PER_CLOCK_CHECK == 0 and budget.over():
            break
        first, second = random.randrange(total), random.randrange(total)
        if best[first] == best[second]:
            continue
        best[[first, second]] = best[[second, first]]
        now = crowded(best, width, risky)
        if now <= value:
            value, gained = now, number if now < value else gained
        else:
            best[[first, second]] = best[[second, first]]
    return np.asarray(best)


#: Deterministic seconds of the solver.
SOLVER_SECONDS = 10.0


class CrowdedOrder(NamedTuple):
    """An order of zones (n,), and a number of windows with a zone twice that no order goes below."""

    order: IntArray
    bound: int


def least_crowded(
    sizes: IntArray, width: int, start: IntArray, bound: int, seed: int, budget: Budget, risky: BoolArray
) -> CrowdedOrder:
    """Return an order with the fewest windows that have a zone twice, and none within a risky zone, by CP-SAT.

    *sizes*, *risky*: (Z,) nodes of each zone, and whether no window may lie within it. *start*: (n,) such an order to
    begin with. *bound*: no order has fewer such windows.

    Guarantee: optimal where ``bound`` equals what the order has. Cost exponential.
    """
    if crowded(start, width, risky)[1] <= bound or budget.over():
        return CrowdedOrder(start, bound)
    from ortools.sat.python import cp_model

    total, zones = len(start), np.flatnonzero(sizes).tolist()
    largest = max(zones, key=lambda zone: int(sizes[zone]))
    start = np.roll(start, -int(np.flatnonzero(start == largest)[0]))
    model = cp_model.CpModel()
    at = {(place, zone): model.new_bool_var("") for place in range(total) for zone in zones}
    for place in range(total):
        model.add_exactly_one(at[place, zone] for zone in zones)
    for zone in zones:
        model.add(sum(at[place, zone] for place in range(total)) == int(sizes[zone]))
    model.add(at[0, largest] == 1)
    good = [model.new_bool_var("") for _ in range(total)]
    for first in range(total):
        for zone in zones:
            inside = sum(at[(first + k) % total, zone] for k in range(width))
            if risky[zone]:
                model.add(inside < width)
            model.add(inside <= 1).only_enforce_if(good[first])
    few = total - sum(good)
    model.add(few >= bound)
    model.minimize(few)
    distinct = distinct_in_windows(start, width)
    for (place, zone), variable in at.items():
        model.add_hint(variable, bool(start[place] == zone))
    for first in range(total):
        model.add_hint(good[first], bool(distinct[first] == width))
    found = solve_sat(model, budget, seed, work_s=SOLVER_SECONDS)
    if found.found:
        order = np.array([zone for _, zone in found.chosen(at)], dtype=np.int64)
        start = min(start, order, key=lambda one: crowded(one, width, risky))
    return CrowdedOrder(start, bound if found.bound is None else max(bound, found.bound))


#: Places on either side to which a node is moved.
MOST_PLACES_MOVED = 24


def less_crowded(problem: RingProblem, order: IntArray, enough: ZoneCost, budget: Budget) -> IntArray:
    """Return the order after moves of one node at a time, each of which lowers what zones cost it most.

    Of moves that save as much the shortest is made, that of the first node in the order. Ends where zones cost at most
    *enough*, or no move saves anything. Good, not proven. Cost O(n walk MOST_PLACES_MOVED) windows a move.
    """
    order = order.copy()
    while not budget.over() and cost_of_order(problem, order) > enough:
        better = _best_move(problem, order)
        if better is None:
            break
        order = better
    return order


def _weight(problem: RingProblem, order: IntArray) -> int:
    """Return what zones cost an order as one number: a loss counts more than any number of violations."""
    cost = cost_of_order(problem, order)
    return cost.losses * (len(order) + 1) + cost.violations


def _best_move(problem: RingProblem, order: IntArray) -> IntArray | None:
    """Return the order after the best move of a node in the first crowded window that can be improved on."""
    n, walk, now = len(order), problem.width, _weight(problem, order)
    for window in np.flatnonzero(distinct_in_windows(problem.zone[order], walk) < walk).tolist():
        best: tuple[int, int, IntArray] | None = None
        for slot in ((window + np.arange(walk)) % n).tolist():
            turned = np.roll(order, MOST_PLACES_MOVED - slot)  # so that moves near it do not wrap
            for step in range(max(-MOST_PLACES_MOVED, -(n - 1) // 2), min(MOST_PLACES_MOVED, n // 2) + 1):
                if step == 0:
                    continue
                moved = _moved(
                    turned, min(MOST_PLACES_MOVED, n - 1) if n > MOST_PLACES_MOVED else MOST_PLACES_MOVED % n, step
                )
                saved = now - _weight(problem, moved)
                if saved > 0 and (best is None or (saved, -abs(step)) > best[:2]):
                    best = (saved, -abs(step), moved)
        best = best or _best_guest(problem, order, window, now)
        if best is not None:
            return best[2]
    return None


def _best_guest(problem: RingProblem, order: IntArray, window: int, now: int) -> tuple[int, int, IntArray] | None:
    """Return the order after the best move of a node from anywhere into a window, with what it saves; None without."""
    best: tuple[int, int, IntArray] | None = None
    n, walk = len(order), problem.width
    for gap in range(1, walk):
        turned = np.roll(order, -((window + gap) % n))  # the gap is before the first
        for at in range(n - walk + 1):
            moved = np.concatenate([turned[at : at + 1], turned[:at], turned[at + 1 :]])
            saved = now - _weight(problem, moved)
            if saved > 0 and (best is None or saved > best[0]):
                best = saved, -at, moved
    return best


def _moved(order: IntArray, at: int, step: int) -> IntArray:
    rest = np.delete(order, at)
    return np.insert(rest, (at + step) % len(order), order[at])


def distinct_in_windows(order: IntArray, width: int) -> IntArray:
    """Return how many zones there are among each *width* neighbours of a circle of zones (n,), (n,)."""
    if width <= 0:
        return np.zeros(len(order), dtype=np.int64)
    at = (np.arange(len(order))[:, None] + np.arange(width)) % len(order)
    seen = np.sort(order[at], axis=1)
    return np.asarray(1 + (seen[:, 1:] != seen[:, :-1]).sum(axis=1), dtype=np.int64)


def crowded(order: IntArray, width: int, risky: BoolArray) -> tuple[int, int, int]:
    """Return windows within a risky zone, those with a zone twice, and zones in the worst, negative: less is better.

    Lexicographic, as the order of a ring is judged. *risky*: (Z,) zones whose loss destroys a window within them.
    """
    distinct = distinct_in_windows(order, width)
    within = (distinct == 1) & risky[order]
    return int(within.sum()), int((distinct < width).sum()), -int(distinct.min())


def cost_of_order(problem: RingProblem, order: IntArray) -> ZoneCost:
    """Return what zones cost any ring of one token a node with this order of nodes (n,), the tier's copies apart."""
    return ZoneCost(*crowded(problem.zone[order], problem.width, problem.risky)[:2])


def fewest_crowded(sizes: IntArray, width: int) -> int:
    """Return a number of windows with a zone twice that no order of zones of these sizes (Z,) goes below.

    0 exactly where none is needed, and exact for pairs. The largest of three bounds:

    - one zone alone: m of n nodes are e = m width - n too many, and e windows have two of them, or, where e is large,
      the excess stands in one run: width - 2 + ceil(e / (width - 1)), at most n;
    - all zones: each of G other windows has *width* zones, and a zone with m nodes is in at most min(G, m width) of
      them;
    - fewer zones than *width*: all windows.

    Cost O(Z log n).
    """
    total = int(sizes.sum())
    if width <= 1 or total == 0:
        return 0
    largest = int(sizes.max())
    bound = _of_one_zone(total, largest, width)
    low, high = 0, total  # G = low can be; the condition is monotone since each min(G, m width) / G falls
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(middle, sizes * width).sum()) >= width * middle:
            low = middle
        else:
            high = middle - 1
    return max(bound, total - low)


def _of_one_zone(total: int, largest: int, width: int) -> int:
    excess = largest * width - total
    if excess <= 0:
        return 0
    return min(total, excess, width - 2 + ceil(excess / (width - 1)))
