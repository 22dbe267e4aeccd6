"""The baseline: tasks by cost along the streams, without a look at queries ([SuZhouTR], section 7, OC)."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.by_objective import by_objective
from ftplan.planners.recovery_schedule.algorithms.dynamic_programming import dynamic_programming_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import group_starts
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import fits
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, Policy, StepState
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Sets of queries that may be held at once to say what a step could have restored: little work.
FEW_SETS = 200_000


def operator_centric(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Recover the cheapest task whose upstream lives, step by step; see :func:`cheapest_first`.

    The bound of a step is what dynamic programming restores at most, where that takes few sets; for other objectives
    it is that of best-density.
    """
    policy = with_step_bound(cheapest_first) if options.objective == "priority" else cheapest_first
    return by_objective(problem, options, Method(best_density_step, alone=policy))


def with_step_bound(policy: Policy) -> Policy:
    """Return a policy that says besides what could be restored at most at each step, where few sets tell."""

    def decide(state: StepState, budget: Budget, seed: int) -> Decision:
        decision, part = policy(state, budget, seed), budget.part(1.0)
        try:
            bound = dynamic_programming_step(state.knapsack(), part, seed, most=FEW_SETS).bound
        except FtplanError:  # too many queries or sets: the fractional bound stays
            return decision
        budget.cut |= part.cut
        return replace(decision, bound=bound)

    return decide


def cheapest_first(state: StepState, budget: Budget, seed: int) -> Decision:
    """Recover the cheapest failed task whose upstream tasks all live, again and again, until it does not fit.

    The operator-centric order ("always the partition of least cost, in topological order"), read as a frontier: both
    readings fit figure 2. Guarantee: none; it never looks at queries. Since the cheapest of the frontier is taken,
    nothing else of it fits where that does not: the end. Ties end at the topological position. Cost
    O(tasks · log tasks + substreams).
    """
    rank = state.problem.graph.topological_rank
    waiting = Waiting(state.problem.graph, state.down)
    frontier = [(float(state.cost[task]), int(rank[task]), task) for task in waiting.ready()]
    heapq.heapify(frontier)
    used, order = 0.0, []
    while frontier and fits(used + frontier[0][0], state.capacity):
        cost, _, task = heapq.heappop(frontier)
        used += cost
        order.append(task)
        for following in waiting.take(task):
            heapq.heappush(frontier, (float(state.cost[following]), int(rank[following]), following))
    return Decision(np.array(order, dtype=np.int64), prefetch=False, one_by_one=True)


class Waiting:
    """How many failed tasks each failed task still waits for; a full edge counts once, when its last sender is back."""

    def __init__(self, graph: TaskGraph, down: BoolArray) -> None:
        self._graph, self._down = graph, down.copy()
        self._count = np.zeros(graph.tasks, dtype=np.int64)
        self._down_in = [int(down[graph.slice_of(i)].sum()) for i in range(len(graph.topology.operators))]
        self._receivers: dict[int, list[tuple[IntArray | None, IntArray]]] = {}  # by operator
        for i in graph.order:
            here = down[graph.slice_of(i)]
            for edge in graph.out_edges[i]:
                count = self._count[graph.slice_of(edge.target)]
                pairs = graph.pairs(edge)
                if pairs is None:
                    count += int(here.any())
                else:
                    np.add.at(count, pairs[1][here[pairs[0]]], 1)

    def ready(self) -> list[int]:
        """Return the failed tasks that wait for nothing."""
        return [int(task) for task in np.flatnonzero(self._down & (self._count == 0))]

    def take(self, task: int) -> list[int]:
        """Bring a task back; return the failed tasks that wait for nothing any more because of it."""
        operator = int(self._graph.operator_of[task])
        index = task - int(self._graph.offset[operator])
        self._down[task] = False
        self._down_in[operator] -= 1
        ready: list[int] = []
        for start, receivers in self._edges_of(operator):
            if start is not None:
                receivers = receivers[start[index] : start[index + 1]]
            elif self._down_in[operator]:
                continue
            for receiver in receivers.tolist():
                self._count[receiver] -= 1
                if self._count[receiver] == 0 and self._down[receiver]:
                    ready.append(receiver)
        return ready

    def _edges_of(self, operator: int) -> list[tuple[IntArray | None, IntArray]]:
        """Return (start, receivers) by sender for each edge out of an operator; (None, all receivers) if it is full."""
        if operator not in self._receivers:
            edges: list[tuple[IntArray | None, IntArray]] = []
            for edge in self._graph.out_edges[operator]:
                there = np.arange(*self._graph.slice_of(edge.target).indices(self._graph.tasks))
                pairs = self._graph.pairs(edge)
                if pairs is None:
                    edges.append((None, there))
                else:
                    senders = self._graph.topology.operators[operator].parallelism
                    receivers = there[pairs[1][np.argsort(pairs[0], kind="stable")]]
                    edges.append((group_starts(pairs[0], senders), receivers))
            self._receivers[operator] = edges
        return self._receivers[operator]
