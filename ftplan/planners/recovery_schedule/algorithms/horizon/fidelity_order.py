"""An order of recovery for output fidelity by reverse greedy: remove what loses least, recover in reverse order.

A single task often gains nothing before all of its path is back, so greedy growth is blind. Removal is not: while
everything lives, each task's loss is known, and a path that has lost one task gains nothing, so that its rest goes
next.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget

#: Passes in which everything is removed: each takes away this share of the cost, or one task.
PASSES = 400
_NOTHING = 1e-15


def reverse_greedy(
    model: FidelityModel,
    down: BoolArray,
    wanted: BoolArray,
    cost: FloatArray,
    rank: IntArray,
    budget: Budget,
    *,
    paths: bool,
) -> IntArray:
    """Return the wanted tasks in the order in which they shall come back, the last removed first.

    A heuristic without a guarantee. ``PASSES`` passes over the streams, each of one evaluation and one derivative.

    Parameters
    ----------
    down, wanted, rank
        Shape (tasks,): what does not work now, what of that can be recovered, and an order that ends ties.
    paths
        Whether a task is charged for what only serves with it: the cost of its path, upstream and downstream, by the
        share that flows through it. Otherwise for itself alone.
    """
    live = ~down | wanted
    charged = np.where(wanted, cost, 0.0)
    removed: list[IntArray] = []
    left = np.flatnonzero(wanted & (cost > 0.0))
    share = float(charged.sum()) / max(1, budget.passes(PASSES))
    while len(left) and not budget.over():
        intact = model.intact(live)
        slope = model.slope(live, intact)
        loss = slope[left] * intact[left]
        batch = left[loss <= _NOTHING]
        if len(batch):
            batch = batch[np.argsort(-rank[batch], kind="stable")]
        else:
            price = charged + (_along(model, live, intact, slope, charged) if paths else 0.0)
            ranked = left[np.lexsort((-rank[left], loss / price[left]))]
            many = 1 + int(np.searchsorted(np.cumsum(cost[ranked]), share, side="right"))
            batch = ranked[:many]
        live[batch] = False
        charged[batch] = 0.0
        removed.append(batch)
        left = left[live[left]]
    removed.append(left[np.argsort(-rank[left], kind="stable")])
    free = np.flatnonzero(wanted & (cost <= 0.0))
    paid = np.concatenate(removed)[::-1]
    return np.concatenate((free[np.argsort(rank[free], kind="stable")], paid)).astype(np.int64)


def _along(
    model: FidelityModel, live: BoolArray, intact: FloatArray, slope: FloatArray, cost: FloatArray
) -> FloatArray:
    """Return the cost of what depends on each task, downstream and upstream, by the share of its work that does."""
    after = np.zeros(len(live))
    for level in reversed(model.levels):
        below = (cost + after * intact)[level.task][level.owner]
        means = level.means(intact)
        level.pass_back(np.divide(below, means, out=np.zeros(level.slots), where=means > 0.0), after)
    before = np.zeros(len(live))
    for level in model.levels:
        whole = np.divide(cost + before, slope, out=np.zeros(len(live)), where=slope > 0.0)
        through = level.slot_slopes(live, level.means(intact), slope) * level.sums(whole)
        np.add.at(before, level.task[level.owner], through)
    return np.asarray(after * intact + before, dtype=np.float64)
