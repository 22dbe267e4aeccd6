"""Moves and swaps that bring an allocation within the limits on its nodes at little cost."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.allocate_checkpoints.algorithms.search.rated_changes import (
    RepairChange,
    moves_off,
    moves_onto,
    swaps_with,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.repair_in_bulk import repair_in_bulk
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget

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
    for _ in range(budget.passes(1000 + 4 * slots)):
        if allocation.kept():
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
    return allocation.kept()


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
