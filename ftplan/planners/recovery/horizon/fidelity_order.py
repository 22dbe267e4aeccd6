"""An order of recovery for output fidelity: give up, one after another, what is worth least; come back the other way.

A single task often gains nothing before all of its path is back, so growing a set task by task is blind. Shrinking the
whole is not: while everything lives, each task's loss is known, and a path that has lost one task is worth nothing, so
that the rest of it goes next.
"""

from __future__ import annotations

import numpy as np

from ftplan.metrics.fidelity import FidelityModel
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget

#: Passes in which everything is given up: each takes away this share of the cost, or one task.
PASSES = 400
_NOTHING = 1e-15


def giving_up(
    model: FidelityModel,
    down: BoolArray,
    wanted: BoolArray,
    cost: FloatArray,
    rank: IntArray,
    budget: Budget,
    *,
    paths: bool,
) -> IntArray:
    """Return the wanted tasks in the order in which they shall come back.

    Parameters
    ----------
    down, wanted, rank
        Shape (tasks,): what does not work now, what of that can be recovered, and an order that ends ties.
    paths
        Whether a task is charged for what only serves with it: the cost of its path, upstream and downstream, by the
        share that flows through it. Otherwise for itself alone.

    Notes
    -----
    A heuristic; nothing is promised. ``PASSES`` passes over the streams, each of one evaluation and one derivative.
    """
    live = ~down | wanted
    charged = np.where(wanted, cost, 0.0)
    order: list[IntArray] = []  # the last to come back first
    left = np.flatnonzero(wanted & (cost > 0.0))
    share = float(charged.sum()) / budget.passes(PASSES)
    while len(left) and not budget.over():
        intact = model.intact(live)
        slope = model.slope(live, intact)
        loss = slope[left] * intact[left]
        useless = left[loss <= _NOTHING]
        if len(useless):
            gone = useless[np.argsort(-rank[useless], kind="stable")]
        else:
            price = charged.copy()
            if paths:
                price += _along(model, live, intact, slope, charged)
            ranked = left[np.lexsort((-rank[left], loss / price[left]))]
            many = 1 + int(np.searchsorted(np.cumsum(cost[ranked]), share, side="right"))
            gone = ranked[:many]
        live[gone] = False
        charged[gone] = 0.0
        order.append(gone)
        left = left[live[left]]
    order.append(left[np.argsort(-rank[left], kind="stable")])
    free = np.flatnonzero(wanted & (cost <= 0.0))
    paid = np.concatenate(order)[::-1]
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
