"""The cheapest groups that leave a node which is above its limit: a knapsack cover."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray


def cheapest_cover(
    cost: FloatArray, load: FloatArray, excess: float, units: int, enough: bool = False
) -> tuple[float, BoolArray]:
    """Return what the cheapest groups with at least the excess in load cost, and which they are.

    By dynamic programming over the load still to leave, in *units* of the excess. Loads are rounded up: a relaxation,
    so that the cost is a lower bound; with *enough* they are rounded down, so that the groups are a cover indeed.
    Groups that cost less than nothing are always among them, and do not count in the cost returned. Infinite where all
    together are too little. Cost O(groups x units).
    """
    chosen = cost < 0.0
    exact = load / excess * units
    weight = np.floor(exact) if enough else np.ceil(exact * (1.0 - NOISE))
    weight = np.minimum(weight, units).astype(np.int64)
    need = units - int(weight[chosen].sum())
    if need <= 0:
        return 0.0, chosen
    items = np.flatnonzero(~chosen & (weight > 0) & np.isfinite(cost))
    if int(weight[items].sum()) < need:
        return np.inf, chosen
    items = items[np.argsort(cost[items] / weight[items], kind="stable")]
    least = np.full(need + 1, np.inf)  # cost of covering so much
    least[0] = 0.0
    taken = np.zeros((len(items), need + 1), dtype=np.bool_)
    with_it = np.empty(need + 1)
    for row, item in enumerate(items.tolist()):
        w = min(int(weight[item]), need)
        with_it[:w] = least[0]
        with_it[w:] = least[: need + 1 - w]
        with_it += cost[item]
        np.less(with_it, least, out=taken[row])
        np.minimum(least, with_it, out=least)
    left = need
    for row in range(len(items) - 1, -1, -1):
        if left > 0 and taken[row, left]:
            chosen[items[row]] = True
            left = max(0, left - int(weight[items[row]]))
    return float(least[need]), chosen
