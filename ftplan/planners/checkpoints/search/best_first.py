"""The moves that improve an allocation most, one after the other."""

from __future__ import annotations

import heapq

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import BoolArray
from ftplan.planners.checkpoints.search.copies_in_place import MoveLimits, Moving
from ftplan.planners.checkpoints.search.pairs import PARTNERS, Change, exchange, pull, push

#: Passes over all copies: what one pass finds too full may have room after it.
PASSES = 50
#: Copies up to which a copy in its old place is still looked at when no further move is allowed.
SMALL = 500


def best_first(moving: Moving, limits: MoveLimits, target: float, budget: Budget) -> None:
    """Move and exchange copies within all limits, what saves most first, until the cost is at most *target*.

    A pair of moves counts with half of what it saves. Ends at the target, when nothing is left that saves and is
    within the limits, or when time is up. A copy's best saving without any limit orders the copies at first; it is
    renewed when its turn comes, so few are looked at closely. Cost O(U c N) a look in small problems, O(U c + N) in
    large ones. Madsen & Zhou 2015, section 6, Temporal changes; pairs are an addition, for within a balance a single
    copy often has nowhere to go.
    """
    p, placed = moving.placed.problem, moving.placed
    if not p.load.size:
        return
    least = 1e-12 * max(float(np.abs(p.cost).max(initial=0.0)), 1e-300)
    cheapest = np.where(p.allowed, p.cost, np.inf).min(axis=1)
    for _ in range(budget.passes(PASSES)):
        units = np.arange(placed.flat.size) // p.copies
        hope = p.cost[units, placed.flat] - cheapest[units]
        heap = [(-hope[slot], int(slot)) for slot in np.flatnonzero(hope > least).tolist()]
        heapq.heapify(heap)
        changed = False
        while heap:
            if moving.value <= target or budget.over():
                return
            key, slot = heapq.heappop(heap)
            if placed.flat.size > SMALL and _too_far(moving, slot, limits):
                continue
            change = _best_change(moving, slot, limits, least)
            if change is None:
                continue
            if heap and -heap[0][0] > change.saving and -key > change.saving:
                heapq.heappush(heap, (-change.saving, slot))
                continue
            if not moving.make(change.moves):
                continue
            changed = True
            for again, _ in change.moves:
                left = float(p.cost[again // p.copies, placed.flat[again]] - cheapest[again // p.copies])
                if left > least:
                    heapq.heappush(heap, (-left, again))
        if not changed:
            return


def _too_far(moving: Moving, slot: int, limits: MoveLimits) -> bool:
    """Return whether a copy that lies where it did is one too many to move.

    In exchange for one that goes home it could still go: a rare gain, looked for in small problems only.
    """
    p = moving.placed.problem
    unit = slot // p.copies
    if not moving.present.here[unit, moving.placed.flat[slot]]:
        return False
    return bool(limits.exceeded(moving.moves + 1, moving.size + float(p.state[unit])))


def _best_change(moving: Moving, slot: int, limits: MoveLimits, least: float) -> Change | None:
    """Return what saves most for one copy within all limits, None where nothing saves."""
    placed = moving.placed
    p = placed.problem
    unit, origin = slot // p.copies, int(placed.flat[slot])
    saving = p.cost[unit, origin] - p.cost[unit]
    good = (saving > least) & placed.free(np.array([slot]))[0]
    if not good.any():
        return None
    found = _move(moving, slot, good, saving, limits)
    if not placed.limits.names:
        return found
    if placed.flat.size > PARTNERS:
        pairs = [exchange(moving, slot, good, saving, limits, least)]
    else:
        pairs = [push(moving, slot, good, saving, limits, least), pull(moving, slot, good, saving, limits, least)]
    return max((c for c in (found, *pairs) if c), key=lambda change: (change.saving, -len(change.moves)), default=None)


def _move(moving: Moving, slot: int, good: BoolArray, saving: FloatArray, limits: MoveLimits) -> Change | None:
    placed, rows = moving.placed, moving.placed.limits
    p = placed.problem
    unit, origin = slot // p.copies, int(placed.flat[slot])
    weight = rows.weight[:, unit]
    if np.any((placed.used[:, origin] - weight < rows.lower[:, origin]) & (weight > 0)):
        return None
    nodes = np.arange(good.size)
    steps = moving.steps(np.full(good.size, unit), np.full(good.size, origin), nodes)
    fits = good & np.all((placed.used + weight[:, None] <= rows.upper) | (weight[:, None] <= 0), axis=0)
    fits &= moving.affordable(steps, steps * p.state[unit], limits)
    if not fits.any():
        return None
    node = int(np.where(fits, saving, -np.inf).argmax())
    return Change(float(saving[node]), ((slot, node),))
