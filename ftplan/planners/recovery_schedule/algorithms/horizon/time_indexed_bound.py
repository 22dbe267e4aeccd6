"""What no schedule beats over a whole repair: the best bound of each step, summed over the time that it counts."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import TimeIndexedKnapsack, expected_arrivals
from ftplan.planners.recovery_schedule.algorithms.knapsack.parametric_cut import bounds, closure_chain
from ftplan.planners.recovery_schedule.algorithms.knapsack.residual import fitting, residual
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import State


def step_bounds(problem: TimeIndexedKnapsack, capacity: FloatArray, budget: Budget) -> FloatArray:
    """Return an upper bound on the priority whole by each step, for given capacities, shape (K,).

    Queries that fit into none of them, or on no node, are left out. Rounded down where all priorities are whole
    numbers, since their sums are too.
    """
    last = float(capacity.max(initial=0.0))
    possible, _ = residual(problem.knapsack, problem.release < problem.steps, problem.knapsack.weight, last)
    _, small = fitting(possible)
    if small.queries == 0:
        return np.zeros(len(capacity))
    limit = capacity + ROUNDING * np.maximum(1.0, np.abs(capacity))
    most = np.minimum(bounds(closure_chain(small, limit, budget), limit), small.priority.sum())
    whole = bool(np.all(small.priority == np.floor(small.priority)))
    return np.asarray(np.floor(most + 1e-6) if whole else most, dtype=np.float64)


def capacity_with_failures(state: State, times: FloatArray) -> FloatArray:
    """Return the most cores that can ever serve what is down now by some times, shape (K,).

    All room of every node, for tasks of any size, and the cores that tasks free which fail by themselves, from the
    step before on.
    """
    problem = state.problem
    at_s, room = expected_arrivals(state)
    capacity = state.capacity + np.cumsum(np.bincount(np.searchsorted(times, at_s), room, minlength=len(times)))
    for failure in problem.failures:
        if failure.at_s >= state.at_s:
            running = failure.tasks[~problem.failed[failure.tasks]]
            step_before = max(0, int(np.searchsorted(times, failure.at_s, side="right")) - 1)
            capacity[step_before:] += problem.cost[running].sum()
    return np.asarray(capacity + ROUNDING * np.maximum(1.0, capacity), dtype=np.float64)
