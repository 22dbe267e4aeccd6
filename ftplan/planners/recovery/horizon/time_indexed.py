"""A whole repair as one choice: which query shall be whole by which step, where cores arrive step by step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery.knapsack.instance import SLACK, BoolArray, SetUnionKnapsack
from ftplan.planners.recovery.schedule.node_assignment import fillable
from ftplan.planners.recovery.schedule.schedule import State


@dataclass(frozen=True, eq=False)
class NestedKnapsack:
    """K steps over Q queries and B bundles: nested choices, one a step, since what was recovered stays.

    By step k the bundles of all queries that are whole by then must fit into ``capacity[k]``, all cores so far. A
    query is given its step, K for never; one that is whole from step k on gains ``gain[k]`` seconds before the
    horizon for each unit of priority. ``release`` is the first step with a node large enough for each task of a query.
    """

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,) cores
    start: IntArray  # (Q + 1,)
    member: IntArray  # (start[Q],) bundles of each query, ascending
    release: IntArray  # (Q,)
    capacity: FloatArray  # (K,) cores, ascending
    gain: FloatArray  # (K + 1,) seconds, descending, the last one 0

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.capacity)

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.priority)

    @cached_property
    def one_step(self) -> SetUnionKnapsack:
        """The choice of the last step."""
        return SetUnionKnapsack(self.priority, self.weight, self.start, self.member, float(self.capacity[-1]))

    @property
    def limit(self) -> FloatArray:
        """The largest cost that counts as fitting by each step, shape (K,)."""
        return self.capacity + SLACK * np.maximum(1.0, np.abs(self.capacity))

    @property
    def span(self) -> FloatArray:
        """Seconds for which each step's choice counts, shape (K,)."""
        return np.asarray(self.gain[:-1] - self.gain[1:], dtype=np.float64)

    def gained(self, step: IntArray) -> float:
        """Return Σ priority × seconds whole before the horizon."""
        return float(self.priority @ self.gain[step])

    def waited(self, gained: float) -> float:
        """Return Σ priority × seconds down from what is gained, or its lower bound from an upper one."""
        return float(self.priority.sum()) * float(self.gain[0]) - gained

    def first(self, step: IntArray) -> IntArray:
        """Return the step by which each bundle must be back, K for never, shape (B,)."""
        first = np.full(len(self.weight), self.steps, dtype=np.int64)
        np.minimum.at(first, self.member, step[self.one_step.row])
        return first

    def used(self, step: IntArray) -> FloatArray:
        """Return the cores in use by each step, shape (K,)."""
        sums = np.bincount(self.first(step), self.weight, minlength=self.steps + 1)
        return np.asarray(np.cumsum(sums[:-1]), dtype=np.float64)

    def fits(self, step: IntArray) -> bool:
        """Return whether all steps fit and no query is whole before its release."""
        return bool(np.all(self.used(step) <= self.limit) and np.all(step >= self.release))

    def completed(self, step: IntArray) -> IntArray:
        """Return *step* with every query as early as its bundles are back anyway."""
        first = np.where(self.weight > 0.0, self.first(step), 0)
        latest = self.release.copy()
        np.maximum.at(latest, self.one_step.row, first[self.member])
        return np.asarray(np.minimum(latest, step), dtype=np.int64)

    def remaining(self, done: BoolArray, step: int, used: float) -> SetUnionKnapsack:
        """Return the choice of one step when some queries are back, for *used* cores: the step-by-step view.

        What is not released is made too heavy for it.
        """
        weight = self.weight.copy()
        weight[self.one_step.covered(done)] = 0.0
        room = max(0.0, float(self.capacity[step]) - used)
        held = np.zeros(len(weight), dtype=np.bool_)
        late = self.release > step
        held[self.member[late[self.one_step.row]]] = True
        open_ = np.zeros(len(weight), dtype=np.bool_)
        open_[self.member[~late[self.one_step.row]]] = True
        weight[held & ~open_] += 2.0 * room + 1.0
        return SetUnionKnapsack(self.priority, weight, self.start, self.member, room)


def nested(state: State, *, parallel: bool = False) -> tuple[NestedKnapsack, FloatArray]:
    """Return the repair from a step on, and the time of each of its steps, shape (K,).

    Parameters
    ----------
    parallel
        Whether tasks may be split over nodes, so that no node needs room for a whole one.

    Notes
    -----
    Cores are counted for all nodes together: what fits in sum may still not fit node by node. Each node counts with
    what tasks of these sizes can use of it, as in a single step. Arrivals after the horizon are left out.
    """
    problem, queries = state.problem, state.queries
    coming = [event for event in state.coming if event.at_s < problem.horizon_s]
    sizes = state.cost[queries.task]
    room = np.array([problem.hosts[event.host].room for event in coming], dtype=np.float64)
    usable = room if parallel else np.minimum(room, fillable(room, sizes))
    arrival = np.array([event.at_s for event in coming], dtype=np.float64)
    times = np.unique(np.concatenate(([state.at_s], arrival)))
    at = np.searchsorted(times, arrival)
    arrived = np.cumsum(np.bincount(at, usable, minlength=len(times)))
    capacity = np.asarray(state.fillable + arrived, dtype=np.float64)
    gain = np.append(np.maximum(problem.horizon_s - times, 0.0), 0.0)
    release = _release(state, room, at, len(times), parallel)
    weight = queries.weight(state.cost)
    priority = problem.graph.per_task("priority")[queries.query]
    return NestedKnapsack(priority, weight, queries.start, queries.member, release, capacity, gain), times


def _release(state: State, room: FloatArray, at: IntArray, steps: int, parallel: bool) -> IntArray:
    """Return the first step with a node large enough for each task of a query, shape (Q,)."""
    queries = state.queries
    largest = np.zeros(steps)
    np.maximum.at(largest, at, room)
    largest = np.maximum.accumulate(largest)
    cost = state.cost[queries.task]
    # a split task fits as soon as any node has come: parts of it start where there is room
    fits_at = np.searchsorted(largest, np.zeros(len(cost)) if parallel else cost / (1.0 + SLACK) - SLACK)
    fits_at = np.where(state.too_large[queries.task], np.maximum(fits_at, min(1, steps)), 0)
    fits_at = np.where(state.hopeless[queries.task], steps, np.minimum(fits_at, steps))
    of_bundle = np.zeros(queries.bundles, dtype=np.int64)
    np.maximum.at(of_bundle, queries.bundle, fits_at)
    release = np.zeros(queries.queries, dtype=np.int64)
    np.maximum.at(release, queries.row, of_bundle[queries.member])
    return release
