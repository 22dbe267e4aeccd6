"""The statistics of tasks and key groups as matrices over the windows of the time range.

Shapes: W windows, T tasks of all operators in the order of a :class:`~ftplan.model.task_graph.TaskGraph`, K key groups
of one operator. A window without a row means no records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.measures.key_group_series import beyond_key_groups, known_operator, stated_key_groups
from ftplan.model.measures.task_costs import known_task
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import window_numbers
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MeasuredTasks:
    """The statistics of all tasks, window by window, each (W, T); NaN where a value is unknown."""

    records_in: FloatArray
    records_out: FloatArray
    cpu_ms: FloatArray
    busy_ms: FloatArray
    memory_bytes: FloatArray
    queue_length: FloatArray
    #: Where those of each operator come from, by position in the topology: ``tasks``, ``key_groups`` or nothing
    source: tuple[str | None, ...]
    counts_output: tuple[bool, ...]  # which operators have ``records_out``, by position
    #: (W, T) records that a task processed: those that it read, those that it wrote where its operator read none. The
    #: latter are sources, whose readers rarely count what they read.
    processed: FloatArray


@dataclass(frozen=True, eq=False)
class MeasuredGroups:
    """The statistics of the key groups of one operator, window by window, each (W, K)."""

    records: FloatArray
    cpu_ms: FloatArray  # NaN where unknown
    state_bytes: FloatArray  # the last one seen; NaN before

    def load(self, window: slice) -> FloatArray:
        """Return the load of each key group in some windows, (K,): cpu milliseconds if all are known, else records."""
        records, cpu_ms = self.records[window].sum(axis=0), self.cpu_ms[window].sum(axis=0)
        return np.asarray(cpu_ms if cpu_ms.sum() > 0.0 else records)  # NaN > 0 is false


def measured_groups(graph: TaskGraph, stats: StatsTables) -> dict[str, MeasuredGroups]:
    """Return what statistics say of the key groups of each keyed operator that they have. Cost: a pass a column.

    Raises
    ------
    FtplanError
        If the statistics name an operator or key group that the topology does not have.
    """
    keyed = graph.topology.keyed_operators
    ends = np.cumsum([0, *(operator.key_groups or 0 for operator in keyed)]).tolist()
    parts = {o.id: slice(a, b) for o, a, b in zip(keyed, ends[:-1], ends[1:], strict=True)}

    def check(name: str, largest: int) -> None:
        facts = stats.manifest.operators.get(name)
        operator = known_operator(name, graph.topology)
        count = stated_key_groups(operator, facts.key_groups if facts is not None else None)
        if largest >= count:
            raise beyond_key_groups(name, count, largest)

    table = stats.tables["key_groups"]
    rows = _rows(table, "key_group", parts, check, stats)
    records, cpu_ms = (_spread(table[name], rows, 0.0) for name in ("records", "cpu_ms"))
    state = carried(_spread(table["state_bytes"], rows, np.nan))
    return {
        name: MeasuredGroups(records[:, parts[name]], cpu_ms[:, parts[name]], state[:, parts[name]])
        for name in sorted(rows.operators)
    }


def measured_tasks(graph: TaskGraph, stats: StatsTables, groups: Mapping[str, MeasuredGroups]) -> MeasuredTasks:
    """Return what statistics say of all tasks: the table ``tasks``, and *groups* by the engine's ranges without it.

    Cost: a pass a column.

    Raises
    ------
    FtplanError
        If the statistics name an operator or task that the topology does not have.
    """
    shape = (stats.manifest.windows, graph.tasks)
    columns = {name: np.full(shape, np.nan) for name in _TASK_COLUMNS}
    named: Collection[str] = ()
    table = stats.tables.get("tasks")
    if table is not None:
        by_id = {operator.id: graph.slice_of(i) for i, operator in enumerate(graph.topology.operators)}
        rows = _rows(table, "task", by_id, partial(known_task, graph), stats)
        named = rows.operators
        columns = {name: _spread(table[name], rows, without) for name, without in _TASK_COLUMNS.items()}
        columns["memory_bytes"] = carried(columns["memory_bytes"])
    source: list[str | None] = [None] * len(graph.topology.operators)
    for i, operator in enumerate(graph.topology.operators):
        part = graph.slice_of(i)
        known = groups.get(operator.id)
        if operator.id in named:
            source[i] = "tasks"
        elif known is not None:
            source[i] = "key_groups"
            owner = operator.task_of_key_groups()
            columns["records_in"][:, part] = by_task(known.records, owner, operator.parallelism)
            columns["cpu_ms"][:, part] = by_task(known.cpu_ms, owner, operator.parallelism)
        if known is not None and np.isnan(columns["memory_bytes"][:, part]).all():
            held = by_task(known.state_bytes, operator.task_of_key_groups(), operator.parallelism)
            columns["memory_bytes"][:, part] = held
    parts = [graph.slice_of(i) for i in range(len(source))]
    wrote = tuple(not np.isnan(columns["records_out"][:, part]).all() for part in parts)
    processed = columns["records_in"].copy()
    for part, writes in zip(parts, wrote, strict=True):
        if writes and not np.nansum(processed[:, part]) > 0.0:
            processed[:, part] = columns["records_out"][:, part]
    return MeasuredTasks(**columns, source=tuple(source), counts_output=wrote, processed=processed)


#: Columns of the table ``tasks``, and what a window without a row says.
_TASK_COLUMNS: Mapping[str, float] = {
    "records_in": 0.0,
    "records_out": 0.0,
    "cpu_ms": 0.0,
    "busy_ms": 0.0,
    "memory_bytes": np.nan,
    "queue_length": 0.0,
}


def by_task(values: FloatArray, owner: IntArray, parallelism: int) -> FloatArray:
    """Return sums over the key groups of each task, (W, parallelism), from (W, K); *owner* ascends. NaN stays NaN."""
    first = np.searchsorted(owner, np.arange(parallelism))
    owning = np.bincount(owner, minlength=parallelism) > 0
    total = np.zeros((len(values), parallelism))
    total[:, owning] = np.add.reduceat(values, first[owning], axis=1)
    return total


class _Rows(NamedTuple):
    """Where the rows of a table go in a matrix (W, columns)."""

    cell: IntArray  # (rows,) in the flat matrix
    code: IntArray  # (rows,) number of the operator in *operators*
    operators: tuple[str, ...]
    parts: Mapping[str, slice]  # columns of each operator
    shape: tuple[int, int]


def _rows(
    table: Any, index: str, parts: Mapping[str, slice], check: Callable[[str, int], Any], stats: StatsTables
) -> _Rows:
    """Return where rows go; *check* raises where an operator or its largest number is not in the topology."""
    encoded = table["operator"].combine_chunks().dictionary_encode()
    code = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    names = tuple(encoded.dictionary.to_pylist())
    number = table[index].to_numpy().astype(np.int64)
    largest = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(largest, code, number)
    for name, most in zip(names, largest.tolist(), strict=True):
        check(name, most)
    begin = np.array([parts[name].start for name in names], dtype=np.int64)
    window, _ = window_numbers(table["window_start"], stats.manifest)
    columns = max((part.stop for part in parts.values()), default=0)
    return _Rows(window * columns + begin[code] + number, code, names, parts, (stats.manifest.windows, columns))


def _spread(column: Any, rows: _Rows, without_row: float) -> FloatArray:
    """Return a column as a matrix: *without_row* in cells without a row; NaN for no value, or none of an operator."""
    values = np.full(rows.shape, np.nan)
    if column.null_count == len(column):
        return values
    given = column.cast("float64").fill_null(np.nan).to_numpy()
    having = np.bincount(rows.code, ~np.isnan(given), minlength=len(rows.operators))
    for code in np.flatnonzero(having).tolist():
        values[:, rows.parts[rows.operators[code]]] = without_row
    values.reshape(-1)[rows.cell] = given
    return values


def carried(values: FloatArray) -> FloatArray:
    """Return values, (W, X), with the last one before in place of each unknown one; NaN before the first."""
    last = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(values))[:, None]), axis=0)
    return np.asarray(np.take_along_axis(values, last, axis=0))
