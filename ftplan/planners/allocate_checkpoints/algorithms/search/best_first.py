"""The moves that improve an allocation most, one after the other."""

from __future__ import annotations

import heapq

import numpy as np

from ftplan.planners.allocate_checkpoints.algorithms.search.migration import Migration
from ftplan.planners.allocate_checkpoints.algorithms.search.migration_moves import (
    PARTNERS,
    Departure,
    JointMove,
    exchange,
    pull,
    push,
    relocate,
)
from ftplan.planners.budget import Budget

#: Passes over all copies: what one pass finds too full may have room after it.
PASSES = 50
#: Copies up to which a copy in its old place is still looked at when no further move is allowed.
SMALL = 500


def best_first(migration: Migration, target: float, budget: Budget) -> None:
    """Move and exchange copies within all limits, what saves most first, until the cost is at most *target*.

    A pair of moves counts with half of what it saves. Ends at the target, when nothing is left that saves and is
    within the limits, or when time is up. A copy's best saving without any limit orders the copies at first; it is
    renewed when its turn comes, so few are looked at closely. Cost O(U c N) a look in small problems, O(U c + N) in
    large ones.

    Source: [Madsen2015], section 6, Temporal changes. Departure: pairs of moves, for within a balance a single copy
    often has nowhere to go.
    """
    allocation, p = migration.allocation, migration.allocation.problem
    if not p.load.size:
        return
    least = 1e-12 * max(p.largest_cost, 1e-300)
    cheapest = np.where(p.allowed, p.cost, np.inf).min(axis=1)
    units = np.arange(allocation.flat.size) // p.copies
    for _ in range(budget.passes(PASSES)):
        hope = p.cost[units, allocation.flat] - cheapest[units]
        heap = [(-hope[slot], int(slot)) for slot in np.flatnonzero(hope > least).tolist()]
        heapq.heapify(heap)
        changed = False
        while heap:
            if migration.value <= target or budget.over():
                return
            key, slot = heapq.heappop(heap)
            if allocation.flat.size > SMALL and _too_far(migration, slot):
                continue
            change = _best_change(migration, slot, least)
            if change is None:
                continue
            if heap and -heap[0][0] > change.saving and -key > change.saving:
                heapq.heappush(heap, (-change.saving, slot))
                continue
            if not migration.make(change.moves):
                continue
            changed = True
            for again, _ in change.moves:
                left = float(p.cost[units[again], allocation.flat[again]] - cheapest[units[again]])
                if left > least:
                    heapq.heappush(heap, (-left, again))
        if not changed:
            return


def _too_far(migration: Migration, slot: int) -> bool:
    """Return whether a copy that lies where it did is one too many to move.

    In exchange for one that goes home it could still go: a rare gain, looked for in small problems only.
    """
    p = migration.allocation.problem
    unit = slot // p.copies
    if not migration.current.held[unit, migration.allocation.flat[slot]]:
        return False
    return bool(migration.allowance.exceeded(migration.moves + 1, migration.size + float(p.state[unit])))


def _best_change(migration: Migration, slot: int, least: float) -> JointMove | None:
    """Return what saves most for one copy within all limits, None where nothing saves."""
    departure = Departure.of(migration.allocation, slot, least)
    if not departure.better.any():
        return None
    ways = [relocate]
    if migration.allocation.limits.names:  # only then may one copy alone have no room
        ways += [exchange] if migration.allocation.flat.size > PARTNERS else [push, pull]
    changes = [change for way in ways if (change := way(migration, departure))]
    return max(changes, key=lambda change: (change.saving, -len(change.moves)), default=None)
