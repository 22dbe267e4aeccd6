"""How the tasks of a job were used, window by window: what tells a bottleneck, from the tables of statistics.

Shapes: W windows, T tasks of all operators in the order of a :class:`~ftplan.model.task_graph.TaskGraph` or of one
operator, K key groups of one operator. A window without a row means no records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ftplan.metrics.key_group_series import beyond_key_groups, known_operator, stated_key_groups
from ftplan.metrics.task_costs import known_task
from ftplan.metrics.true_rates import mean_true_rate, true_rates
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import window_numbers
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import MS_PER_CORE_SECOND


@dataclass(frozen=True, eq=False)
class OperatorHistory:
    """What one operator did in each window, and what it would have had to do.

    The three inputs of the fuzzy inference are percentages, NaN where unknown. The paper does not say what its data
    size measures [Mudassar2019]: that it is the records that wait for a task, over what the task takes in a window, is
    ours.

    Attributes
    ----------
    cpu
        (W, T) share of the window in which the task was busy.
    memory
        (W, T) memory that it held over what it may hold.
    data
        (W, T) records that came or waited in the window over what it processes in a window without a pause.
    processed
        (W, T) records that it processed: those that it read, of sources those that it wrote.
    busy_s
        (W, T) seconds in which it was busy, above the window's length where it used more cores than it reserves.
    demand
        (W,) records/s that the sources offered it, NaN where nothing tells.
    true_rates
        (T,) records/s that each task would process without a pause, in the look-back; NaN where unknown.
    true_rate
        Their mean.
    """

    operator: str
    cpu: FloatArray
    memory: FloatArray
    data: FloatArray
    processed: FloatArray
    busy_s: FloatArray
    demand: FloatArray
    true_rates: FloatArray
    true_rate: float

    @property
    def inputs(self) -> FloatArray:
        """The three inputs as the fuzzy inference takes them, (W, T, 3)."""
        return np.stack([self.cpu, self.memory, self.data], axis=-1)

    @property
    def needed(self) -> FloatArray:
        """Tasks that the demand would have kept busy in each window, (W,); 0 where the true rate is unknown."""
        if not self.true_rate > 0.0:
            return np.zeros(len(self.demand))
        return np.nan_to_num(self.demand / self.true_rate)


def histories(
    graph: TaskGraph,
    measured: MeasuredTasks,
    demand: FloatArray,
    window_s: float,
    window: slice,
    task_capacity: float | None = None,
    task_memory: FloatArray | None = None,
) -> tuple[OperatorHistory, ...]:
    """Return the history of each operator, by position in the topology. Cost O(W T).

    Parameters
    ----------
    demand
        (operators, W) in records/s.
    window
        The windows that true rates follow from; those of a task that did not work in them follow from all.
    task_capacity
        Records/s that a task takes, in place of true rates.
    task_memory
        (T,) bytes that each task may hold, infinite or NaN where unknown.
    """
    operators = graph.topology.operators
    stated = np.full(graph.tasks, np.nan)
    for i, operator in enumerate(operators):
        if operator.record_time_s is not None:
            stated[graph.slice_of(i)] = operator.record_time_s
    busy = busy_seconds(measured, graph.per_task("cpu"), stated)
    rate = true_rates(measured.processed[window], busy[window])
    rate = np.where(np.isnan(rate), true_rates(measured.processed, busy), rate)
    if task_capacity is not None:
        rate = np.full(graph.tasks, task_capacity)
        busy = np.where(np.isnan(busy), measured.processed / task_capacity, busy)
    room = np.full(graph.tasks, np.nan) if task_memory is None else np.where(task_memory > 0.0, task_memory, np.nan)
    memory = _percent(measured.memory_bytes, np.where(np.isinf(room), np.nan, room))
    cpu = _percent(busy, np.full(graph.tasks, window_s))
    waiting = measured.processed + np.nan_to_num(measured.queue_length)
    made = []
    for i, operator in enumerate(operators):
        part = graph.slice_of(i)
        mean = mean_true_rate(rate[part])
        takes = np.where(np.isnan(rate[part]), mean, rate[part]) * window_s
        made.append(
            OperatorHistory(
                operator=operator.id,
                cpu=cpu[:, part],
                memory=memory[:, part],
                data=_percent(waiting[:, part], takes),
                processed=measured.processed[:, part],
                busy_s=busy[:, part],
                demand=demand[i],
                true_rates=rate[part],
                true_rate=mean,
            )
        )
    return tuple(made)


def _percent(values: FloatArray, whole: FloatArray) -> FloatArray:
    """Return values (W, T) over what is the whole of each task (T,), at most 100; NaN where unknown."""
    return np.asarray(np.clip(100.0 * values / whole, 0.0, 100.0))


@dataclass(frozen=True, eq=False)
class MeasuredTasks:
    """The statistics of all tasks, window by window, each (W, T); NaN where a value is unknown.

    Attributes
    ----------
    source
        Where those of each operator come from, by position in the topology: ``tasks``, ``key_groups`` or nothing.
    counts_output
        Which operators have ``records_out``, by position.
    processed
        (W, T) records that a task processed: those that it read, those that it wrote where its operator read none.
        The latter are sources, whose readers rarely count what they read.
    """

    records_in: FloatArray
    records_out: FloatArray
    cpu_ms: FloatArray
    busy_ms: FloatArray
    memory_bytes: FloatArray
    queue_length: FloatArray
    source: tuple[str | None, ...]
    counts_output: tuple[bool, ...]
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
    state = _carried(_spread(table["state_bytes"], rows, np.nan))
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
        columns["memory_bytes"] = _carried(columns["memory_bytes"])
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


def busy_seconds(measured: MeasuredTasks, cpu: FloatArray, record_time_s: FloatArray) -> FloatArray:
    """Return the seconds in which each task was busy, (W, T), NaN where nothing tells.

    In this order: ``busy_ms``; ``cpu_ms`` over the task's cores; records times the time per record over the cores.

    Parameters
    ----------
    cpu
        Cores that each task reserves, (T,).
    record_time_s
        Cpu seconds per record, (T,), NaN where unknown.
    """
    cores = np.where(cpu > 0.0, cpu, np.nan)
    by_cpu = measured.cpu_ms / (MS_PER_CORE_SECOND * cores)
    by_records = measured.processed * (record_time_s / cores)
    busy = measured.busy_ms / 1000.0
    busy = np.where(np.isnan(busy), by_cpu, busy)
    return np.asarray(np.where(np.isnan(busy), by_records, busy))


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
    given = column.cast("float64").fill_null(np.nan).to_numpy()
    values = np.full(rows.shape, np.nan)
    for code in np.unique(rows.code[~np.isnan(given)]).tolist():
        values[:, rows.parts[rows.operators[code]]] = without_row
    values.reshape(-1)[rows.cell] = given
    return values


def _carried(values: FloatArray) -> FloatArray:
    """Return values, (W, X), with the last one before in place of each unknown one."""
    last = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(values))[:, None]), axis=0)
    return np.asarray(np.take_along_axis(values, last, axis=0))
