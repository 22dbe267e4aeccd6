"""List scheduling of a whole repair: queries by priority per remaining work, each whole as early as it can be."""

from __future__ import annotations

from math import inf

from ftplan.compiled import pays_within
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement
from ftplan.planners.recovery_schedule.algorithms.repair.search import query_moves as moves
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_arrays import (
    Repair,
    arrays_of,
    current,
    empty,
)
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_rows import LATEST, SOONEST, TIGHTEST
from ftplan.planners.recovery_schedule.algorithms.repair.search.query_orders import orders


def list_schedule(instance: RepairInstance, budget: Budget | None = None) -> RepairPlacement:
    """Return the best of some list schedules ([Graham1969]), as many as there is time for; no guarantee.

    Queries come by priority over the work that is left of them, in cores, in seconds of restoring or in both, where a
    task that several need counts in parts or for the first. Each is whole as early as it can be with what is in front
    of it; where its tasks need not be first they leave the early hosts, or the large holes, to others. Ties end at
    names. Cost O(entries · log + tasks · (hosts + queues)).
    """
    repair = arrays_of(instance)
    placed = empty(repair)
    best: RepairPlacement | None = None
    least = inf
    left_s = inf if budget is None else budget.left_s
    construct = moves.construct if pays_within(moves.construct, size(repair), left_s) else moves.construct.plain
    for order in orders(repair):
        for way in (LATEST, TIGHTEST, SOONEST):
            if best is not None and budget is not None and budget.over():
                return best
            construct(repair, placed, order, way)
            if placed.loss[0] < least:
                least, best = float(placed.loss[0]), current(repair, placed)
    return current(repair, placed) if best is None else best


def size(repair: Repair) -> int:
    """Return about how many elementary steps a list schedule takes."""
    steps: int = 20 * repair.of_task.shape[1] * max(1, len(repair.there)) + len(repair.member)
    return steps
