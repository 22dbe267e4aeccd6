"""The recovery after a case as the bound of replicas sees it: cores in sums, and restores that wait for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.measures.recovery_time import AT_ONCE
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import (
    TimeIndexedKnapsack,
    capacity_with_failures,
    expected_arrivals,
    step_bounds,
    time_indexed,
)
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed_model import single_step_bounds
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import StepState
from ftplan.planners.recovery_schedule.prepare import RecoveryQuestion
from ftplan.planners.recovery_schedule.problem import RecoveryProblem
from ftplan.planners.replicate_tasks.algorithms.models.downtime_relaxation import CaseRelaxation, Outages


def relaxed(
    weight: float, question: RecoveryQuestion, ids: Sequence[str], beyond: float, clock: Budget
) -> CaseRelaxation:
    """Return a case as the bound sees it.

    Parameters
    ----------
    weight
        The probability of the case over that of all.
    ids
        The nodes on which replicas may stand.
    beyond
        Cores of replicas that take no room which restores could take.
    """
    asked = question.with_replicas(())
    problem = replace(asked, delays=AT_ONCE)  # what they take is counted task by task
    graph, priority = problem.graph, problem.graph.per_task("priority")
    queries = failed_queries(graph, problem.failed)
    repair = RepairState(problem)
    state = repair.observe(0, 0.0, queries, problem.arrivals)
    lasting = not problem.failures
    knapsack, times = time_indexed(state, parallel=not lasting)
    if not lasting or beyond > 0.0:
        knapsack = replace(knapsack, release=np.zeros_like(knapsack.release), capacity=knapsack.capacity + beyond)
    free = (_free(state, times) if lasting else capacity_with_failures(state, times)) + beyond
    fails_s = np.array([0.0 if name in question.failed.nodes else np.inf for name in ids])
    later, before = [], set(queries.query.tolist())
    for event in problem.failures:
        struck = repair.fail(event)
        fails_s[[name in event.nodes and np.isinf(at_s) for name, at_s in zip(ids, fails_s, strict=True)]] = event.at_s
        hit = failed_queries(graph, struck)
        fresh = ~np.isin(hit.query, list(before))
        before |= set(hit.query.tolist())
        if fresh.any() and event.at_s < problem.horizon_s:
            later.append(Outages(event.at_s, _only(hit, fresh), priority[hit.query[fresh]]))
    return CaseRelaxation(
        weight=weight,
        start=Outages(0.0, queries, priority[queries.query]),
        later=tuple(later),
        fails_s=fails_s,
        restore_s=_restores(asked),
        release=knapsack.release,
        usable=knapsack.capacity if lasting else free,
        free=free,
        most=_most(knapsack, free, lasting, clock),
        span_s=knapsack.span,
        lasting=lasting,
    )


def _most(knapsack: TimeIndexedKnapsack, free: FloatArray, lasting: bool, clock: Budget) -> FloatArray:
    """Return the most priority that can be whole by each step, shape (K,): replicas take cores as restores do."""
    if not lasting:
        return step_bounds(knapsack, free, clock)
    most = step_bounds(knapsack, knapsack.capacity, clock)
    never = np.full(knapsack.knapsack.queries, knapsack.steps, dtype=np.int64)
    return single_step_bounds(knapsack, never, most, clock, 0)


def _free(state: StepState, times: FloatArray) -> FloatArray:
    """Return the cores that are free by each step, whatever the sizes of tasks, shape (K,)."""
    at_s, room = expected_arrivals(state)
    arrived = np.bincount(np.searchsorted(times, at_s), room, minlength=len(times))
    return np.asarray(state.capacity + np.cumsum(arrived), dtype=np.float64)


def _only(queries: FailedQueries, kept: BoolArray) -> FailedQueries:
    """Return some of the failed queries; bundles stay as they are."""
    rows = kept[queries.row]
    counts = np.diff(queries.start)[kept]
    start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return replace(queries, query=queries.query[kept], start=start, member=queries.member[rows])


def _restores(problem: RecoveryProblem) -> FloatArray:
    """Return after how long each task has caught up at the earliest, shape (T,).

    It is restored at once, on the node that holds most of its state.
    """
    delays = problem.delays
    started = np.full(problem.graph.tasks, delays.starts(0.0, 0.0))
    if problem.state_bytes is None or not problem.bandwidth_bytes_s:
        return delays.caught_up(started, 0.0)
    near = np.zeros(problem.graph.tasks)
    for (task, _), held in problem.local_bytes.items():
        near[task] = max(near[task], held)
    size = np.maximum(problem.state_bytes - near, 0.0)
    lane = problem.bandwidth_bytes_s / problem.restores_at_once
    fetched_s = np.where(size > 0.0, problem.delay_s + size / lane, 0.0)
    return delays.caught_up(started + fetched_s, 0.0)
