"""Moves and swaps that bring an allocation within the limits on its nodes at little cost.

Changes are rated by what they cost for the breach of limits that they remove. In a large allocation many are made at
each look at a node (:func:`repair_in_bulk`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget

#: Part of the relief a move promised alone that must be left when its turn comes; else the next look decides.
LEAST_RELIEF_LEFT = 0.5
#: Moves in a row that have lost their good, after which a new look is cheaper.
MOST_REFUSED_MOVES = 24
#: Moves that one look considers, the cheapest.
MOST_MOVES_AT_ONCE = 1024
#: Moves of a repair that one iteration of bounded work buys.
MOVES_PER_ITERATION = 100


def repair_in_bulk(allocation: WorkingAllocation, budget: Budget) -> None:
    """Move copies off and onto the nodes that break their limits, worst node first, until no move helps.

    At each node all moves are rated once by what they cost for the breach they remove, and made from the cheapest on
    while they still help; every move reduces the total breach. Cost O(U c + copies on the node · N) a look.
    """
    nodes = np.arange(len(allocation.problem.nodes))
    moved = True
    while moved:
        moved = False
        allocation.used = allocation.limits.used(allocation.copies)
        breach = allocation.breach(allocation.used, nodes)
        for node in np.argsort(-breach, kind="stable").tolist():
            if budget.over():
                return
            if breach[node] > 0:
                moved |= _relieve(allocation, node, breach)


def _relieve(allocation: WorkingAllocation, node: int, breach: FloatArray) -> bool:
    """Move copies off and onto one node while it breaks its limits; return whether any moved. Updates *breach*."""
    slots, targets, relief, rate = _rated(allocation, node, breach)
    touched, refused = set(), 0
    for i in np.argsort(rate, kind="stable").tolist():
        slot, target = int(slots[i]), int(targets[i])
        unit, at = slot // allocation.problem.copies, int(allocation.flat[slot])
        if unit in touched:
            continue
        weight = allocation.limits.weight[:, unit]
        left = _breach_of(allocation, allocation.used[:, at] - weight, at)
        grown = _breach_of(allocation, allocation.used[:, target] + weight, target)
        if breach[at] + breach[target] - left - grown < max(LEAST_RELIEF, LEAST_RELIEF_LEFT * float(relief[i])):
            refused += 1
            if refused == MOST_REFUSED_MOVES:
                break
            continue
        refused = 0
        allocation.move(slot, target)
        touched.add(unit)
        breach[at], breach[target] = left, grown
        if breach[node] <= 0:
            break
    return bool(touched)


def _rated(
    allocation: WorkingAllocation, node: int, breach: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return slot, target, breach removed and cost per breach of the cheapest moves off the node and onto it."""
    used, limits, rated = allocation.used[:, node], allocation.limits, []
    if np.any(used > limits.upper[:, node]):
        rated.append(moves_off(allocation, node, breach))
    if np.any(used < limits.lower[:, node]):
        rated.append(moves_onto(allocation, node, breach))
    parts = []
    for moves in rated:
        good = moves.relief > LEAST_RELIEF
        row, column = np.nonzero(good)
        parts.append((moves.slots[row], moves.targets[column], moves.relief[good], moves.cost[good]))
    slots, targets, relief, cost = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    rate = cost / relief
    if rate.size <= MOST_MOVES_AT_ONCE:
        return slots, targets, relief, rate
    first = np.sort(np.argpartition(rate, MOST_MOVES_AT_ONCE)[:MOST_MOVES_AT_ONCE])
    return slots[first], targets[first], relief[first], rate[first]


def _breach_of(allocation: WorkingAllocation, used: FloatArray, node: int) -> float:
    """Return the breach of one node that uses this much, (R,): plain numbers, since it is asked for each move."""
    total, limits = 0.0, allocation.limits
    for r, by in enumerate(allocation.scale.tolist()):
        there = float(used[r])
        total += (max(there - limits.upper[r, node], 0.0) + max(limits.lower[r, node] - there, 0.0)) / by
    return float(total)


#: A change must reduce the breach by this part of a mean node's use.
LEAST_RELIEF = 1e-12


class RepairChange(NamedTuple):
    """A move of a slot to a node, or its swap with another slot; the cheapest compares least, ties to the first."""

    cost_per_relief: float
    slot: int
    target: int
    is_swap: bool

    def make(self, allocation: WorkingAllocation) -> None:
        """Make the change."""
        (allocation.swap if self.is_swap else allocation.move)(self.slot, self.target)


class RatedChanges(NamedTuple):
    """Changes of slots (S,) to targets (T,), nodes or slots. ``relief`` (S, T) is 0 where a change is not allowed."""

    slots: IntArray
    targets: IntArray
    relief: FloatArray
    cost: FloatArray  # (S, T)

    def cheapest(self, is_swap: bool, least: float = LEAST_RELIEF) -> list[RepairChange]:
        """Return the change of least cost per relief as a list of one, empty where none relieves more than *least*."""
        good = self.relief > least
        if not good.any():
            return []
        rate = np.where(good, self.cost / np.where(good, self.relief, 1.0), np.inf)
        row, column = divmod(int(rate.argmin()), rate.shape[1])
        return [RepairChange(float(rate[row, column]), int(self.slots[row]), int(self.targets[column]), is_swap)]


def moves_off(allocation: WorkingAllocation, node: int, breach: FloatArray) -> RatedChanges:
    """Rate the moves of every copy on a node to every other node; *breach* (N,) is that of the nodes now."""
    p = allocation.problem
    here, targets = np.flatnonzero(allocation.flat == node), np.arange(len(p.nodes))
    units = allocation.units(here)
    weight = allocation.limits.weight[:, units]
    left = allocation.breach(allocation.used[:, [node]] - weight, node)[:, None]
    grown = allocation.breach(allocation.used[:, None, :] + weight[:, :, None], targets)
    relief = breach[node] + breach[None, :] - left - grown
    relief = np.where(allocation.free(here) & (targets != node)[None, :], relief, 0.0)
    return RatedChanges(here, targets, relief, p.cost[units] - p.cost[units, node][:, None])


def moves_onto(allocation: WorkingAllocation, node: int, breach: FloatArray) -> RatedChanges:
    """Rate the moves of every copy elsewhere to a node; *breach* (N,) is that of the nodes now."""
    cost, weight = allocation.problem.cost, allocation.limits.weight
    others = np.flatnonzero((allocation.flat != node) & allocation.free_at(node))
    at, units = allocation.flat[others], allocation.units(others)
    grown = allocation.breach(allocation.used[:, [node]] + weight[:, units], node)
    left = allocation.breach(allocation.used[:, at] - weight[:, units], at)
    relief = (breach[node] + breach[at] - grown - left)[:, None]
    return RatedChanges(others, np.array([node]), relief, (cost[units, node] - cost[units, at])[:, None])


def swaps_with(
    allocation: WorkingAllocation, node: int, here: IntArray, others: IntArray, breach: FloatArray
) -> RatedChanges:
    """Rate the exchange of copies *here* on a node with *others* elsewhere; *breach* (N,) is that of the nodes now."""
    cost, weight = allocation.problem.cost, allocation.limits.weight
    units, v, at = allocation.units(here), allocation.units(others), allocation.flat[others]
    allowed = allocation.free(here)[:, at] & allocation.free_at(node)[others][None, :] & (units[:, None] != v[None, :])
    shift = weight[:, v][:, None, :] - weight[:, units][:, :, None]
    mine = allocation.breach(allocation.used[:, node][:, None, None] + shift, node)
    theirs = allocation.breach(allocation.used[:, at][:, None, :] - shift, at)
    relief = np.where(allowed, breach[node] + breach[at][None, :] - mine - theirs, 0.0)
    added = cost[units[:, None], at[None, :]] - cost[units, node][:, None]
    added += (cost[v, node] - cost[v, at])[None, :]
    return RatedChanges(here, others, relief, added)


#: Pairs of copies of one node above which exchanges are looked at only where no single move helps.
PAIRS_AT_ONCE = 100_000
#: Slots among which a partner for a swap is looked for at a time.
SLOTS_AT_ONCE = 4096
#: Slots above which all moves that help at a node are made at one look.
MANY_SLOTS = 8192


def repair_nodes(allocation: WorkingAllocation, budget: Budget) -> bool:
    """Move and swap copies until the limits on nodes hold; return whether they do. Failover must not be among them.

    Each step takes, at the node that breaks its limits most (ties to the first), the change that costs least for the
    breach that it removes: a copy away or towards the node, or an exchange with any other copy. Every step reduces
    the total breach, so it ends; it may end stuck. Cost O(U c · copies on the node) a step. With many copies,
    :func:`repair_in_bulk` goes before.
    """
    if not allocation.limits.names:
        return True
    nodes, slots = np.arange(len(allocation.problem.nodes)), allocation.flat.size
    if slots > MANY_SLOTS:
        repair_in_bulk(allocation, budget)
    for _ in range(budget.passes(1000 + 4 * slots, MOVES_PER_ITERATION)):
        if allocation.is_feasible():
            return True
        if budget.over():
            return False
        breach = allocation.breach(allocation.used, nodes)
        broken = [node for node in np.argsort(-breach, kind="stable").tolist() if breach[node] > 0]
        with_swaps = (True,) if slots**2 <= PAIRS_AT_ONCE * nodes.size else (False, True)
        changes = (_best_change(allocation, node, breach, swaps) for swaps in with_swaps for node in broken)
        change = next((change for change in changes if change is not None), None)
        if change is None:
            return False
        change.make(allocation)
    return allocation.is_feasible()


def _best_change(allocation: WorkingAllocation, node: int, breach: FloatArray, swaps: bool) -> RepairChange | None:
    """Return the cheapest change at a node for the breach that it removes, None where none removes any."""
    here = np.flatnonzero(allocation.flat == node)
    cheapest = moves_off(allocation, node, breach).cheapest(False) if here.size else []
    others = np.flatnonzero(allocation.flat != node) if swaps and here.size else here[:0]
    for start in range(0, others.size, SLOTS_AT_ONCE):
        exchanged = swaps_with(allocation, node, here, others[start : start + SLOTS_AT_ONCE], breach).cheapest(True)
        cheapest += exchanged
        if exchanged:
            break
    cheapest += moves_onto(allocation, node, breach).cheapest(False)
    return min(cheapest, default=None)
