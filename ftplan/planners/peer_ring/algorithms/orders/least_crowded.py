"""The least crowded order of zones, where a zone is too large for each window.

Swaps of two nodes improve an order; a program for CP-SAT finds the best one of few nodes.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import numpy as np

from ftplan.model.plan import sound_bound
from ftplan.model.topology import IntArray
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.interrupts import solve_sat
from ftplan.planners.peer_ring.algorithms.orders.windows import crowded, distinct_in_windows

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


#: Deterministic seconds of the solver for each of its two questions, where no iterations are given.
SOLVER_SECONDS = 10.0


class CrowdedOrder(NamedTuple):
    """An order of zones (n,), and a number of windows with a zone twice that no order goes below."""

    order: IntArray
    bound: int


def least_crowded(sizes: IntArray, width: int, start: IntArray, bound: int, seed: int, budget: Budget) -> CrowdedOrder:
    """Return an order with the fewest windows that have a zone twice, then with most zones in the worst window.

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
    Guarantee: optimal where ``bound`` equals what the order has; the second aim is best effort. Cost exponential.
    """
    best, value = start, crowded(start, width)
    varied = min(width - 1, int(np.count_nonzero(sizes)))
    for aim in ("few", "varied"):
        done = value[0] <= bound if aim == "few" else value[1] <= -varied
        if done or budget.over():
            continue
        found, proven = _solved(sizes, width, best, bound, aim, seed, budget)
        if aim == "few":
            bound = max(bound, proven)
        if found is not None and crowded(found, width) < value:
            best, value = found, crowded(found, width)
    return CrowdedOrder(best, int(sound_bound("min", value[0], bound)))


def _solved(
    sizes: IntArray, width: int, start: IntArray, bound: int, aim: str, seed: int, budget: Budget
) -> tuple[IntArray | None, int]:
    """Return what the solver found, None if nothing, and its bound of crowded windows."""
    from ortools.sat.python import cp_model

    total, zones = len(start), np.flatnonzero(sizes).tolist()
    model = cp_model.CpModel()
    at = {(place, zone): model.new_bool_var("") for place in range(total) for zone in zones}
    for place in range(total):
        model.add_exactly_one(at[place, zone] for zone in zones)
    for zone in zones:
        model.add(sum(at[place, zone] for place in range(total)) == int(sizes[zone]))
    largest = max(zones, key=lambda zone: int(sizes[zone]))
    model.add(at[0, int(start[0])] == 1) if aim == "varied" else model.add(at[0, largest] == 1)
    good = [model.new_bool_var("") for _ in range(total)]
    seen = {(first, zone): model.new_bool_var("") for first in range(total) for zone in zones}
    for first in range(total):
        window = [(first + k) % total for k in range(width)]
        for zone in zones:
            inside = sum(at[place, zone] for place in window)
            model.add(inside <= 1).only_enforce_if(good[first])
            model.add(inside >= seen[first, zone])
    few = total - sum(good)
    model.add(few >= bound)
    distinct = distinct_in_windows(start, width)
    if aim == "few":
        model.minimize(few)
        first_place = int(np.flatnonzero(start == largest)[0])
        start, distinct = np.roll(start, -first_place), np.roll(distinct, -first_place)
    else:
        model.add(few <= crowded(start, width)[0])
        worst = model.new_int_var(1, width, "")
        for first in range(total):
            model.add(worst <= sum(seen[first, zone] for zone in zones))
        model.maximize(worst)
    for (place, zone), variable in at.items():
        model.add_hint(variable, bool(start[place] == zone))
    for first in range(total):
        model.add_hint(good[first], bool(distinct[first] == width))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % 2**31
    work = (
        SOLVER_SECONDS
        if budget.iterations is None
        else min(SOLVER_SECONDS, budget.iterations * SOLVER_SECONDS_PER_ITERATION)
    )
    solver.parameters.max_deterministic_time = max(work, 0.01)
    status = solve_sat(model, solver, budget.left_s)
    if budget.over() or status is None:
        return None, bound
    proven = int(np.ceil(solver.best_objective_bound - 1e-6)) if aim == "few" else bound
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, proven if status == cp_model.UNKNOWN else bound
    order = [next(zone for zone in zones if solver.boolean_value(at[place, zone])) for place in range(total)]
    return np.array(order, dtype=np.int64), proven
