"""A whole repair and a placement of its tasks as plain arrays, for compiled moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.random_draws import random_stream
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement
from ftplan.planners.recovery_schedule.algorithms.repair.search import placement_rows as row


class RepairArrays(NamedTuple):
    """A :class:`RepairInstance` as plain arrays: J tasks, H hosts with N lanes, Q queries, B bundles, K steps.

    The rows of those that are called ``of_…`` are named in :mod:`placement_rows`.
    """

    of_query: FloatArray  # (2, Q) priority, seconds before which it is not whole
    of_task: FloatArray  # (8, J)
    of_bundle: FloatArray  # (2, B) shares of all cores, and of all seconds in lanes
    start: IntArray  # (Q + 1,)
    member: IntArray  # (start[Q],) bundles of each query
    by_start: IntArray  # (B + 1,)
    by_query: IntArray  # (by_start[B],) queries of each bundle
    task_start: IntArray  # (B + 1,)
    tasks: IntArray  # (J,) of each bundle
    bundle: IntArray  # (J,)
    near_start: IntArray  # (J + 1,)
    near: FloatArray  # (2, near_start[J]) hosts where some of the state of a task lies, seconds in a lane there
    there: FloatArray  # (H,)
    lanes: FloatArray  # (H, N)
    steps: FloatArray  # (K,)
    limit: FloatArray  # (H + 1,) cores, the pool last
    span: FloatArray  # (3,) now, the horizon, seconds of a restart
    pooled: int  # hosts [0, pooled) share the pool
    prefetch: bool


class PlacementArrays(NamedTuple):
    """Where tasks are, in which order they are restored, what follows from it, and what a round has changed.

    The rows are named in :mod:`placement_rows`. Tasks that fetch state stand in the queue of their host as a linked
    list, the larger their key, the earlier; tasks are started for the queries that are *chosen*.
    """

    task_real: FloatArray  # (8, J)
    task_int: IntArray  # (8, J)
    query_real: FloatArray  # (5, Q)
    query_int: IntArray  # (6, Q)
    whole: FloatArray  # (B,) when the last task of a bundle has caught up
    bundle_int: IntArray  # (3, B)
    head: IntArray  # (H,) the first of the queue, -1 for none
    free: FloatArray  # (H + 1,) cores, the pool last
    lane: FloatArray  # (N,) room to work in
    noise: FloatArray  # (3,)
    counter: IntArray  # (6,) the last is the state of the random numbers
    loss: FloatArray  # (2,) now and at best


def arrays_of(instance: RepairInstance) -> RepairArrays:
    """Return an instance as plain arrays. Cost O(entries · log)."""
    q, tasks = instance.queries, len(instance.task)
    by_task = np.argsort(instance.bundle, kind="stable")
    near = np.array([(t, h) for t, h, _ in instance.near], dtype=np.int64).reshape(-1, 2)
    bulk = np.empty(tasks, dtype=np.int64)
    bulk[np.lexsort((np.arange(tasks), -instance.restore_s, -instance.cost))] = np.arange(tasks)
    pool = instance.pool if np.isfinite(instance.pool) else float(instance.room.sum()) + 1.0
    limit = np.append(instance.room, pool)
    span = max(0.0, instance.horizon_s - instance.at_s)
    supply = float(instance.room[: instance.pooled].sum())
    cores = min(supply, pool) + float(instance.room[instance.pooled :].sum())
    lanes = instance.lanes.shape[1] * float(np.clip(instance.horizon_s - instance.there_s, 0.0, span).sum())
    return RepairArrays(
        of_query=np.array([instance.priority, np.maximum(instance.floor_s, instance.at_s)], dtype=np.float64),
        of_task=np.array(
            [
                instance.cost,
                instance.noticed_s,
                instance.down_s,
                instance.replay_s,
                instance.catch_up,
                instance.restore_s,
                _urgency(instance),
                bulk,
            ],
            dtype=np.float64,
        ),
        of_bundle=np.array(
            [
                _summed(instance, instance.cost) / max(cores, 1e-9),
                _summed(instance, instance.restore_s) / max(lanes, 1e-9),
            ]
        ),
        start=q.start,
        member=q.member,
        by_start=_starts(q.member, q.bundles),
        by_query=q.row[np.argsort(q.member, kind="stable")],
        task_start=_starts(instance.bundle, q.bundles),
        tasks=by_task,
        bundle=instance.bundle,
        near_start=_starts(near[:, 0], tasks),
        near=np.array([(h, seconds) for _, h, seconds in instance.near], dtype=np.float64).reshape(-1, 2).T.copy(),
        there=instance.there_s,
        lanes=np.ascontiguousarray(instance.lanes),
        steps=instance.steps,
        # a hair below what counts as fitting, so that rounding errors of many additions never pass it
        limit=limit + 0.5 * ROUNDING * np.maximum(1.0, np.abs(limit)),
        span=np.array([instance.at_s, instance.horizon_s, instance.restart_s]),
        pooled=instance.pooled,
        prefetch=instance.prefetch,
    )


def empty(repair: RepairArrays, seed: int = 0) -> PlacementArrays:
    """Return a placement of nothing."""
    tasks, queries, bundles = (a.shape[1] for a in (repair.of_task, repair.of_query, repair.of_bundle))
    placed = PlacementArrays(
        task_real=np.zeros((8, tasks)),
        task_int=np.full((8, tasks), -1, dtype=np.int64),
        query_real=np.zeros((5, queries)),
        query_int=np.zeros((6, queries), dtype=np.int64),
        whole=np.full(bundles, np.inf),
        bundle_int=np.zeros((3, bundles), dtype=np.int64),
        head=np.full(len(repair.there), -1, dtype=np.int64),
        free=repair.limit.copy(),
        lane=np.zeros(repair.lanes.shape[1]),
        noise=np.zeros(3),
        counter=np.concatenate((np.zeros(5, dtype=np.int64), random_stream(seed))),
        loss=np.full(2, np.inf),
    )
    placed.task_real[[row.READY, row.CAUGHT]] = np.inf
    placed.query_real[row.BACK] = np.inf
    return placed


def placement_of(repair: RepairArrays, host: IntArray, key: FloatArray, step: FloatArray) -> RepairPlacement:
    """Return a placement as an answer; tasks without a host come last in the order."""
    order = np.lexsort((np.arange(len(host)), -key, step, host < 0))
    return RepairPlacement(host.copy(), order, None if repair.prefetch else np.where(host < 0, np.inf, step))


def current(repair: RepairArrays, placed: PlacementArrays) -> RepairPlacement:
    """Return a placement as it is now."""
    return placement_of(repair, placed.task_int[row.HOST], placed.task_real[row.KEY], placed.task_real[row.STEP])


def best_of(repair: RepairArrays, placed: PlacementArrays) -> RepairPlacement:
    """Return the placement that lost least so far."""
    real = placed.task_real
    return placement_of(repair, placed.task_int[row.BEST_HOST], real[row.BEST_KEY], real[row.BEST_STEP])


def _starts(group: IntArray, groups: int) -> IntArray:
    return np.concatenate(([0], np.cumsum(np.bincount(group, minlength=groups)))).astype(np.int64)


def _urgency(instance: RepairInstance) -> FloatArray:
    """Return which tasks of a query are restored first: those that have most to catch up with, then the longest."""
    tasks = len(instance.task)
    tail = instance.replay_s + instance.catch_up * (instance.horizon_s - instance.at_s)
    urgency = np.empty(tasks)
    urgency[np.lexsort((-np.arange(tasks), instance.restore_s, tail))] = np.arange(tasks) / max(1, tasks)
    return urgency


def _summed(instance: RepairInstance, per_task: FloatArray) -> FloatArray:
    sums = np.bincount(instance.bundle, per_task, minlength=instance.queries.bundles)
    return np.asarray(sums, dtype=np.float64)
