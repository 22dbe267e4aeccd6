"""What each task costs in cores: by measurement where there is one, else by the topology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Placement
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.ranges import CORES
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray

#: How many tasks without statistics a warning names.
NAMED = 3


@dataclass(frozen=True, eq=False)
class TaskCosts:
    """Cores of each task, shape (tasks,), and where they come from."""

    cost: FloatArray
    source: Literal["topology", "statistics"]
    warnings: tuple[Warn, ...] = ()


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
    range_ms = stats.manifest.windows * stats.manifest.window_s * 1000.0
    by_task, by_group = _sums_of_tasks(graph, stats), _sums_of_key_groups(graph, stats)
    cost = np.full(graph.tasks, np.nan)
    for sums in (by_task, by_group):
        measured = sums.get("cpu_ms")
        if measured is not None and range_ms > 0.0:
            cost = np.where(np.isnan(cost), measured / range_ms, cost)
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
    return TaskCosts(cost, "statistics", _warnings(graph, missing))


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


def _sums_of_tasks(graph: TaskGraph, stats: StatsTables) -> dict[str, FloatArray]:
    """Sum the columns of the ``tasks`` table by task, NaN for tasks without a value, shape (tasks,) each."""
    if "tasks" not in stats.tables:
        return {}
    columns = ("records_in", "records_out", "cpu_ms")
    grouped = _grouped(stats.tables["tasks"], "task", columns)
    place = np.empty(len(grouped["operator"]), dtype=np.int64)
    for row, (operator, index) in enumerate(zip(grouped["operator"], grouped["task"], strict=True)):
        position = _known(graph, operator)
        parallelism = graph.topology.operators[position].parallelism
        if index >= parallelism:
            raise FtplanError(
                f"the statistics have task {operator}/{index}, but {operator!r} has {parallelism} tasks in the "
                "topology: make them equal"
            )
        place[row] = graph.offset[position] + index
    return {name: _laid_out(graph, place, grouped[name]) for name in columns}


def _sums_of_key_groups(graph: TaskGraph, stats: StatsTables) -> dict[str, FloatArray]:
    """Sum records and ``cpu_ms`` of the key groups by owning task, NaN for tasks without a value, shape (tasks,)."""
    columns = ("records", "cpu_ms")
    grouped = _grouped(stats.tables["key_groups"], "key_group", columns)
    place = np.empty(len(grouped["operator"]), dtype=np.int64)
    owners: dict[str, IntArray] = {}
    for row, (operator, group) in enumerate(zip(grouped["operator"], grouped["key_group"], strict=True)):
        position = _known(graph, operator)
        if operator not in owners:
            owners[operator] = _owners(graph, position, stats)
        if group >= len(owners[operator]):
            raise FtplanError(
                f"operator {operator!r} has {len(owners[operator])} key groups in the topology, but the statistics "
                f"have key group {group}"
            )
        place[row] = owners[operator][group]
    return {name: _laid_out(graph, place, grouped[name]) for name in columns}


def _owners(graph: TaskGraph, operator: int, stats: StatsTables) -> IntArray:
    """Return the task number that owns each key group of an operator."""
    item = graph.topology.operators[operator]
    known = stats.manifest.operators.get(item.id)
    counted = known.key_groups if known is not None else None
    if item.key_groups is None:
        raise FtplanError(
            f"the statistics have key groups of operator {item.id!r}, which has none in the topology: "
            f"give it 'key_groups: {counted or '…'}'"
        )
    if counted is not None and counted != item.key_groups:
        raise FtplanError(
            f"operator {item.id!r} has {item.key_groups} key groups in the topology, but {counted} in the "
            "statistics: make them equal, or compute the statistics again with the topology"
        )
    return item.task_of_key_groups() + int(graph.offset[operator])


def _known(graph: TaskGraph, operator: str) -> int:
    known = graph.topology.position
    if operator not in known:
        near = suggestion(operator, known)
        raise FtplanError(f"the statistics have an operator {operator!r}, which the topology does not know{near}")
    return known[operator]


def _grouped(table: Any, index: str, columns: tuple[str, ...]) -> dict[str, list[Any]]:
    """Sum columns of a table by (operator, index), in this order; a sum of absent values only is None."""
    import pyarrow.compute as pc  # loaded where there are tables to sum

    keep_none = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
    summed = table.group_by(["operator", index]).aggregate([(name, "sum", keep_none) for name in columns])
    summed = summed.sort_by([("operator", "ascending"), (index, "ascending")])
    found = {name: summed[f"{name}_sum"].to_pylist() for name in columns}
    return {"operator": summed["operator"].to_pylist(), index: summed[index].to_pylist(), **found}


def _laid_out(graph: TaskGraph, place: IntArray, values: list[float | None]) -> FloatArray:
    """Add values at their tasks, shape (tasks,); NaN for a task without any value."""
    known = np.array([value is not None for value in values], dtype=np.bool_)
    numbers = np.array([0.0 if value is None else value for value in values], dtype=np.float64)
    sums = np.bincount(place[known], weights=numbers[known], minlength=graph.tasks)
    counts = np.bincount(place[known], minlength=graph.tasks)
    return np.asarray(np.where(counts > 0, sums, np.nan), dtype=np.float64)


def _warnings(graph: TaskGraph, missing: IntArray) -> tuple[Warn, ...]:
    if len(missing) == 0:
        return ()
    named = ", ".join(f"{operator}/{index}" for operator, index in graph.names(missing[:NAMED]))
    more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
    subject = "1 task has" if len(missing) == 1 else f"{len(missing):,} tasks have"
    text = f"{subject} no statistics of cpu or records and cost what the topology says: {named}{more}"
    return (Warn("COST_FROM_TOPOLOGY", text),)
