"""The moves that improve an allocation most, one after the other.

A move makes one copy cheaper: alone, or together with a second copy where it has no room alone. Of a pair of moves
that saves, one copy saves at least half by itself: looked for from that copy, no pair is missed.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.search.local_search import feasible_moves, move_savings
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import CopyMigration
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget

#: Copies up to which every pair of moves is looked at; above it exchanges with about so many partners.
MOST_PARTNERS = 2000
#: Pairs of a copy and a node that are looked at at once.
MOST_PAIRS_AT_ONCE = 400_000


class JointMove(NamedTuple):
    """Moves (slot, node) to make together, and what they save for each copy that moves."""

    saving: float
    moves: tuple[tuple[int, int], ...]


class Departure(NamedTuple):
    """A copy that would be cheaper elsewhere: on ``better`` nodes (N,), open by R1 to R3, by ``saving`` (N,)."""

    slot: int
    unit: int
    origin: int
    better: BoolArray
    saving: FloatArray
    least: float

    @staticmethod
    def of(allocation: WorkingAllocation, slot: int, least: float) -> Departure:
        """Return the departure of one copy; savings up to *least* are rounding."""
        saving = move_savings(allocation, slot)
        better = (saving > least) & allocation.free(np.array([slot]))[0]
        return Departure(slot, slot // allocation.problem.copies, int(allocation.flat[slot]), better, saving, least)


def relocate(migration: CopyMigration, departure: Departure) -> JointMove | None:
    """Return the best way to go alone, None where there is none. Cost O(N)."""
    slot, unit, origin, better, saving, _ = departure
    feasible = feasible_moves(migration.allocation, slot, better)
    feasible &= migration.affordable((unit, origin, np.arange(better.size)))
    if not feasible.any():
        return None
    node = int(np.where(feasible, saving, -np.inf).argmax())
    return JointMove(float(saving[node]), ((slot, node),))


def push(migration: CopyMigration, departure: Departure) -> JointMove | None:
    """Return the best way to go to a node from which another copy goes anywhere. Cost O(U c N)."""
    slot, unit, origin, better, saving, least = departure
    allocation, limits, used = migration.allocation, migration.allocation.limits, migration.allocation.used
    p, nodes = allocation.problem, np.arange(better.size)
    others = _others(allocation, unit, better[allocation.flat])
    mine, theirs = limits.weight[:, unit], limits.weight[:, allocation.units(others)]
    at = allocation.flat[others]
    fits = allocation.within(used[:, at] + mine[:, None] - theirs, at)
    others, at, theirs = others[fits], at[fits], theirs[:, fits]
    if not others.size:
        return None
    v = allocation.units(others)
    total = saving[at][:, None] + p.cost[v, at][:, None] - p.cost[v]
    feasible = allocation.free(others) & (total > 2 * least) & (at[:, None] != nodes[None, :])
    for r in range(len(limits.names)):
        room = used[r] + theirs[r][:, None] <= limits.upper[r]
        back = used[r, origin] - mine[r] + theirs[r]
        room[:, origin] = (back <= limits.upper[r, origin]) & (back >= limits.lower[r, origin])
        if mine[r] > 0 and used[r, origin] - mine[r] < limits.lower[r, origin]:
            room[:, nodes != origin] = False
        feasible &= room
    feasible &= migration.affordable((unit, origin, at[:, None]), (v[:, None], at[:, None], nodes[None, :]))
    if not feasible.any():
        return None
    row, node = _largest(total, feasible)
    return JointMove(float(total[row, node]) / 2, ((slot, int(at[row])), (int(others[row]), node)))


def pull(migration: CopyMigration, departure: Departure) -> JointMove | None:
    """Return the best way to go to a node while another copy takes the place that is left. Cost O(U c N)."""
    slot, unit, origin, better, saving, least = departure
    allocation, limits, used = migration.allocation, migration.allocation.limits, migration.allocation.used
    p, nodes = allocation.problem, np.arange(better.size)
    others = _others(allocation, unit, allocation.free_at(origin) & (allocation.flat != origin))
    mine, theirs = limits.weight[:, unit], limits.weight[:, allocation.units(others)]
    others = others[allocation.within(used[:, [origin]] - mine[:, None] + theirs, origin)]
    if not others.size:
        return None
    v, at = allocation.units(others), allocation.flat[others]
    total = saving[None, :] + (p.cost[v, at] - p.cost[v, origin])[:, None]
    enters = np.all(used + mine[:, None] <= limits.upper, axis=0)
    # A copy that comes from the very node is an exchange, which push has seen.
    feasible = (better & enters)[None, :] & allocation.may_leave(others)[:, None] & (at[:, None] != nodes[None, :])
    feasible &= total > 2 * least
    feasible &= migration.affordable((unit, origin, nodes[None, :]), (v[:, None], at[:, None], origin))
    if not feasible.any():
        return None
    row, node = _largest(total, feasible)
    return JointMove(float(total[row, node]) / 2, ((slot, node), (int(others[row]), origin)))


def exchange(migration: CopyMigration, departure: Departure) -> JointMove | None:
    """Return the best exchange with a copy on a node that is better for this one.

    Looks at about :data:`MOST_PARTNERS` copies, those on its best nodes. Cost O(U c + N).
    """
    slot, unit, origin, better, saving, least = departure
    allocation, p = migration.allocation, migration.allocation.problem
    others = _partners(allocation.flat, better, saving)
    others = others[allocation.units(others) != unit]
    v, at = allocation.units(others), allocation.flat[others]
    total = saving[at] + p.cost[v, at] - p.cost[v, origin]
    keep = (total > 2 * least) & (at != origin)
    others, v, at, total = others[keep], v[keep], at[keep], total[keep]
    if not others.size:
        return None
    feasible = allocation.free_at(origin)[others] & allocation.may_exchange(slot, others)
    feasible &= migration.affordable((unit, origin, at), (v, at, origin))
    if not feasible.any():
        return None
    best = int(np.where(feasible, total, -np.inf).argmax())
    return JointMove(float(total[best]) / 2, ((slot, int(at[best])), (int(others[best]), origin)))


def _others(allocation: WorkingAllocation, unit: int, wanted: BoolArray) -> IntArray:
    """Return the *wanted* slots (U c,) of other units, as many as fit into :data:`MOST_PAIRS_AT_ONCE`."""
    others = np.flatnonzero(wanted & (np.arange(wanted.size) // allocation.problem.copies != unit))
    return others[: max(MOST_PAIRS_AT_ONCE // len(allocation.problem.nodes), 1)]


def _partners(flat: IntArray, better: BoolArray, saving: FloatArray) -> IntArray:
    """Return the slots on better nodes, at most about :data:`MOST_PARTNERS`: nodes that save most first."""
    there = np.bincount(flat, minlength=better.size)
    order = np.argsort(np.where(better, -saving, np.inf), kind="stable")[: int(better.sum())]
    enough = int(np.searchsorted(np.cumsum(there[order]), MOST_PARTNERS)) + 1
    chosen = np.zeros(better.size, dtype=np.bool_)
    chosen[order[:enough]] = True
    return np.flatnonzero(chosen[flat])


def _largest(total: FloatArray, feasible: BoolArray) -> tuple[int, int]:
    """Return row and column of the largest feasible total, the first of equals."""
    row, column = divmod(int(np.where(feasible, total, -np.inf).argmax()), total.shape[1])
    return row, column


#: Passes over all copies: what one pass finds too full may have room after it.
MOST_PASSES = 50
#: Copies up to which a copy in its old place is still looked at when no further move is allowed.
MOST_COPIES_PUT_BACK = 500


def best_first(migration: CopyMigration, target: float, budget: Budget) -> None:
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
    for _ in range(budget.passes(MOST_PASSES)):
        hope = p.cost[units, allocation.flat] - cheapest[units]
        heap = [(-hope[slot], int(slot)) for slot in np.flatnonzero(hope > least).tolist()]
        heapq.heapify(heap)
        changed = False
        while heap:
            if migration.value <= target or budget.over():
                return
            key, slot = heapq.heappop(heap)
            if allocation.flat.size > MOST_COPIES_PUT_BACK and _too_far(migration, slot):
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


def _too_far(migration: CopyMigration, slot: int) -> bool:
    """Return whether a copy that lies where it did is one too many to move.

    In exchange for one that goes home it could still go: a rare gain, looked for in small problems only.
    """
    p = migration.allocation.problem
    unit = slot // p.copies
    if not migration.current.held[unit, migration.allocation.flat[slot]]:
        return False
    return bool(migration.allowance.exceeded(migration.moves + 1, migration.size + float(p.state[unit])))


def _best_change(migration: CopyMigration, slot: int, least: float) -> JointMove | None:
    """Return what saves most for one copy within all limits, None where nothing saves."""
    departure = Departure.of(migration.allocation, slot, least)
    if not departure.better.any():
        return None
    ways = [relocate]
    if migration.allocation.limits.names:  # only then may one copy alone have no room
        ways += [exchange] if migration.allocation.flat.size > MOST_PARTNERS else [push, pull]
    changes = [change for way in ways if (change := way(migration, departure))]
    return max(changes, key=lambda change: (change.saving, -len(change.moves)), default=None)
