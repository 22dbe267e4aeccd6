"""What each task costs in cores: by measurement where there is one, else by the topology."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.cluster import Placement
from ftplan.model.measures.key_group_series import beyond_key_groups, known_operator, stated_key_groups
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.ranges import CORES
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.model.units import MS_PER_CORE_SECOND

#: How many tasks without statistics a warning names.
MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class TaskCosts:
    """Cores of each task, shape (tasks,), and where they come from; ``measured`` where ``cpu_ms`` says so."""

    cost: FloatArray
    source: Literal["topology", "statistics"]
    warnings: tuple[Warn, ...] = ()
    measured: BoolArray | None = None  # (tasks,), None without statistics


def task_costs(graph: TaskGraph, stats: StatsTables | None, placement: Placement | None = None) -> TaskCosts:
    """Return the cpu of each task in cores.

    Without statistics it is the topology's. With them, in this order and for each task:

    1. ``cpu_ms`` of the ``tasks`` table, over windows x window length;
    2. ``cpu_ms`` of its key groups, likewise;
    3. its share, by records, of the cpu of the process that hosts it ([SuZhouTR], section 2.3). A process is the tasks
       of one operator on one node, and its cpu the sum of what the topology says of them; without a placement it is
       the whole operator;
    4. the topology's cpu, with a warning.

    Raises
    ------
    FtplanError
        If the statistics name an operator, task or key group that the topology does not have.
    """
    stated = graph.per_task("cpu").astype(np.float64)
    if stats is None:
        return TaskCosts(stated, "topology")
    range_ms = stats.manifest.windows * stats.manifest.window_s * MS_PER_CORE_SECOND
    by_task = measured_by_task(graph, stats, ("records_in", "records_out", "cpu_ms"))
    by_group = _sums_of_key_groups(graph, stats)
    cost = np.full(graph.tasks, np.nan)
    for sums in (by_task, by_group):
        measured = sums.get("cpu_ms")
        if measured is not None and range_ms > 0.0:
            cost = np.where(np.isnan(cost), measured / range_ms, cost)
    by_cpu = ~np.isnan(cost)
    for i in range(len(graph.topology.operators)):
        tasks = graph.slice_of(i)
        open_ = np.isnan(cost[tasks])
        records = _records(by_task, by_group, tasks)
        if open_.any() and records is not None:
            process = _process(graph, i, placement)
            cost[tasks] = np.where(open_, _shared(stated[tasks], records, process, open_), cost[tasks])
    missing = np.flatnonzero(np.isnan(cost))
    cost[missing] = stated[missing]
    most = int(np.argmax(cost))
    if cost[most] > CORES.high:
        operator, index = graph.name(most)
        raise FtplanError(
            f"the statistics say that task {operator}/{index} takes {cost[most]:g} cores, more than {CORES.high:g}: "
            "mend cpu_ms, or the length of a window"
        )
    cost = np.where((cost > 0.0) & (cost < CORES.low), CORES.low, cost)
    return TaskCosts(cost, "statistics", _warnings(graph, missing), by_cpu)


def _shared(stated: FloatArray, records: FloatArray, process: IntArray, open_: Any) -> FloatArray:
    """Divide the cpu of each process by records among its tasks that are *open_*; NaN where it has no records."""
    size = int(process.max()) + 1
    cpu = np.bincount(process[open_], weights=stated[open_], minlength=size)
    total = np.bincount(process[open_], weights=records[open_], minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        per_record = np.where(total > 0.0, cpu / total, np.nan)
    return np.asarray(per_record[process] * records, dtype=np.float64)


def _process(graph: TaskGraph, operator: int, placement: Placement | None) -> IntArray:
    """Return the number of the process of each task of an operator, shape (parallelism,)."""
    item = graph.topology.operators[operator]
    nodes = placement.tasks.get(item.id) if placement is not None else None
    if nodes is None:
        return np.zeros(item.parallelism, dtype=np.int64)
    return np.asarray(np.unique(np.array(nodes), return_inverse=True)[1], dtype=np.int64)


def _records(by_task: Mapping[str, FloatArray], by_group: Mapping[str, FloatArray], tasks: slice) -> FloatArray | None:
    """Return the records of an operator's tasks, those out where none came in (sources); None without statistics."""
    for sums, name in ((by_task, "records_in"), (by_task, "records_out"), (by_group, "records")):
        records = sums.get(name)
        if records is not None and np.nansum(records[tasks]) > 0.0:
            return np.asarray(np.nan_to_num(records[tasks]), dtype=np.float64)
    return None


def known_task(graph: TaskGraph, operator: str, index: int) -> int:
    """Return the number of a task that statistics name; the topology has to have it."""
    parallelism = known_operator(operator, graph.topology).parallelism
    if index >= parallelism:
        raise FtplanError(
            f"the statistics have task {operator}/{index}, but {operator!r} has {parallelism} tasks in the "
            "topology: make them equal"
        )
    return graph.number(operator, index)


def measured_by_task(
    graph: TaskGraph, stats: StatsTables, columns: tuple[str, ...], over: Literal["sum", "max"] = "sum"
) -> dict[str, FloatArray]:
    """Return columns of the ``tasks`` table over all windows: shape (tasks,), NaN for tasks without any value.

    Raises
    ------
    FtplanError
        If the table names an operator or task that the topology does not have.
    """
    if "tasks" not in stats.tables:
        return {}
    return _over_windows(graph, stats.tables["tasks"], "task", columns, partial(known_task, graph), over)


def _sums_of_key_groups(graph: TaskGraph, stats: StatsTables) -> dict[str, FloatArray]:
    """Sum records and ``cpu_ms`` of the key groups by owning task."""
    owners: dict[str, list[int]] = {}

    def task_of(operator: str, group: int) -> int:
        if operator not in owners:
            item = known_operator(operator, graph.topology)
            facts = stats.manifest.operators.get(operator)
            stated_key_groups(item, facts.key_groups if facts is not None else None)
            owners[operator] = [graph.number(operator, task) for task in item.task_of_key_groups().tolist()]
        if group >= len(owners[operator]):
            raise beyond_key_groups(operator, len(owners[operator]), group)
        return owners[operator][group]

    return _over_windows(graph, stats.tables["key_groups"], "key_group", ("records", "cpu_ms"), task_of)


def _over_windows(
    graph: TaskGraph,
    table: Any,
    index: str,
    columns: tuple[str, ...],
    task_of: Callable[[str, int], int],
    over: Literal["sum", "max"] = "sum",
) -> dict[str, FloatArray]:
    """Sum columns of a table (*over* ``max``: take the largest of each index) by the task of each (operator, index).

    Shape (tasks,), NaN for tasks without any value.
    """
    import pyarrow.compute as pc  # loaded where there are tables to sum

    keep_none = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
    summed = table.group_by(["operator", index]).aggregate([(name, over, keep_none) for name in columns])
    summed = summed.sort_by([("operator", "ascending"), (index, "ascending")])
    names = zip(summed["operator"].to_pylist(), summed[index].to_pylist(), strict=True)
    place = np.array([task_of(*name) for name in names], dtype=np.int64)
    sums = {}
    for name in columns:
        values = np.array(summed[f"{name}_{over}"].to_pylist(), dtype=np.float64)  # None becomes NaN
        known = ~np.isnan(values)
        total = np.bincount(place[known], weights=values[known], minlength=graph.tasks)
        counts = np.bincount(place[known], minlength=graph.tasks)
        sums[name] = np.asarray(np.where(counts > 0, total, np.nan), dtype=np.float64)
    return sums


def _warnings(graph: TaskGraph, missing: IntArray) -> tuple[Warn, ...]:
    if len(missing) == 0:
        return ()
    named = ", ".join(f"{operator}/{index}" for operator, index in graph.names(missing[:MAX_NAMED]))
    more = f" and {len(missing) - MAX_NAMED:,} more" if len(missing) > MAX_NAMED else ""
    subject = "1 task has" if len(missing) == 1 else f"{len(missing):,} tasks have"
    text = f"{subject} no statistics of cpu or records and cost what the topology says: {named}{more}"
    return (Warn("COST_FROM_TOPOLOGY", text),)
