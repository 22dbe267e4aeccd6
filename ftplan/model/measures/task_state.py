"""How much state each task has to restore, and how many bytes each of its key groups has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.measures.key_group_series import key_group_series
from ftplan.model.measures.task_costs import measured_by_task
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, Operator

#: Relative difference from which on memory and the topology's state disagree.
TOLERANCE = 0.01


def key_group_state(operator: Operator, series: KeyGroupSeries | None) -> FloatArray:
    """Return the state of each key group of a keyed operator in bytes, shape (key_groups,), NaN where unknown.

    The largest measured state over all windows wins; else the topology's ``state_bytes`` of the group's task divided
    by the task's number of key groups, if it is more than 0.
    """
    task = operator.task_of_key_groups()
    groups_of_task = np.bincount(task, minlength=operator.parallelism)
    state = operator.state_bytes[task] / groups_of_task[task]
    state = np.where(state > 0, state, np.nan)
    if series is not None and operator.id in series.operators:
        mine = series.operator == series.operators.index(operator.id)
        group, measured = series.key_group[mine], series.state_bytes[mine]
        known = ~np.isnan(measured) & (group >= 0) & (group < state.size)
        state[group[known]] = measured[known]
    return state


def even_ranges(key_groups: int, parallelism: int) -> tuple[tuple[int, int], ...]:
    """Return the first and last key group of each task where these are divided by number, as engines do.

    Key group g is with task floor(g * parallelism / key_groups).
    """
    first = -(-np.arange(parallelism + 1) * key_groups // parallelism)
    return tuple((a, b - 1) for a, b in zip(first[:-1].tolist(), first[1:].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class TaskState:
    """State in bytes: ``total`` of each task, shape (tasks,), and of each key group of a keyed operator by its id."""

    total: FloatArray
    by_group: Mapping[str, FloatArray]
    warnings: tuple[Warn, ...] = ()


def task_state(graph: TaskGraph, stats: StatsTables | None) -> TaskState:
    """Return the state of all tasks.

    In this order, for each operator:

    1. the state of its key groups in the statistics, of each the largest that was seen; one that was not seen has its
       part of the topology's ``state_bytes``;
    2. the largest ``memory_bytes`` of each task in the statistics, spread evenly over its key groups: what a task holds
       in memory has to fit where it is replicated, and to get where it is recovered. A warning says where the topology
       states something else;
    3. the topology's ``state_bytes``, spread likewise.

    Raises
    ------
    FtplanError
        If the statistics' key groups do not fit the topology.
    """
    series = None
    stated = graph.per_task("state_bytes").astype(np.float64)
    total = stated.copy()
    memory = np.full(graph.tasks, np.nan)
    if stats is not None:
        state = stats.tables["key_groups"]["state_bytes"]
        if state.null_count < len(state):
            series = key_group_series(stats, "records", graph.topology)
        memory = _memory(graph, stats, series)
        total = np.where(np.isnan(memory), stated, memory)
    by_group: dict[str, FloatArray] = {}
    for operator in graph.topology.keyed_operators:
        tasks = graph.slice_of(graph.topology.position[operator.id])
        groups = np.nan_to_num(key_group_state(replace(operator, state_bytes=total[tasks]), series))
        owner = operator.task_of_key_groups()
        by_group[operator.id] = groups
        owning = np.bincount(owner, minlength=operator.parallelism) > 0
        summed = np.bincount(owner, weights=groups, minlength=operator.parallelism)
        total[tasks] = np.where(owning, summed, total[tasks])
    return TaskState(total, by_group, _warnings(graph, stated, memory, total))


def _memory(graph: TaskGraph, stats: StatsTables, series: KeyGroupSeries | None) -> FloatArray:
    """Return the largest memory of each task in bytes, (tasks,); NaN where unknown and beside measured state."""
    columns = measured_by_task(graph, stats, ("memory_bytes",), "max")
    memory = columns.get("memory_bytes", np.full(graph.tasks, np.nan))
    if series is not None:
        for i in np.unique(series.operator[~np.isnan(series.state_bytes)]).tolist():
            memory[graph.slice_of(graph.topology.position[series.operators[i]])] = np.nan
    return memory


def _warnings(graph: TaskGraph, stated: FloatArray, memory: FloatArray, total: FloatArray) -> tuple[Warn, ...]:
    """Say where memory stands in for another state that the topology states."""
    taken = np.isclose(total, memory, rtol=ROUNDING, atol=0.0) & (stated > 0.0)
    apart = np.abs(total - stated) > TOLERANCE * np.maximum(total, stated)
    differing = np.flatnonzero(taken & apart)
    if len(differing) == 0:
        return ()
    worst = int(differing[np.argmax(np.abs(total - stated)[differing])])
    operator, index = graph.name(worst)
    more = f", and that of {len(differing) - 1:,} more tasks" if len(differing) > 1 else ""
    text = (
        f"the state of {operator}/{index} is its measured memory of {total[worst]:.6g} bytes; the topology says "
        f"{stated[worst]:.6g}{more}"
    )
    return (Warn("STATE_DISAGREES", text),)
