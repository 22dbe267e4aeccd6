"""Moves that bring a large allocation within the limits on its nodes: many at each look at a node."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.search.rated_changes import LEAST_RELIEF, moves_off, moves_onto
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget

#: Part of the relief a move promised alone that must be left when its turn comes; else the next look decides.
STILL_GOOD = 0.5
#: Moves in a row that have lost their good, after which a new look is cheaper.
REFUSED = 24
#: Moves that one look considers, the cheapest.
LOOKED_AT = 1024


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
        if breach[at] + breach[target] - left - grown < max(LEAST_RELIEF, STILL_GOOD * float(relief[i])):
            refused += 1
            if refused == REFUSED:
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
    if rate.size <= LOOKED_AT:
        return slots, targets, relief, rate
    first = np.sort(np.argpartition(rate, LOOKED_AT)[:LOOKED_AT])
    return slots[first], targets[first], relief[first], rate[first]


def _breach_of(allocation: WorkingAllocation, used: FloatArray, node: int) -> float:
    """Return the breach of one node that uses this much, (R,): plain numbers, since it is asked for each move."""
    total, limits = 0.0, allocation.limits
    for r, by in enumerate(allocation.scale.tolist()):
        there = float(used[r])
        total += (max(there - limits.upper[r, node], 0.0) + max(limits.lower[r, node] - there, 0.0)) / by
    return float(total)
