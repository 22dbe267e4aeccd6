"""The recovery after a failure as another question needs it: its schedule, what that loses, and a relaxed form of it.

With ``--then-recover`` replicas are chosen by what they save here; who chooses them asks no recovery algorithm itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.measures.recovery_time import AT_ONCE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density, best_density_step
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import (
    TimeIndexedKnapsack,
    capacity_with_failures,
    expected_arrivals,
    step_bounds,
    time_indexed,
)
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed_model import single_step_bounds
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule, nothing_recovered
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import StepState, by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.body import body
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule

#: Seconds that one schedule may take: its work is bounded, the clock should never end it.
SCHEDULING_S = 600.0
#: Of a step, what the plan of another question keeps.
STEP = ("step", "at_s", "trigger", "recover")


def recovered(problem: RecoveryProblem) -> tuple[Schedule, float]:
    """Return the schedule after a failure by which replicas are compared, and its bound of priority x seconds down.

    That of ``recovery-schedule --algorithm best-density --objective priority-time --iterations 0``. Where no query
    returns within the horizon, and that command has no plan, nothing is recovered at any step.
    """
    result = best_density(problem, _options())
    return result.answer or nothing_recovered(problem), result.bound or 0.0


def priority_time(problem: RecoveryProblem, *, rough: bool = False) -> float:
    """Return the priority x seconds down of :func:`recovered`.

    With *rough* that of the schedule which decides at each step alone: one of those that :func:`recovered` takes the
    best of, so never less, and sooner made.
    """
    if not rough:
        return priority_time_of(recovered(problem)[0], problem)
    alone = construct_schedule(problem, _options(), by_queries(best_density_step)).answer
    return priority_time_of(alone or nothing_recovered(problem), problem)


def steps_of_recovery(problem: RecoveryProblem) -> list[dict[str, Any]]:
    """Return the steps of :func:`recovered` as the plan of another question keeps them."""
    return [{name: step[name] for name in STEP} for step in body(recovered(problem)[0], problem)["steps"]]


def _options() -> RecoveryOptions:
    return RecoveryOptions(objective="priority-time", time_limit_s=SCHEDULING_S, iterations=0)


@dataclass(frozen=True, eq=False)
class RelaxedRecovery:
    """A recovery in which cores are summed over the nodes and no restore waits for another.

    K steps, Q queries, T tasks. By step k the tasks of all queries that are whole take at most ``usable[k]`` cores of
    the ``free[k]``.
    """

    queries: FailedQueries  # Q, down at the start
    later: tuple[tuple[float, FailedQueries], ...]  # when a failure strikes before the horizon, and whom first
    restore_s: FloatArray  # (T,) until each task has caught up, at the earliest
    release: IntArray  # (Q,) first step with room for each task of a query
    usable: FloatArray  # (K,) cores by each step, for the tasks that failed
    free: FloatArray  # (K,) cores by each step
    most: FloatArray  # (K,) priority of the queries that are whole by each step, at most
    span_s: FloatArray  # (K,) seconds for which each step counts; they sum to the horizon
    lasting: bool  # what is whole stays whole: nothing fails during the recovery


def relaxed_recovery(asked: RecoveryProblem, beyond: float, clock: Budget) -> RelaxedRecovery:
    """Return the relaxation of a recovery; ``most`` is proven by prices on cores, or step by step, in the time left.

    Parameters
    ----------
    beyond
        Cores that tasks take besides, where no restore could have room.
    """
    problem = replace(asked, delays=AT_ONCE)  # what they take is counted task by task
    queries = failed_queries(problem.graph, problem.failed)
    repair = RepairState(problem)
    state = repair.observe(0, 0.0, queries, problem.arrivals)
    lasting = not problem.failures
    knapsack, times = time_indexed(state, parallel=not lasting)
    if not lasting or beyond > 0.0:
        knapsack = replace(knapsack, release=np.zeros_like(knapsack.release), capacity=knapsack.capacity + beyond)
    free = (_free(state, times) if lasting else capacity_with_failures(state, times)) + beyond
    return RelaxedRecovery(
        queries=queries,
        later=_later(problem, repair, queries),
        restore_s=_restores(asked),
        release=knapsack.release,
        usable=knapsack.capacity if lasting else free,
        free=free,
        most=_most(knapsack, free, lasting, clock),
        span_s=knapsack.span,
        lasting=lasting,
    )


def _later(
    problem: RecoveryProblem, repair: RepairState, queries: FailedQueries
) -> tuple[tuple[float, FailedQueries], ...]:
    """Return the queries that each later failure takes down which were not down before."""
    later, before = [], set(queries.query.tolist())
    for event in problem.failures:
        hit = failed_queries(problem.graph, repair.fail(event))
        fresh = ~np.isin(hit.query, list(before))
        before |= set(hit.query.tolist())
        if fresh.any() and event.at_s < problem.horizon_s:
            later.append((event.at_s, _only(hit, fresh)))
    return tuple(later)


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
