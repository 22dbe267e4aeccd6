"""Moves and swaps that make a feasible allocation cheaper."""

from __future__ import annotations

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.search.working_allocation import Placed

#: Slots above which swaps are left out: one pass over all pairs would take minutes.
MOST_SLOTS_FOR_SWAPS = 20_000
#: Passes over all copies where nothing else ends the search.
PASSES = 50


def improve(placed: Placed, budget: Budget) -> None:
    """Apply improving moves and swaps within the limits until none is left.

    Copies are taken in order; each makes its best move or, failing that, its best swap. Deterministic but for the
    clock. Cost O((U c)² R) a pass.
    """
    problem = placed.problem
    least = 1e-12 * max(problem.largest_cost, 1e-300)
    for _ in range(budget.passes(PASSES)):
        changed = False
        for slot in range(placed.flat.size):
            if budget.over():
                return
            changed |= _best_move(placed, slot, least)
        if placed.flat.size <= MOST_SLOTS_FOR_SWAPS:
            for slot in range(placed.flat.size):
                if budget.over():
                    return
                changed |= _best_swap(placed, slot, least)
        if not changed:
            return


def _best_move(placed: Placed, slot: int, least: float) -> bool:
    """Move one copy to the node that saves most within the limits; return whether any saves."""
    p, limits = placed.problem, placed.limits
    unit, here = slot // p.copies, int(placed.flat[slot])
    saving = p.cost[unit, here] - p.cost[unit]
    good = (saving > least) & placed.free(np.array([slot]))[0]
    weight = limits.weight[:, unit]
    if not good.any() or np.any((placed.used[:, here] - weight < limits.lower[:, here]) & (weight > 0)):
        return False
    good &= np.all(placed.used + weight[:, None] <= limits.upper, axis=0)
    if not good.any():
        return False
    placed.move(slot, int(np.where(good, saving, -np.inf).argmax()))
    return True


def _best_swap(placed: Placed, slot: int, least: float) -> bool:
    """Exchange one copy with the copy that saves most within the limits; return whether any saves."""
    p, limits = placed.problem, placed.limits
    unit, here = slot // p.copies, int(placed.flat[slot])
    at = placed.flat
    units = np.arange(at.size) // p.copies
    saving = p.cost[unit, here] - p.cost[unit, at] + p.cost[units, at] - p.cost[units, here]
    good = (saving > least) & placed.free(np.array([slot]))[0][at] & (units != unit) & (at != here)
    if not good.any():
        return False
    good &= placed.free_at(here)
    candidates = np.flatnonzero(good)
    if not candidates.size:
        return False
    there = at[candidates]
    shift = limits.weight[:, units[candidates]] - limits.weight[:, [unit]]
    mine, theirs = placed.used[:, [here]] + shift, placed.used[:, there] - shift
    fits = np.all((mine <= limits.upper[:, [here]]) & (mine >= limits.lower[:, [here]]), axis=0)
    fits &= np.all((theirs <= limits.upper[:, there]) & (theirs >= limits.lower[:, there]), axis=0)
    if not fits.any():
        return False
    placed.swap(slot, int(candidates[np.where(fits, saving[candidates], -np.inf).argmax()]))
    return True
