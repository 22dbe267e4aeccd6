"""Greedy: the tasks whose single failure costs most while all others live ([SuZhou2016], algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.measures.fidelity_gains import gains
from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.planner import Replication, ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, significant
from ftplan.planners.replicate_tasks.algorithms.search.climbing import climbed_within
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

#: Tasks whose failure is scored one by one where a single pass is not exact.
SCORED = 2_000


def drops(problem: ReplicationProblem, budget: Budget | None = None) -> FloatArray:
    """Return by how much the expected fidelity falls when only one task fails, shape (tasks,).

    A task that fails in some cases only counts with their share of the weight. One backward pass gives the fall
    exactly, but for tasks that reach a join through two of its streams: up to :data:`SCORED` of these are failed one
    by one, more are taken by their derivative, which orders the tasks of one operator alike. Where the clock of
    *budget* runs out, the others are not failed one by one either.
    """
    live = np.ones(problem.tasks, dtype=np.bool_)
    fall = gains(problem.model, live).change
    again = np.flatnonzero(meeting_again(problem.graph) & problem.fails)
    whole = problem.model.fidelity(live)
    for task in again.tolist() if len(again) <= SCORED else []:
        if budget is not None and budget.over():
            break
        live[task] = False
        fall[task] = whole - problem.model.fidelity(live)
        live[task] = True
    share = np.sum([case.weight * case.failed for case in problem.cases], axis=0) / problem.total_weight
    return np.asarray(np.maximum(fall, 0.0) * share, dtype=np.float64)


def meeting_again(graph: TaskGraph) -> BoolArray:
    """Return the tasks of operators that reach some join through two of its input streams, shape (tasks,)."""
    operators = graph.topology.operators
    above: list[int] = [0] * len(operators)  # bit masks of operators upstream, itself included
    meeting = 0  # bit mask of operators
    for i in graph.order:
        above[i] = 1 << i
        reached = 0
        for source in sorted({edge.source for edge in graph.in_edges[i]}):
            if operators[i].inputs == "correlated":
                meeting |= reached & above[source]
            reached |= above[source]
        above[i] |= reached
    return np.array([bool(meeting >> i & 1) for i in range(len(operators))], dtype=np.bool_)[graph.operator_of]


def greedy(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Choose the tasks with the least fidelity when only they fail, as many as the budget holds.

    One ranking that is never updated and does not look at MC-trees: at small budgets it may complete none and score 0.
    Replicas without use are kept, as in the paper; dropping them leaves the fidelity. With hosts a task is taken where
    its replica finds a node, and the plan is improved as :func:`.structure_aware.structure_aware` improves its own.

    Cost: O(tasks log tasks + substreams), by one backward pass instead of one evaluation a task. Guarantee: none.

    References: [SuZhou2016], section IV-B, algorithm 2.
    """
    (node,), clock = _nodes(problem, [problem.budget], options)
    return Result("feasible", Replication.on(problem, node), ("budget",), warnings=clock.warnings())


def plans(problem: ReplicationProblem, budgets: Sequence[float], options: ReplicationOptions) -> list[IntArray]:
    """Return the nodes of replicas for each of some ascending budgets, (T,) each, from one ranking."""
    return _nodes(problem, budgets, options)[0]


def _nodes(
    problem: ReplicationProblem, budgets: Sequence[float], options: ReplicationOptions
) -> tuple[list[IntArray], Budget]:
    clock = Budget.of(options)
    order = ranking(problem, clock)
    if problem.hosts is None and problem.max_changes is None:
        chosen = [taken(replace(problem, budget=budget), order) for budget in budgets]
        return [np.where(replicated, 0, NOWHERE) for replicated in chosen], clock

    def first(room: ReplicaPlacement) -> ReplicaPlacement:
        return placed(room, order)

    return [room.node for room in climbed_within(problem, budgets, first, options.seed, clock)], clock


def ranking(problem: ReplicationProblem, budget: Budget) -> IntArray:
    """Return the tasks that may fail, those whose single failure costs most first."""
    # Departure: the paper does not say how ties end; here by number.
    order = np.lexsort((np.arange(problem.tasks), -significant(drops(problem, budget))))
    return np.asarray(order[problem.fails[order]], dtype=np.int64)


def taken(problem: ReplicationProblem, order: IntArray, most: int | None = None) -> BoolArray:
    """Return the first tasks of an order that fit, shape (tasks,), and are at most so many."""
    # Departure: where replicas weigh differently, what does not fit is skipped.
    most = len(order) if most is None else most
    if (problem.weight[order] == 1.0).all():
        return problem.mask(order[: min(int(problem.limit), most)].tolist())
    replicated = np.zeros(problem.tasks, dtype=np.bool_)
    cost = 0.0
    for task, weight in zip(order.tolist(), problem.weight[order].tolist(), strict=True):
        if most > 0 and problem.fits(cost + weight):
            most -= 1
            replicated[task] = True
            cost += weight
    return replicated


def placed(room: ReplicaPlacement, order: IntArray) -> ReplicaPlacement:
    """Return a solution with a replica of each task of an order that fits and finds a node, one after another."""
    larger = room.copy()
    least = float(room.problem.weight[order].min(initial=np.inf))
    for task in order[room.possible()[order]].tolist():
        if larger.cost + least > larger.limit:
            break
        if larger.node[task] == NOWHERE and larger.cost + float(larger.problem.weight[task]) <= larger.limit:
            larger.add([task])
    return larger
