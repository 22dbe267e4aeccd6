"""The moves that improve an allocation most, one after the other."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.arrays import BoolArray
from ftplan.planners.checkpoints.budget import Budget
from ftplan.planners.checkpoints.present import MoveLimits, Moving

#: Passes over all copies: what one pass finds too full may have room after it.
PASSES = 50
#: Partners of an exchange that one copy looks at, about: those on its best nodes.
PARTNERS = 2000


class Change(NamedTuple):
    """A move (``other`` is a node) or an exchange (``other`` is a slot), and what it saves for each copy it moves."""

    saving: float
    slot: int
    other: int
    is_swap: bool


def best_first(moving: Moving, limits: MoveLimits, target: float, budget: Budget) -> None:
    """Move and exchange copies within all limits, what saves most first, until the cost is at most *target*.

    An exchange counts with half of what it saves. Ends at the target, when nothing is left that saves and is within
    the limits, or when time is up. A copy's best saving without any limit orders the copies at first; it is renewed
    when its turn comes, so few are looked at closely. Cost O(N + U c) a look. Madsen & Zhou 2015, section 6, Temporal
    changes; the exchanges are an addition, for within a balance a single copy often has nowhere to go.
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
            if placed.flat.size > PARTNERS and _too_far(moving, slot, limits):
                continue
            change = _best_change(moving, slot, limits, least)
            if change is None:
                continue
            if heap and -heap[0][0] > change.saving and -key > change.saving:
                heapq.heappush(heap, (-change.saving, slot))
                continue
            changed = True
            touched = [slot]
            if change.is_swap:
                moving.swap(slot, change.other)
                touched.append(change.other)
            else:
                moving.move(slot, change.other)
            for again in touched:
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
    found = [
        c for c in (_move(moving, slot, good, saving, limits), _swap(moving, slot, good, saving, limits, least)) if c
    ]
    return max(found, key=lambda change: (change.saving, not change.is_swap), default=None)


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
    return Change(float(saving[node]), slot, node, False)


def _swap(
    moving: Moving,
    slot: int,
    good: BoolArray,
    saving: FloatArray,
    limits: MoveLimits,
    least: float,
) -> Change | None:
    """Return the best exchange with a copy on a node that is better for this one.

    Of two copies whose exchange saves, one saves at least half of it: seen from there no exchange is missed.
    """
    placed, rows = moving.placed, moving.placed.limits
    if not rows.names:
        return None
    p = placed.problem
    unit, origin = slot // p.copies, int(placed.flat[slot])
    partners = _partners(placed.flat, good, saving)
    partners = partners[partners // p.copies != unit]
    others, at = partners // p.copies, placed.flat[partners]
    total = saving[at] + p.cost[others, at] - p.cost[others, origin]
    keep = (total > 2 * least) & (at != origin)
    partners, others, at, total = partners[keep], others[keep], at[keep], total[keep]
    if not partners.size:
        return None
    shift = rows.weight[:, others] - rows.weight[:, [unit]]
    mine, theirs = placed.used[:, [origin]] + shift, placed.used[:, at] - shift
    fits = placed.free_at(origin)[partners]
    fits &= np.all((mine <= rows.upper[:, [origin]]) & (mine >= rows.lower[:, [origin]]), axis=0)
    fits &= np.all((theirs <= rows.upper[:, at]) & (theirs >= rows.lower[:, at]), axis=0)
    one = moving.steps(np.full(at.size, unit), np.full(at.size, origin), at)
    two = moving.steps(others, at, np.full(at.size, origin))
    fits &= moving.affordable(one + two, one * p.state[unit] + two * p.state[others], limits)
    if not fits.any():
        return None
    best = int(np.where(fits, total, -np.inf).argmax())
    return Change(float(total[best]) / 2, slot, int(partners[best]), True)


def _partners(flat: IntArray, good: BoolArray, saving: FloatArray) -> IntArray:
    """Return the slots on good nodes, at most about :data:`PARTNERS`: nodes that save most first."""
    there = np.bincount(flat, minlength=good.size)
    order = np.argsort(np.where(good, -saving, np.inf), kind="stable")[: int(good.sum())]
    enough = int(np.searchsorted(np.cumsum(there[order]), PARTNERS)) + 1
    chosen = np.zeros(good.size, dtype=np.bool_)
    chosen[order[:enough]] = True
    return np.flatnonzero(chosen[flat])
