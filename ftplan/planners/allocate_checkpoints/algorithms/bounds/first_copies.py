"""The part of a Lagrangian that belongs to one unit where its first copy has a price of its own.

With failover, to the prices of the limits on nodes comes a price q >= 0 for each loss and survivor, paid by the first
copy: the unit's part is ``the cheapest choice of c nodes and of a first one among them, at
cost(u,i) + sum_r weight[r,u] y[r,i], plus load[u] q[loss[u],i] for the first``.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.models.separate import cheapest
from ftplan.planners.allocate_checkpoints.algorithms.rules.failover import Failover


def ordered_cheapest(
    cost: FloatArray, extra: FloatArray, domain: IntArray, copies: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the cheapest *copies* nodes of different domains with the first of them in front, and their total.

    *cost* (U, N) is infinite where no copy may be; the first copy pays *extra* (U, N) too. The others are the cheapest
    outside the first one's domain: of the cheapest nodes of all, leave out the one that shares it, or the last. Third
    comes the total for every first node, shape (U, N). Cost O(U N copies).
    """
    if copies == 1:
        with_first = cost + extra
        first = with_first.argmin(axis=1)
        return first[:, None], with_first[np.arange(first.size), first], with_first
    chosen, total = cheapest(cost, domain, copies)
    units = np.arange(cost.shape[0])
    each = np.take_along_axis(cost, chosen, axis=1)
    left_out = np.full(cost.shape, copies - 1)
    for k in range(copies - 1):
        left_out[domain[None, :] == domain[chosen[:, k]][:, None]] = k
    with_first = cost + extra + total[:, None] - np.take_along_axis(each, left_out, axis=1)
    first = with_first.argmin(axis=1)
    others = chosen[np.arange(copies)[None, :] != left_out[units, first][:, None]].reshape(-1, copies - 1)
    return np.column_stack([first, others]), with_first[units, first], with_first


def paid_by_first(failover: Failover, first: FloatArray) -> FloatArray:
    """Return what the first copy of each unit pays beside the other prices, shape (U, N)."""
    return np.asarray(failover.load[:, None] * first[failover.loss])
