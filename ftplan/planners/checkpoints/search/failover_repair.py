"""An allocation within all limits, failover among them, by moves, swaps and a change of the first copy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.search.failover_changes import Changes, FailoverState
from ftplan.planners.checkpoints.search.local_search import MOST_SLOTS_FOR_SWAPS, PASSES, improve
from ftplan.planners.checkpoints.search.repair import repair
from ftplan.planners.checkpoints.search.working_allocation import Placed

#: A change must reduce the breach by this part of the mean load of a node.
LEAST_GAIN = 1e-12


def bring_within(placed: Placed, budget: Budget) -> bool:
    """Change an allocation until all limits hold; return whether they do.

    First the limits on nodes, then failover without leaving them. The array of copies is changed in place.
    """
    failover = placed.limits.failover
    if failover is None:
        return repair(placed, budget)
    bare = Placed(placed.problem, replace(placed.limits, failover=None), placed.copies, placed.used)
    if not repair(bare, budget) or bool((failover.upper < 0).any()):
        return False
    return _spread_takeovers(FailoverState.at(bare, failover), budget) and placed.limits.kept(placed.copies)


def improve_within(placed: Placed, budget: Budget) -> None:
    """Make a feasible allocation cheaper by moves and swaps within all limits until none is left."""
    failover = placed.limits.failover
    if failover is None:
        improve(placed, budget)
        return
    state = FailoverState.at(placed, failover)
    least = 1e-12 * max(float(np.abs(placed.problem.cost).max(initial=0.0)), 1e-300)
    slots = placed.flat.size
    for _ in range(budget.passes(PASSES)):
        changed = False
        for swaps in (False, True) if slots <= MOST_SLOTS_FOR_SWAPS else (False,):
            for slot in range(slots):
                if budget.over():
                    return
                changes = state.swaps(slot) if swaps else state.moves(slot)
                good = changes.allowed & (changes.saving > least) & (changes.gain >= 0.0)
                if good.any():
                    best = int(np.where(good, changes.saving, -np.inf).argmax())
                    (state.swap if swaps else state.move)(slot, best)
                    changed = True
        if not changed:
            return


def _spread_takeovers(state: FailoverState, budget: Budget) -> bool:
    """Reduce the breach of failover until it is gone; return whether it is.

    Each step takes the loss and the survivor with the largest breach (ties to the first) and makes the change of one
    of the copies there that costs least for the breach that it removes; where none helps, the next largest. Every step
    reduces the total breach. Cost O(copies there · U c) a step.
    """
    failover, placed = state.failover, state.placed
    c = placed.problem.copies
    least = LEAST_GAIN * max(float(failover.load.sum()), 1e-300) / max(failover.own.size, 1)
    for _ in range(budget.passes(1000 + 4 * placed.flat.size)):
        breach = np.maximum(state.taken - failover.upper, 0.0)
        broken = np.flatnonzero(breach > 0)
        if not broken.size:
            return True
        changed = False
        for place in broken[np.argsort(-breach.reshape(-1)[broken], kind="stable")].tolist():
            loss, node = divmod(place, failover.own.size)
            found: list[tuple[float, int, int, bool]] = []
            for unit in np.flatnonzero((failover.loss == loss) & (placed.copies[:, 0] == node)).tolist():
                if budget.over():
                    return False
                found += _cheapest(state.moves(unit * c), unit * c, False, least)
                found += _cheapest(state.swaps(unit * c), unit * c, True, least)
            if found:
                _, slot, other, is_swap = min(found)
                (state.swap if is_swap else state.move)(slot, other)
                changed = True
                break
        if not changed:
            return False
    return False


def _cheapest(changes: Changes, slot: int, is_swap: bool, least: float) -> list[tuple[float, int, int, bool]]:
    """Return the change of least cost for the breach that it removes as a list of one, empty where none removes any."""
    good = changes.allowed & (changes.gain > least)
    if not good.any():
        return []
    rate = np.where(good, -changes.saving / np.where(good, changes.gain, 1.0), np.inf)
    best = int(rate.argmin())
    return [(float(rate[best]), slot, best, is_swap)]
