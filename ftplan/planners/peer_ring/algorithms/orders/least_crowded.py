"""The least crowded order of zones, where a zone is too large for each window.

Swaps of two nodes improve an order; a program for CP-SAT finds the one of few nodes with the fewest crowded windows.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders.windows import crowded, distinct_in_windows
from ftplan.planners.solver import solve_sat

#: Places of windows that are looked at in all, and swaps of each node without a gain after which it ends.
MOST_WINDOW_PLACES, IDLE_SWAPS_PER_NODE = 2_000_000, 20
#: Swaps between two looks at the clock.
SWAPS_PER_CLOCK_CHECK = 64


def improved_by_swaps(order: IntArray, width: int, bound: int, seed: int, budget: Budget) -> IntArray:
    """Return the order (n,) after swaps of nodes that make it no worse, until nothing is left to gain.

    Judged by windows with a zone twice, then by zones in the worst window. Random by *seed*; cost O(n width) each, at
    most MOST_WINDOW_PLACES in all, and fewer by the budget's iterations.
    """
    total, random = len(order), Random(seed)
    best, value = order.copy(), crowded(order, width)
    rounds = budget.passes(max(MOST_WINDOW_PLACES // max(total * width, 1), 20 * SWAPS_PER_CLOCK_CHECK))
    varied, gained = min(width - 1, len(np.unique(order))), 0
    for number in range(rounds):
        if (value[0] <= bound and value[1] <= -varied) or number > gained + IDLE_SWAPS_PER_NODE * total:
            break
        if number % SWAPS_PER_CLOCK_CHECK == 0 and budget.over():
            break
        first, second = random.randrange(total), random.randrange(total)
        if best[first] == best[second]:
            continue
        best[[first, second]] = best[[second, first]]
        now = crowded(best, width)
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


def least_crowded(sizes: IntArray, width: int, start: IntArray, bound: int, seed: int, budget: Budget) -> CrowdedOrder:
    """Return an order with the fewest windows that have a zone twice, by CP-SAT.

    Parameters
    ----------
    sizes
        (Z,) nodes of each zone.
    start
        (n,) an order to begin with.
    bound
        No order has fewer such windows.

    Notes
    -----
    Guarantee: optimal where ``bound`` equals what the order has. Cost exponential.
    """
    if crowded(start, width)[0] <= bound or budget.over():
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
        start = min(start, order, key=lambda one: crowded(one, width))
    return CrowdedOrder(start, bound if found.bound is None else max(bound, found.bound))
