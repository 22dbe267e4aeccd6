"""What no schedule beats over a whole repair: the best bound of each step, summed over the time that it counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.horizon.time_indexed import NestedKnapsack, nested
from ftplan.planners.recovery.knapsack.closure_chain import bounds, closure_chain
from ftplan.planners.recovery.knapsack.instance import SLACK, SetUnionKnapsack
from ftplan.planners.recovery.knapsack.residual import fitting
from ftplan.planners.recovery.schedule.schedule import State


def most_by_step(problem: NestedKnapsack, capacity: FloatArray, budget: Budget) -> FloatArray:
    """Return an upper bound on the priority whole by each step, for given capacities, shape (K,).

    Queries that fit into none of them, or on no node, are left out. Rounded down where all priorities are whole
    numbers, since their sums are too.
    """
    possible = problem.release < problem.steps
    entries = possible[problem.one_step.row]
    counts = np.bincount(problem.one_step.row[entries], minlength=problem.queries)[possible]
    start = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    last = float(capacity.max(initial=0.0))
    _, small = fitting(
        SetUnionKnapsack(problem.priority[possible], problem.weight, start, problem.member[entries], last)
    )
    if small.queries == 0:
        return np.zeros(len(capacity))
    limit = capacity + SLACK * np.maximum(1.0, np.abs(capacity))
    most = np.minimum(bounds(closure_chain(small, limit, budget), limit), small.priority.sum())
    whole = bool(np.all(small.priority == np.floor(small.priority)))
    return np.asarray(np.floor(most + 1e-6) if whole else most, dtype=np.float64)


def bound_with_failures(state: State, budget: Budget) -> float:
    """Return what no schedule's Σ priority × seconds down falls below where more fails during the repair.

    Choices need not be nested then: what is back may fail again, and its cores serve others. Tasks that fail by
    themselves free their cores, so these count from the step before on, and nodes count with all of their room. A
    failed node only takes cores away. Outages of queries that fail later are left out.
    """
    nest, times = nested(state, parallel=True)
    raw, _ = capacity_with_failures(state, nest, times)
    anyhow = replace(nest, release=np.zeros(nest.queries, dtype=np.int64))
    return nest.waited(float(most_by_step(anyhow, raw, budget) @ nest.span))


def capacity_with_failures(state: State, nest: NestedKnapsack, times: FloatArray) -> tuple[FloatArray, bool]:
    """Return the most cores that can ever serve what is down now, by step, and False: nodes may serve any size.

    Shape (K,). All room of every node, and the cores that tasks free which fail by themselves.
    """
    problem = state.problem
    coming = [event for event in state.coming if event.at_s < problem.horizon_s]
    room = np.array([problem.hosts[event.host].room for event in coming], dtype=np.float64)
    at = np.searchsorted(times, [event.at_s for event in coming])
    raw = state.capacity + np.cumsum(np.bincount(at, room, minlength=nest.steps))
    for failure in problem.failures:
        if failure.at_s >= state.at_s:
            running = failure.tasks[~problem.failed[failure.tasks]]
            raw[max(0, int(np.searchsorted(times, failure.at_s, side="right")) - 1) :] += problem.cost[running].sum()
    return np.asarray(raw + SLACK * np.maximum(1.0, raw), dtype=np.float64), False
