"""An order of queries from the repair in sums: cores of all nodes together, no restores."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery_schedule.algorithms.horizon.ruin_and_recreate import insert_in_order, ruin_and_recreate
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import TimeIndexedKnapsack
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance


def order_in_sums(instance: RepairInstance, budget: Budget, seed: int) -> IntArray:
    """Return queries by the step at which they are whole where only cores count, then by density, shape (Q,).

    Thousands of queries are ordered well in seconds so, which no search over nodes and queues is. Those that are never
    whole come last.
    """
    problem = in_sums(instance)
    density = problem.knapsack.density
    order = np.lexsort((np.arange(len(density)), -density))
    step = ruin_and_recreate(problem, insert_in_order(problem, order), budget, seed)
    return np.lexsort((np.arange(len(step)), -density, problem.completed(step)))


def in_sums(instance: RepairInstance) -> TimeIndexedKnapsack:
    """Return the repair as a choice of queries for each step. Restores are left out, and what is waited for."""
    queries, times = instance.queries, instance.steps
    usable = np.minimum(instance.room, fillable(instance.room, instance.cost))
    step = np.searchsorted(times, instance.there_s)
    mine = np.arange(len(usable)) < instance.pooled
    shared = _by_step(step[mine], usable[mine], len(times))
    capacity = np.minimum(shared, instance.pool) + _by_step(step[~mine], usable[~mine], len(times))
    weight = np.bincount(queries.bundle, instance.cost, minlength=queries.bundles).astype(np.float64)
    tail_s = instance.replay_s + instance.catch_up * (times[:, None] - instance.down_s).clip(0.0)
    back_s = times + instance.restart_s + tail_s.mean(axis=1)
    gain = np.append(np.maximum(instance.horizon_s - back_s, 0.0), 0.0)
    return TimeIndexedKnapsack(
        knapsack=SetUnionKnapsack(instance.priority, weight, queries.start, queries.member, float(capacity[-1])),
        release=_release(instance, step, len(times)),
        capacity=capacity,
        gain=gain,
    )


def _by_step(step: IntArray, cores: FloatArray, steps: int) -> FloatArray:
    return np.asarray(np.cumsum(np.bincount(step, cores, minlength=steps)), dtype=np.float64)


def _release(instance: RepairInstance, step: IntArray, steps: int) -> IntArray:
    """Return the first step with a node that is large enough for each task of a query, shape (Q,)."""
    queries = instance.queries
    largest = np.zeros(steps)
    np.maximum.at(largest, step, instance.room)
    largest = np.maximum.accumulate(largest)
    fits_at = np.searchsorted(largest, instance.cost / (1.0 + ROUNDING) - ROUNDING)
    of_bundle = np.zeros(queries.bundles, dtype=np.int64)
    np.maximum.at(of_bundle, queries.bundle, fits_at)
    release = np.zeros(queries.queries, dtype=np.int64)
    np.maximum.at(release, queries.row, of_bundle[queries.member])
    return release
