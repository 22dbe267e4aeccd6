"""Restoring as many rules as few moves allow, where keeping all of them would take more."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import CurrentAllocation, MoveLimits
from ftplan.planners.allocate_checkpoints.algorithms.search.partial_allocation import (
    NOISE,
    PartialAllocation,
    SingleChange,
)
from ftplan.planners.budget import Budget

#: Pairs of unit and node up to which every change is looked at before each move; beyond it units go one by one.
MOST_PAIRS_FOR_ALL = 200_000


def restore_in_part(
    current: CurrentAllocation, limits: Limits, allowance: MoveLimits, budget: Budget
) -> PartialAllocation:
    """Return the copies in place with what few moves make better: fewer defects, then a smaller breach, then less cost.

    Guarantee: within the allowance; none of defects, breach and failover excess is more than now, nor the cost where
    the others are the same; where a single change gains and is affordable, something gains. Greedy, one change at a
    time: not the best that the moves allow. Cost O(U c N) a move in small problems, O(c N) in large ones
    (:data:`MOST_PAIRS_FOR_ALL`), until the time is up.
    """
    partial = PartialAllocation(current, limits, allowance)
    heavy: IntArray = np.argsort(-current.problem.load, kind="stable")
    search = _best_of_all if heavy.size * current.problem.cost.shape[1] <= MOST_PAIRS_FOR_ALL else _one_by_one
    search(partial, heavy, budget)
    return partial


def _best_of_all(partial: PartialAllocation, heavy: IntArray, budget: Budget) -> None:
    """Make the change that gains most of all, again and again."""
    banned: set[tuple[int, int, int]] = set()
    while not budget.over():
        broken = heavy[partial.defects[heavy] > 0].tolist()
        change = partial.best(broken, banned)
        if change is None or change.gain[0] == 0:
            change = partial.best(heavy.tolist(), banned)
        if change is None:
            return
        if _tried(partial, change):
            banned.clear()
        else:
            banned.add(change.key)


def _one_by_one(partial: PartialAllocation, heavy: IntArray, budget: Budget) -> None:
    """Go through the units, the heaviest first, and make what gains most for each: defects, breaches, then cost."""
    for least in ((-1, np.inf), (0, -NOISE), (0, np.inf)):
        changed = True
        while changed:
            changed = False
            units = heavy[partial.defects[heavy] > 0] if least[0] else heavy
            for unit in units.tolist():
                if budget.over() or partial.allowance.exceeded(partial.moves + 1, 0.0):
                    return
                change = partial.best([unit], set())
                if change is not None and change.gain[:2] <= least:
                    changed |= _tried(partial, change)


def _tried(partial: PartialAllocation, change: SingleChange) -> bool:
    """Make a change, and take it back where survivors would take over more beyond the failover limit than now."""
    excess, row = partial.failover_excess, list(partial.nodes[change.unit])
    partial.make(change)
    if partial.failover_excess <= excess * (1 + NOISE) + NOISE:
        return True
    partial.place(change.unit, row)
    return False


def padded(partial: PartialAllocation) -> IntArray:
    """Return the copies as an array (U, most), -1 where a unit has fewer."""
    most = max([partial.current.problem.copies, *map(len, partial.nodes)])
    rows = [[*row, *[-1] * (most - len(row))] for row in partial.nodes]
    return np.array(rows, dtype=np.int64).reshape(len(rows), most)


def least_cost(current: CurrentAllocation) -> float:
    """Return what no copies cost less than, whatever rules they break: up to as many of each unit as there may be."""
    p = current.problem
    most = np.maximum(current.count, p.copies)
    sums = np.cumsum(np.sort(p.cost, axis=1), axis=1)
    least = [min(0.0, float(row[:count].min(initial=0.0))) for row, count in zip(sums, most.tolist(), strict=True)]
    return float(sum(least))
