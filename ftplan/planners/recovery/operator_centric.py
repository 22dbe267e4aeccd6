"""The baseline: tasks by cost along the streams, without a look at queries [SuZhouTR, section 7, OC]."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import Edge, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.best_density import best_density_step
from ftplan.planners.recovery.dynamic_programming import dynamic_programming_step
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.by_objective import by_objective
from ftplan.planners.recovery.schedule.construction import run
from ftplan.planners.recovery.schedule.node_assignment import fits
from ftplan.planners.recovery.schedule.schedule import Decision, Policy, Schedule, State
from ftplan.planners.result import Result

#: Sets of queries that may be held at once to say what a step could have restored: little work.
FEW_SETS = 200_000


def operator_centric(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Recover the cheapest task whose upstream lives, step by step; see :func:`cheapest_first`.

    The bound of a step is what dynamic programming restores at most, where that takes few sets; for other objectives
    it is that of best-density's schedule.
    """
    budget = Budget.of(options)
    if options.objective == "priority":
        return run(problem, options, with_step_bound(cheapest_first))
    result = run(problem, options, cheapest_first)
    left = replace(options, time_limit_s=budget.left_s)
    return replace(result, bound=by_objective(problem, left, best_density_step, bound_only=True).bound)


def with_step_bound(policy: Policy) -> Policy:
    """Return a policy that says besides what could be restored at most at each step, where few sets tell."""

    def decide(state: State, budget: Budget, seed: int) -> Decision:
        decision, part = policy(state, budget, seed), budget.part(1.0)
        try:
            bound = dynamic_programming_step(state.knapsack(), part, seed, most=FEW_SETS).bound
        except FtplanError:  # too many queries or sets: the fractional bound stays
            return decision
        budget.cut |= part.cut
        return replace(decision, bound=bound)

    return decide


def cheapest_first(state: State, budget: Budget, seed: int) -> Decision:
    """Recover the cheapest failed task whose upstream tasks all live, again and again, until it does not fit.

    The operator-centric order ("always the partition of least cost, in topological order"), read as a frontier: both
    readings fit the paper's figure 2. Guarantee: none; it never looks at queries. Since the cheapest of the frontier
    is taken, nothing else of it fits where that does not: the end. Ties end at the topological position. Cost
    O(tasks · log tasks + substreams).
    """
    waiting = Waiting(state)
    frontier = [waiting.entry(task) for task in waiting.free()]
    heapq.heapify(frontier)
    used, order = 0.0, []
    while frontier:
        cost, _, task = frontier[0]
        if not fits(used + cost, state.capacity):
            break
        heapq.heappop(frontier)
        used += cost
        order.append(task)
        for following in waiting.take(task):
            heapq.heappush(frontier, waiting.entry(following))
    return Decision(np.array(order, dtype=np.int64), prefetch=False, one_by_one=True)


class Waiting:
    """How many failed tasks each failed task still waits for; a full edge counts once, when its last sender is back."""

    def __init__(self, state: State) -> None:
        self._graph, self._state = state.problem.graph, state
        self._down = state.down.copy()
        self._count = np.zeros(self._graph.tasks, dtype=np.int64)
        self._ordered: dict[int, tuple[IntArray, IntArray] | None] = {}
        self._senders_down: dict[int, int] = {}  # by operator: tasks that are down
        for i in self._graph.order:
            here = self._down[self._graph.slice_of(i)]
            self._senders_down[i] = int(here.sum())
            for edge in self._graph.out_edges[i]:
                count = self._count[self._graph.slice_of(edge.target)]
                pairs = self._graph.pairs(edge)
                if pairs is None:
                    count += int(here.any())
                else:
                    np.add.at(count, pairs[1][here[pairs[0]]], 1)

    def _receivers(self, edge: Edge) -> tuple[IntArray, IntArray] | None:
        """Return (start, receivers) by sender of an edge, None for a full one."""
        if id(edge) not in self._ordered:
            pairs = self._graph.pairs(edge)
            if pairs is not None:
                senders = self._graph.topology.operators[edge.source].parallelism
                start = np.concatenate(([0], np.cumsum(np.bincount(pairs[0], minlength=senders))))
                pairs = start, pairs[1][np.argsort(pairs[0], kind="stable")]
            self._ordered[id(edge)] = pairs
        return self._ordered[id(edge)]

    def entry(self, task: int) -> tuple[float, int, int]:
        """Return a task with what orders it: cheapest first, then by topological position."""
        return float(self._state.cost[task]), int(self._graph.topological_rank[task]), task

    def free(self) -> list[int]:
        """Return the failed tasks that wait for nothing."""
        return [int(task) for task in np.flatnonzero(self._down & (self._count == 0))]

    def take(self, task: int) -> list[int]:
        """Bring a task back; return the failed tasks that wait for nothing any more because of it."""
        graph = self._graph
        operator = int(graph.operator_of[task])
        self._down[task] = False
        self._senders_down[operator] -= 1
        index = task - int(graph.offset[operator])
        freed: list[int] = []
        for edge in graph.out_edges[operator]:
            first = int(graph.offset[edge.target])
            ordered = self._receivers(edge)
            if ordered is None:
                if self._senders_down[operator]:
                    continue
                receivers = np.arange(graph.topology.operators[edge.target].parallelism)
            else:
                receivers = ordered[1][ordered[0][index] : ordered[0][index + 1]]
            for receiver in (receivers + first).tolist():
                self._count[receiver] -= 1
                if self._count[receiver] == 0 and self._down[receiver]:
                    freed.append(receiver)
        return freed
