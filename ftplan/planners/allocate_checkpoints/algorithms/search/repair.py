"""Moves and swaps that bring an allocation within all limits at little cost: nodes first, then failover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.planners.allocate_checkpoints.algorithms.search.local_search import OPERATORS, SWAP
from ftplan.planners.allocate_checkpoints.algorithms.search.node_repair import (
    LEAST_RELIEF,
    MOVES_PER_ITERATION,
    RatedChanges,
    RepairChange,
    repair_nodes,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget, OutOfTime


def repair(allocation: WorkingAllocation, budget: Budget) -> bool:
    """Change an allocation until all limits hold; return whether they do.

    First :func:`repair_nodes`, then failover without leaving the limits on nodes. May end stuck.
    """
    failover = allocation.limits.failover
    if failover is None:
        return repair_nodes(allocation, budget)
    bare = replace(allocation, limits=replace(allocation.limits, failover=None))
    if not repair_nodes(bare, budget) or bool((failover.upper < 0).any()):
        return False
    allocation.used = bare.used
    return _spread_takeovers(allocation, budget) and allocation.is_feasible()


def _spread_takeovers(allocation: WorkingAllocation, budget: Budget) -> bool:
    """Reduce the breach of the failover limit until it is gone; return whether it is.

    Each step takes the loss and the survivor with the largest breach (ties to the first) and makes the change of one
    of the first copies there that costs least for the breach that it removes; where none helps, the next largest. Every
    step reduces the total breach. Cost O(copies there · U c) a step.
    """
    failover, copies = allocation.limits.failover, allocation.problem.copies
    assert failover is not None
    allocation.count_takeovers()
    assert allocation.taken is not None
    least = LEAST_RELIEF * max(float(failover.load.sum()), 1e-300) / max(failover.own.size, 1)
    for _ in range(budget.passes(1000 + 4 * allocation.flat.size, MOVES_PER_ITERATION)):
        breach = np.maximum(allocation.taken - failover.upper, 0.0).reshape(-1)
        broken = np.flatnonzero(breach > 0)
        if not broken.size:
            return True
        for place in broken[np.argsort(-breach[broken], kind="stable")].tolist():
            loss, node = divmod(place, failover.own.size)
            units = np.flatnonzero((failover.loss == loss) & (allocation.copies[:, 0] == node))
            try:
                change = min(_cheapest(allocation, (units * copies).tolist(), least, budget), default=None)
            except OutOfTime:
                return False
            if change is not None:
                change.make(allocation)
                break
        else:
            return False
    return False


def _cheapest(allocation: WorkingAllocation, slots: list[int], least: float, budget: Budget) -> list[RepairChange]:
    """Return the cheapest move and the cheapest swap of each slot for the breach that it removes."""
    cheapest = []
    for slot in slots:
        budget.check()
        for operator in OPERATORS:
            cost = -operator.savings(allocation, slot)
            feasible = operator.feasible(allocation, slot, np.ones(cost.size, dtype=np.bool_))
            relief = np.where(feasible, operator.relief(allocation, slot), 0.0)
            rated = RatedChanges(np.array([slot]), np.arange(cost.size), relief[None, :], cost[None, :])
            cheapest += rated.cheapest(operator is SWAP, least)
    return cheapest
