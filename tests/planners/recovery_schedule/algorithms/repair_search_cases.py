"""What is left of small repairs at their first step, and the least loss where tasks wait for their queries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    NOWHERE,
    RepairInstance,
    RepairPlacement,
    instance_of,
    value,
)
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import at_failure
from ftplan.planners.recovery_schedule.problem import RecoveryProblem
from tests.planners.recovery_schedule.algorithms.repair_cases import random_repair


def at_first(problem: RecoveryProblem, prefetch: bool = True) -> RepairInstance:
    """Return what there is to plan at the step of the failure."""
    return instance_of(at_failure(problem), prefetch)


def varied(seed: int, most_tasks: int = 5, most_arrivals: int = 3, *, prefetch: bool = True) -> RepairInstance:
    """Return a small repair whose lanes may be busy, whose tasks are noticed one by one, and some of them alike."""
    instance = at_first(random_repair(seed, most_tasks, most_arrivals), prefetch)
    rng = np.random.default_rng([seed, 1])
    count = len(instance.task)
    if rng.random() < 0.3:
        instance = replace(instance, lanes=np.round(rng.random(instance.lanes.shape) * 20.0))
    if rng.random() < 0.3:
        instance = replace(instance, noticed_s=rng.choice([0.0, 6.0, 12.0], count))
    if rng.random() < 0.3:
        instance = replace(instance, floor_s=rng.choice([0.0, 20.0], len(instance.priority)))
    if rng.random() < 0.3:
        instance = replace(instance, cost=np.full(count, 0.5), restore_s=np.full(count, 7.0), near=())
    if rng.random() < 0.3:
        instance = replace(instance, horizon_s=float(rng.choice([15.0, 25.0])))
    if rng.random() < 0.3 and len(instance.room) > 1:
        instance = replace(instance, room=np.full(len(instance.room), 1.0), near=())
    return instance


def waiting_placements(instance: RepairInstance) -> Iterator[RepairPlacement]:
    """Yield every placement that fits in which each task waits for a query that is whole with it, in every order."""
    tasks = range(len(instance.task))
    starts = [(h, s) for h, there in enumerate(instance.there_s) for s in instance.steps if s >= there]
    members = [set(instance.queries.members(q).tolist()) for q in range(len(instance.priority))]
    needs = [[t for t in tasks if int(instance.bundle[t]) in own] for own in members]
    for chosen in itertools.product([(NOWHERE, np.inf), *starts], repeat=len(tasks)):
        host, step_s = np.array([h for h, _ in chosen], dtype=np.int64), np.array([s for _, s in chosen])
        whole_s = [max(step_s[t] for t in needed) for needed in needs]
        begun_ahead = any(
            host[t] >= 0
            and not any(t in needed and whole <= step_s[t] for needed, whole in zip(needs, whole_s, strict=True))
            for t in tasks
        )
        if begun_ahead or not instance.fits(host):
            continue
        queues = [[t for t in tasks if chosen[t] == key and instance.seconds[t, key[0]] > 0.0] for key in starts]
        rest = [t for t in tasks if not any(t in queue for queue in queues)]
        for order in itertools.product(*(itertools.permutations(queue) for queue in queues)):
            yield RepairPlacement(host, np.array([t for queue in order for t in queue] + rest, dtype=np.int64), step_s)


def least_loss_waiting(instance: RepairInstance) -> float:
    """Return the least Σ priority × seconds down of all placements that begin nothing ahead of its queries."""
    return min(value(instance, placement) for placement in waiting_placements(instance))
