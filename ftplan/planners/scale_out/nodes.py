"""Which new task goes to which node, once it is known how many each node gets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from ftplan.metrics.scaling_problem import OperatorScaling, Scaling, ScalingProblem
from ftplan.metrics.task_replacement import TaskReplacement
from ftplan.model.topology import FloatArray, IntArray


def on_their_state(problem: ScalingProblem, scaling: Scaling) -> Scaling:
    """Return a scaling with the same tasks on each node, each where most of its state lies.

    How many tasks of each operator a node gets stays as it is, and with it what fits into the free cores of nodes. The
    state that lies on the nodes of its tasks, as checkpoints, or where none are known as it is now, is the most
    possible (an assignment problem, solved exactly, ties to the first). Cost O(P^3) for an operator of P tasks.
    """
    return Scaling(tuple(_operator_on_its_state(problem, item) for item in scaling.operators))


def _operator_on_its_state(problem: ScalingProblem, scaling: OperatorScaling) -> OperatorScaling:
    if not scaling.nodes or not scaling.ranges:
        return scaling._replace(nodes=tuple(sorted(scaling.nodes)))
    slots = np.bincount(scaling.nodes, minlength=len(problem.nodes))
    return scaling._replace(nodes=assign_tasks(TaskReplacement(problem, scaling).lying_state(), slots))


def assign_tasks(worth: FloatArray, slots: IntArray | Sequence[int]) -> tuple[int, ...]:
    """Return the node of each task so that the sum of *worth* (P, N) is largest.

    *slots* (N,) is how many tasks each node may get, together at least P.

    Raises
    ------
    ValueError
        If there are fewer slots than tasks.
    """
    tasks = worth.shape[0]
    columns = np.repeat(np.arange(worth.shape[1]), np.minimum(slots, tasks))
    if len(columns) < tasks:
        raise ValueError(f"{tasks} tasks and {len(columns)} slots")
    if not worth.any():
        return tuple(columns[:tasks].tolist())
    _, chosen = linear_sum_assignment(worth[:, columns], maximize=True)
    return tuple(columns[chosen].tolist())
