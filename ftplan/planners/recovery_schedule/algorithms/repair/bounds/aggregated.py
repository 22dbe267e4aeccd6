"""The aggregated relaxation: a whole repair in cores summed over the hosts, as a time-indexed knapsack.

Without restores it also gives an order of queries to begin a search with.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery_schedule.algorithms.horizon.ruin_and_recreate import insert_in_order, ruin_and_recreate
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import TimeIndexedKnapsack, by_query, first_fits
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed_model import (
    MOST_ALONE,
    single_step_bounds,
    solve_time_indexed,
)
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.step_function import (
    StepFunctionBound,
    cores_by,
    query_up_s,
    sharper,
)
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import ClairvoyantRepair
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance


def aggregated_order(instance: RepairInstance, budget: Budget, seed: int) -> IntArray:
    """Return queries by the step at which they are whole where only cores count, then by density, shape (Q,).

    Thousands of queries are ordered well in seconds so, which no search over nodes and queues is. Those that are never
    whole come last.
    """
    problem = aggregated_relaxation(instance)
    density = problem.knapsack.density
    order = np.lexsort((np.arange(len(density)), -density))
    step = ruin_and_recreate(problem, insert_in_order(problem, order), budget, seed)
    return np.lexsort((np.arange(len(step)), -density, problem.completed(step)))


def aggregated_relaxation(instance: RepairInstance) -> TimeIndexedKnapsack:
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
        release=by_query(queries, first_fits(instance.cost, instance.room, step, len(times))),
        capacity=capacity,
        gain=gain,
    )


def _by_step(step: IntArray, cores: FloatArray, steps: int) -> FloatArray:
    return np.asarray(np.cumsum(np.bincount(step, cores, minlength=steps)), dtype=np.float64)


#: Steps at most, and the share of the time for each step alone.
STEPS, ALONE = 40, 0.6


def aggregated_bound(
    repair: ClairvoyantRepair, stairs: StepFunctionBound, budget: Budget, seed: int
) -> tuple[float, StepFunctionBound]:
    """Return a lower bound on what is lost and stairs that are nowhere higher, where nothing fails later.

    Steps are the times from which more can be up: a host is there, or a query's tasks can have caught up. What is up at
    a step stays up; it needs cores, of which each host counts with what these tasks can use. First each step is solved
    alone, then all of them together, both by CP-SAT where they are small. With later failures the stairs are returned.
    """
    many = len(repair.queries.member) > MOST_ALONE
    if repair.problem.failures or repair.problem.may_pause or many or budget.over():
        return stairs.lost, stairs
    problem, at_s = _knapsack(repair)
    ends = np.append(at_s[1:], stairs.end_s)
    most = stairs.most[np.searchsorted(stairs.at_s, ends, side="left") - 1]
    by_density = np.lexsort((np.arange(problem.knapsack.queries), -problem.knapsack.density))
    incumbent = insert_in_order(problem, by_density)
    part = budget.part(ALONE)
    most = single_step_bounds(problem, incumbent, most, part, seed)
    budget.cut |= part.cut
    stairs = sharper(stairs, at_s, most)
    lost = stairs.lost
    _, gained, _ = solve_time_indexed(problem, incumbent, budget, seed, most)
    if gained is not None:
        lost = max(lost, problem.downtime(gained))
    return lost, stairs


def _knapsack(repair: ClairvoyantRepair) -> tuple[TimeIndexedKnapsack, FloatArray]:
    """Return the choice over all steps, and the time of each, shape (K,)."""
    epoch, queries = repair.epochs[0], repair.queries
    up_s = query_up_s(repair, epoch)
    first = repair.first_runs(epoch)
    first = first[first < epoch.until_s]
    possible = np.unique(up_s[up_s < epoch.until_s])
    possible = possible[:: -(-max(1, len(possible)) // STEPS)]
    at_s = np.unique(np.concatenate(([epoch.from_s], first, possible)))
    capacity = cores_by(repair, epoch, np.append(at_s[1:], epoch.until_s))
    weight = queries.weight(np.where(repair.problem.failed, repair.problem.cost, 0.0))
    release = np.maximum(np.searchsorted(at_s, up_s, side="right") - 1, 0)
    return TimeIndexedKnapsack(
        knapsack=SetUnionKnapsack(repair.priority, weight, queries.start, queries.member, float(capacity[-1])),
        release=np.where(up_s < epoch.until_s, release, len(at_s)).astype(np.int64),
        capacity=capacity,
        gain=np.append(epoch.until_s - at_s, 0.0),
        waits_s=float(at_s[0]),
    ), at_s
