"""How much state each task has to restore, and how it divides over key groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ftplan.metrics.key_group_series import key_group_series
from ftplan.model.key_group_state import key_group_state
from ftplan.model.problem import StatsTables
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray


@dataclass(frozen=True, eq=False)
class TaskState:
    """State in bytes: ``total`` of each task, shape (tasks,), and of each key group of a keyed operator by its id."""

    total: FloatArray
    by_group: Mapping[str, FloatArray]


def task_state(graph: TaskGraph, stats: StatsTables | None) -> TaskState:
    """Return the state of all tasks.

    The topology's ``state_bytes``, spread evenly over a task's key groups; where the statistics have the state of a
    key group, the largest that was seen wins.

    Raises
    ------
    FtplanError
        If the statistics' key groups do not fit the topology.
    """
    series = None
    if stats is not None:
        state = stats.tables["key_groups"]["state_bytes"]
        if state.null_count < len(state):
            series = key_group_series(stats, "records", graph.topology)
    total = graph.per_task("state_bytes").astype(np.float64)
    by_group: dict[str, FloatArray] = {}
    for operator in graph.topology.keyed_operators:
        groups = np.nan_to_num(key_group_state(operator, series))
        owner = operator.task_of_key_groups()
        by_group[operator.id] = groups
        tasks = graph.slice_of(graph.topology.position[operator.id])
        owning = np.bincount(owner, minlength=operator.parallelism) > 0
        summed = np.bincount(owner, weights=groups, minlength=operator.parallelism)
        total[tasks] = np.where(owning, summed, total[tasks])
    return TaskState(total, by_group)
