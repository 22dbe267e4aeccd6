"""A finished schedule as a placement of the instance that it answers: a start for searches; and starts that wait."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement
from ftplan.planners.recovery_schedule.schedule import Schedule


def delayed_to_whole_queries(instance: RepairInstance, placement: RepairPlacement) -> RepairPlacement:
    """Return the same placement with each task started when the first query that needs it has all its tasks started."""
    at_s = np.full(len(placement.host), np.inf)
    on = placement.host >= 0
    at_s[on] = instance.there_s[placement.host[on]]
    step_s = first_whole(instance, at_s)
    host = np.where(np.isfinite(step_s), placement.host, NOWHERE)
    return RepairPlacement(host, placement.order, step_s)


def first_whole(instance: RepairInstance, at_s: FloatArray) -> FloatArray:
    """Return when the first query that needs each task has all its tasks started, infinite for never, shape (J,).

    *at_s* is when each task is started, infinite for never, shape (J,).
    """
    queries = instance.queries
    of_bundle = np.full(queries.bundles, -np.inf)
    np.maximum.at(of_bundle, instance.bundle, at_s)
    of_query = np.full(queries.queries, -np.inf)
    np.maximum.at(of_query, queries.row, of_bundle[queries.member])
    first = np.full(queries.bundles, np.inf)
    np.minimum.at(first, queries.member, of_query[queries.row])
    return np.asarray(first[instance.bundle], dtype=np.float64)


def placement_of_schedule(schedule: Schedule, instance: RepairInstance) -> RepairPlacement | None:
    """Return what a schedule starts from ``instance.at_s`` on, each task where and as early as its host is there.

    Without prefetch a task keeps its step. None where parts of tasks are placed, or where the instance, which knows of
    no failures to come, has no room for it all. Cost O(tasks).
    """
    row = {task: j for j, task in enumerate(instance.task.tolist())}
    place = {number: h for h, number in enumerate(instance.host.tolist())}
    host = np.full(len(row), NOWHERE, dtype=np.int64)
    step_s = np.full(len(row), instance.at_s)
    order: list[int] = []
    for step in schedule.steps:
        if step.at_s < instance.at_s:
            continue
        for item in step.recover:
            if item.key_groups is not None:
                return None
            j, h = row.get(item.task, NOWHERE), place.get(item.host, NOWHERE)
            if j != NOWHERE and h != NOWHERE and host[j] == NOWHERE and step.at_s >= instance.there_s[h]:
                host[j], step_s[j] = h, step.at_s
                order.append(j)
    left = np.flatnonzero(host == NOWHERE).tolist()
    whole = instance.prefetch or _for_whole_queries(instance, host, step_s)
    if not whole or not instance.fits(host):
        return None
    return RepairPlacement(host, np.array(order + left, dtype=np.int64), None if instance.prefetch else step_s)


def _for_whole_queries(instance: RepairInstance, host: IntArray, step_s: FloatArray) -> bool:
    """Return whether each task is started at a step by which some query that needs it misses no other."""
    at_s = np.where(host == NOWHERE, np.inf, step_s)
    return bool(np.all((host == NOWHERE) | (at_s >= first_whole(instance, at_s))))
