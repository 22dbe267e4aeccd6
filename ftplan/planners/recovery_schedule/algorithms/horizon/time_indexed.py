"""A whole repair as one choice: which query shall be whole by which step, where cores arrive step by step.

No schedule beats the best bound of each step (:func:`step_bounds`), summed over the time for which it counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.knapsack.project_selection import most_by_capacity
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import StepState


def step_bounds(problem: TimeIndexedKnapsack, capacity: FloatArray, budget: Budget) -> FloatArray:
    """Return an upper bound on the priority whole by each step, for given capacities, shape (K,)."""
    return most_by_capacity(problem.knapsack, problem.release < problem.steps, capacity, budget)


def capacity_with_failures(state: StepState, times: FloatArray) -> FloatArray:
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


@dataclass(frozen=True, eq=False)
class TimeIndexedKnapsack:
    """K steps over Q queries and B elements; what is recovered by one step stays recovered by the later ones.

    A solution gives each query its step, K for never. By step k the elements of all queries that are whole by then must
    fit into ``capacity[k]``, all cores so far. A query that is whole from step k on gains ``gain[k]`` seconds before
    the horizon for each unit of priority.
    """

    knapsack: SetUnionKnapsack  # the choice of the last step
    release: IntArray  # (Q,) the first step with a node large enough for each task of the query
    capacity: FloatArray  # (K,) cores, ascending
    gain: FloatArray  # (K + 1,) seconds, descending, the last one 0
    waits_s: float = 0.0  # seconds in which nothing is back yet, beside those of ``gain``

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.capacity)

    @property
    def entries(self) -> int:
        """Number of (query, element) pairs."""
        return len(self.knapsack.member)

    @property
    def limit(self) -> FloatArray:
        """The largest cost that counts as fitting by each step, shape (K,)."""
        return self.capacity + ROUNDING * np.maximum(1.0, np.abs(self.capacity))

    @property
    def span(self) -> FloatArray:
        """Seconds for which each step's choice counts, shape (K,)."""
        return np.asarray(self.gain[:-1] - self.gain[1:], dtype=np.float64)

    def gained(self, step: IntArray) -> float:
        """Return Σ priority × seconds whole before the horizon."""
        return float(self.knapsack.priority @ self.gain[step])

    def downtime(self, gained: float) -> float:
        """Return Σ priority × seconds down from what is gained, a lower bound from an upper one."""
        return float(self.knapsack.priority.sum()) * (float(self.gain[0]) + self.waits_s) - gained

    def first(self, step: IntArray) -> IntArray:
        """Return the step by which each element must be back, K for never, shape (B,)."""
        first = np.full(self.knapsack.elements, self.steps, dtype=np.int64)
        np.minimum.at(first, self.knapsack.member, step[self.knapsack.row])
        return first

    def used(self, step: IntArray) -> FloatArray:
        """Return the cores in use by each step, shape (K,)."""
        sums = np.bincount(self.first(step), self.knapsack.weight, minlength=self.steps + 1)
        return np.asarray(np.cumsum(sums[:-1]), dtype=np.float64)

    def fits(self, step: IntArray) -> bool:
        """Return whether all steps fit and no query is whole before its release."""
        return bool(np.all(self.used(step) <= self.limit) and np.all(step >= self.release))

    def completed(self, step: IntArray) -> IntArray:
        """Return *step* with every query as early as its elements are back anyway."""
        first = np.where(self.knapsack.weight > 0.0, self.first(step), 0)
        latest = self.release.copy()
        np.maximum.at(latest, self.knapsack.row, first[self.knapsack.member])
        return np.asarray(np.minimum(latest, step), dtype=np.int64)

    def residual(self, done: BoolArray, step: int, used: float) -> SetUnionKnapsack:
        """Return the choice of one step alone when some queries are back, in what *used* cores leave of its capacity.

        What is not released yet is made too heavy for it.
        """
        weight = self.knapsack.weight.copy()
        weight[self.knapsack.covered(done)] = 0.0
        room = max(0.0, float(self.capacity[step]) - used)
        late = self.release > step
        weight[self.knapsack.covered(late) & ~self.knapsack.covered(~late)] += 2.0 * room + 1.0
        return replace(self.knapsack, weight=weight, capacity=room)


def expected_arrivals(state: StepState) -> tuple[FloatArray, FloatArray]:
    """Return when nodes arrive before the horizon, and the cores that each has."""
    problem = state.problem
    coming = [event for event in state.coming if event.at_s < problem.horizon_s]
    room = np.array([problem.hosts[event.host].room for event in coming], dtype=np.float64)
    return np.array([event.at_s for event in coming], dtype=np.float64), room


def time_indexed(state: StepState, *, parallel: bool = False) -> tuple[TimeIndexedKnapsack, FloatArray]:
    """Return the repair from a step on, and the time of each of its steps, shape (K,).

    Cores are counted for all nodes together: what fits in sum may still not fit node by node. Each node counts with
    what tasks of these sizes can use of it, as in a single step. Arrivals after the horizon are left out. What a step
    starts gains from when it has caught up; no state is fetched.

    Parameters
    ----------
    parallel
        Whether tasks may be split over nodes, so that no node needs room for a whole one.
    """
    problem, queries = state.problem, state.queries
    at_s, room = expected_arrivals(state)
    usable = room if parallel else np.minimum(room, fillable(room, state.cost[queries.task]))
    times = np.unique(np.concatenate(([state.at_s], at_s)))
    step = np.searchsorted(times, at_s)
    arrived = np.cumsum(np.bincount(step, usable, minlength=len(times)))
    capacity = np.asarray(state.fillable + arrived, dtype=np.float64)
    weight = queries.weight(state.cost)
    left_s = max(0.0, problem.horizon_s - state.at_s)
    gain = np.append(np.maximum(problem.horizon_s - _back_s(state, times), 0.0), 0.0)
    return TimeIndexedKnapsack(
        knapsack=SetUnionKnapsack(state.priority, weight, queries.start, queries.member, float(capacity[-1])),
        release=_release(state, room, step, len(times), parallel),
        capacity=capacity,
        gain=gain,
        waits_s=left_s - float(gain[0]),
    ), times


def _back_s(state: StepState, times: FloatArray) -> FloatArray:
    """Return when what is started by each step has caught up at the earliest, shape (K,).

    Tasks that fail later on have less to catch up with.
    """
    delays = state.problem.delays
    ready = np.maximum(times, delays.detection_s) + delays.restart_s
    down_s = ready - delays.detection_s - delays.restart_s if state.problem.failures else 0.0
    replay_s, catch_up = delays.fastest
    return np.asarray(ready + replay_s + catch_up * (ready - down_s), dtype=np.float64)


def _release(state: StepState, room: FloatArray, at: IntArray, steps: int, parallel: bool) -> IntArray:
    """Return the first step with a node large enough for each task of a query, shape (Q,)."""
    queries = state.queries
    cost = state.cost[queries.task]
    # a split task fits as soon as any node has come: parts of it start where there is room
    fits_at = first_fits(np.zeros(len(cost)) if parallel else cost, room, at, steps)
    fits_at = np.where(state.too_large[queries.task], np.maximum(fits_at, min(1, steps)), 0)
    return by_query(queries, np.where(state.hopeless[queries.task], steps, np.minimum(fits_at, steps)))


def first_fits(cost: FloatArray, room: FloatArray, at: IntArray, steps: int) -> IntArray:
    """Return the first step by which a node has come with room for each task, the number of steps for none."""
    largest = np.zeros(steps)
    np.maximum.at(largest, at, room)
    least = np.where(cost > 0.0, cost / (1.0 + ROUNDING) - ROUNDING, 0.0)
    return np.asarray(np.searchsorted(np.maximum.accumulate(largest), least), dtype=np.int64)


def by_query(queries: FailedQueries, of_task: IntArray) -> IntArray:
    """Return the largest of the numbers of each query's tasks, shape (Q,)."""
    of_bundle = np.zeros(queries.bundles, dtype=np.int64)
    np.maximum.at(of_bundle, queries.bundle, of_task)
    of_query = np.zeros(queries.queries, dtype=np.int64)
    np.maximum.at(of_query, queries.row, of_bundle[queries.member])
    return of_query
