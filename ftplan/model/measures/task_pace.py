"""How fast tasks can work beside how fast they usually do."""

from __future__ import annotations

import numpy as np

from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray

#: No task takes a larger share of what it can: it has kept up with its input so far, with something to spare.
MOST_USED = 0.95


def record_time_s(graph: TaskGraph, cost: FloatArray, processed: FloatArray) -> FloatArray:
    """Return the core-seconds that each task takes for a record: stated, else cores over input rate, shape (tasks,)."""
    operators = graph.topology.operators
    stated = np.array([np.nan if item.record_time_s is None else item.record_time_s for item in operators])
    derived = np.divide(cost, processed, out=np.zeros(graph.tasks), where=processed > 0.0)
    return np.where(np.isnan(stated[graph.operator_of]), derived, stated[graph.operator_of])


def most_cores(usual: FloatArray, headroom: float) -> FloatArray:
    """Return the cores of each task at its fastest pace: one, or *headroom* times its usual ones, (tasks,)."""
    return np.maximum(1.0, headroom * usual)


def pace_used(graph: TaskGraph, cost: FloatArray, headroom: float) -> FloatArray:
    """Return which share of its fastest pace each task takes for its usual input, rho, shape (tasks,).

    0 for tasks that neither get nor emit records, at most ``MOST_USED``.

    Parameters
    ----------
    cost
        Cores of each task at its usual rate, shape (tasks,).
    headroom
        How many times its usual cores a task can use at least.
    """
    flow = rates(graph)
    processed = np.where(_fed(graph), flow.into, flow.out)
    usual = record_time_s(graph, cost, processed) * processed
    return np.minimum(usual / most_cores(usual, headroom), MOST_USED)


def _fed(graph: TaskGraph) -> BoolArray:
    """Return which tasks any stream leads to, shape (tasks,)."""
    fed = np.zeros(graph.tasks, dtype=np.bool_)
    for i, edges in enumerate(graph.in_edges):
        here = fed[graph.slice_of(i)]
        for edge in edges:
            pairs = graph.pairs(edge)
            here[slice(None) if pairs is None else pairs[1]] = True
    return fed
