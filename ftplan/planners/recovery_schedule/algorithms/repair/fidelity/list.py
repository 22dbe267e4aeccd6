"""Tasks placed one after another, each where it has caught up first."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement


def placed_in_order(instance: RepairInstance, order: IntArray) -> RepairPlacement:
    """Return a placement of the tasks in an order, (J,): each to the host with room where it runs first.

    Of equals to that with the least room left, then the first. Cost O(J · (hosts + lanes)).
    """
    host = np.full(len(instance.task), NOWHERE, dtype=np.int64)
    room, pool, lanes = instance.room.copy(), instance.pool, instance.lanes.copy()
    pooled = np.arange(len(room)) < instance.pooled
    free = lanes.min(axis=1, initial=np.inf)
    for task in order.tolist():
        cost = float(instance.cost[task])
        less = cost - ROUNDING * max(1.0, cost)
        fits = np.flatnonzero((room >= less) & (~pooled | (pool >= less)))
        if len(fits) == 0:
            continue
        lasts = instance.seconds[task, fits]
        begins = instance.starts(instance.there_s[fits], task)
        ready = np.where(lasts > 0.0, np.maximum(begins, free[fits]) + lasts, begins)
        best = int(np.lexsort((fits, room[fits], ready))[0])
        place = int(fits[best])
        host[task] = place
        room[place] -= cost
        pool -= cost if pooled[place] else 0.0
        if lasts[best] > 0.0:
            lanes[place, int(np.argmin(lanes[place]))] = ready[best]
            free[place] = lanes[place].min()
    return RepairPlacement(host, order)
