"""What is lost when one task fails and all others live."""

from __future__ import annotations

import numpy as np

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.fidelity_gains import gains
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

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
