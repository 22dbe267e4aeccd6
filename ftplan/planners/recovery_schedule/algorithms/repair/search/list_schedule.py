"""List scheduling of a whole repair: queries by priority per remaining work, each whole as early as it can be."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from math import inf

import numpy as np

from ftplan.compiled import pays_within
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement
from ftplan.planners.recovery_schedule.algorithms.repair.search import placement_rows as row
from ftplan.planners.recovery_schedule.algorithms.repair.search import query_moves as moves
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_arrays import (
    RepairArrays,
    arrays_of,
    current,
    empty,
)
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_rows import LATEST, SOONEST, TIGHTEST

#: Shares of cores and of seconds in lanes in the work of a task.
WEIGHTS = ((1.0, 0.0), (1.0, 1.0), (0.0, 1.0))


def weighted(repair: RepairArrays, cores: float, seconds: float) -> FloatArray:
    """Return the work of each bundle, shape (B,)."""
    return np.asarray(cores * repair.of_bundle[row.CORES] + seconds * repair.of_bundle[row.WORK], dtype=np.float64)


def orders(repair: RepairArrays) -> Iterator[IntArray]:
    """Yield orders of all queries: by the work that is left when those in front are there, and by shares of it."""
    sharing = np.diff(repair.by_start)
    seen: set[bytes] = set()
    for cores, seconds in WEIGHTS:
        work = weighted(repair, cores, seconds)
        if not work.any() and seen:
            continue
        for order in (by_density(repair, work / np.maximum(sharing, 1)), by_density_left(repair, work)):
            if order.tobytes() not in seen:
                seen.add(order.tobytes())
                yield order


def density(repair: RepairArrays, work: FloatArray) -> FloatArray:
    """Return priority over work of each query, shape (Q,)."""
    of_entry = np.repeat(np.arange(repair.of_query.shape[1]), np.diff(repair.start))
    sums = np.bincount(of_entry, work[repair.member], minlength=repair.of_query.shape[1])
    return np.asarray(repair.of_query[row.PRIORITY] / (sums + 1e-12), dtype=np.float64)


def by_density(repair: RepairArrays, work: FloatArray) -> IntArray:
    """Return queries by priority over work, ties by number."""
    return np.lexsort((np.arange(repair.of_query.shape[1]), -density(repair, work)))


def by_density_left(repair: RepairArrays, work: FloatArray) -> IntArray:
    """Return queries by priority over the work that those in front of them leave. Cost O(entries · log)."""
    of_entry = np.repeat(np.arange(repair.of_query.shape[1]), np.diff(repair.start))
    left = np.bincount(of_entry, work[repair.member], minlength=repair.of_query.shape[1]).tolist()
    priority, paid, done = (
        repair.of_query[row.PRIORITY].tolist(),
        np.zeros(len(work), dtype=np.bool_),
        [False] * len(left),
    )
    heap = [(-p / (w + 1e-12), q) for q, (p, w) in enumerate(zip(priority, left, strict=True))]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        _, q = heapq.heappop(heap)
        if done[q]:
            continue
        done[q] = True
        order.append(q)
        changed: set[int] = set()
        for b in repair.member[repair.start[q] : repair.start[q + 1]].tolist():
            if not paid[b]:
                paid[b] = True
                if work[b] > 0.0:
                    sharing = repair.by_query[repair.by_start[b] : repair.by_start[b + 1]].tolist()
                    for other in sharing:
                        left[other] = max(0.0, left[other] - float(work[b]))
                    changed.update(sharing)
        for other in sorted(changed):
            if not done[other]:
                heapq.heappush(heap, (-priority[other] / (left[other] + 1e-12), other))
    return np.array(order, dtype=np.int64)


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


def size(repair: RepairArrays) -> int:
    """Return about how many elementary steps a list schedule takes."""
    steps: int = 20 * repair.of_task.shape[1] * max(1, len(repair.there)) + len(repair.member)
    return steps
