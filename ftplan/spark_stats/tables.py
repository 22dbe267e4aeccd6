"""From the sums of the pass to the tables of the statistics folder, in Arrow and numpy, on the driver.

Sums come as :func:`ftplan.spark_stats.windows.aggregate` returns them; tables go out with the columns and the
order of :mod:`ftplan.model.statistics`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ftplan.errors import FtplanError
from ftplan.model.statistics import TABLES
from ftplan.spark_stats.mapping import LogMapping, micros
from ftplan.spark_stats.operators import Operators
from ftplan.spark_stats.records import LARGEST, SCALES

#: From the finest to the coarsest.
_RESOLUTIONS = ("key_group", "task", "operator")


def accepted(sums: Any, entries: Sequence[str | None], ids: Mapping[str, str]) -> Any:
    """Return the sums of a table with ``operator`` as an id, measures in their units and ``records``.

    Rows that differ only in the name of one operator stay apart.
    """
    names = pa.array([o or "" for o in entries], pa.string()).take(sums["entry"].combine_chunks())
    if "operator" in sums.column_names:
        by_name = _resolved(sums["operator"], ids)
        constant = pa.array([o is not None for o in entries]).take(sums["entry"].combine_chunks())
        names = pc.if_else(constant, names, by_name)
        sums = sums.drop_columns(["operator"])
    sums = sums.append_column("operator", names)
    for name, scale in SCALES.items():
        if name in sums.column_names:
            value = pc.divide(sums[name].cast(pa.float64(), safe=False), scale)
            sums = sums.set_column(sums.column_names.index(name), name, value)
    if "records" not in sums.column_names:
        sums = sums.append_column("records", sums["rows"].cast(pa.float64()))
    return sums


def _resolved(names: Any, ids: Mapping[str, str]) -> Any:
    given = names.combine_chunks().cast(pa.string()).dictionary_encode()
    return pa.array([ids[n] for n in given.dictionary.to_pylist()], pa.string()).take(given.indices)


def merged(sums: Any, keys: Sequence[str]) -> Any:
    """Return the sums (maxima of memory, queue and state) over all rows that agree in *keys*."""
    values = [n for n in ("rows", *SCALES, *LARGEST) if n in sums.column_names]
    if pc.count_distinct(sums["operator"]).as_py() == 1 and set(sums.column_names) <= {*keys, *values, "entry"}:
        return sums.select([*keys, *values])  # one operator, nothing finer than the keys: each row is a sum already
    totals = sums.group_by(list(keys)).aggregate([(v, "max" if v in LARGEST else "sum") for v in values])
    return totals.rename_columns([c.removesuffix("_sum").removesuffix("_max") for c in totals.column_names])


def key_groups_table(measured: Any | None, *spread: Any | None) -> Any:
    """Return ``key_groups``: the measured sums by key group, and what was spread over key groups.

    Where both say something of one key group and window, the two are one row, estimated.
    """
    parts = [part for part in spread if part is not None]
    if measured is not None and measured.num_rows:
        totals = merged(measured, ("operator", "slot", "window_us"))
        parts.append(
            totals.append_column("resolution", pa.array(["key_group"] * totals.num_rows, pa.string())).append_column(
                "estimated", pa.array(np.zeros(totals.num_rows, np.bool_))
            )
        )
    named = {"slot": "key_group", "cpu": "cpu_ms", "state": "state_bytes"}
    order = ("operator", "key_group", "window_start")
    return (
        _one_row_each(_ordered("key_groups", parts, named, order), order)
        if len(parts) > 1
        else _ordered("key_groups", parts, named, order)
    )


def _one_row_each(table: Any, keys: Sequence[str]) -> Any:
    """Return the table with rows of equal *keys* added up: the largest state counts, the coarsest resolution."""
    if table.group_by(list(keys)).aggregate([]).num_rows == table.num_rows:
        return table
    coarse = pc.index_in(table["resolution"], pa.array(_RESOLUTIONS))
    table = table.set_column(table.column_names.index("resolution"), "resolution", coarse)
    how = {"state_bytes": "max", "resolution": "max", "estimated": "max"}
    values = [c for c in table.column_names if c not in keys]
    one = table.group_by(list(keys)).aggregate([(c, how.get(c, "sum")) for c in values])
    one = one.rename_columns([*keys, *values])
    named = pa.array(_RESOLUTIONS).take(one["resolution"].combine_chunks())
    one = one.set_column(one.column_names.index("resolution"), "resolution", named)
    return _ordered("key_groups", [one], {}, keys)


def spread_over_groups(sums: Any, operators: Operators, by_task: bool) -> Any | None:
    """Return the sums of tasks (or of whole operators) in equal parts over the key groups that these hold.

    How many tasks an operator has is the topology's to say; without one, as many as the log shows.
    None where no operator has key groups.

    Raises FtplanError if the log shows more tasks than the operator has key groups.
    """
    keys = ("operator", "slot", "window_us") if by_task else ("operator", "window_us")
    totals = merged(sums, keys)
    names = totals["operator"].to_pylist()
    tasks = totals["slot"].to_numpy() if by_task else np.zeros(totals.num_rows, np.int64)
    first, size = np.zeros(totals.num_rows, np.int64), np.zeros(totals.num_rows, np.int64)
    for name in sorted(set(names)):
        rows = np.flatnonzero(np.array([n == name for n in names]))
        count = operators.count(name) or 0
        parallelism = 1
        if by_task and operators.topology is not None:
            parallelism = operators.topology.operator(name).parallelism
        elif by_task:
            parallelism = int(tasks[rows].max()) + 1
            if 0 < count < parallelism:
                raise FtplanError(
                    f"--key-groups {count}: the log has task {parallelism - 1} of operator {name!r}; "
                    f"{parallelism} tasks need at least as many key groups"
                )
        begin = -(-np.arange(parallelism + 1, dtype=np.int64) * count // parallelism)
        first[rows] = begin[tasks[rows]]
        size[rows] = begin[tasks[rows] + 1] - begin[tasks[rows]]
    if not size.any():
        return None
    repeat = np.repeat(np.arange(totals.num_rows), size)
    within = np.arange(repeat.size) - np.repeat(np.cumsum(size) - size, size)
    columns: dict[str, Any] = {
        "operator": totals["operator"].combine_chunks().take(pa.array(repeat)),
        "slot": pa.array(first[repeat] + within),
        "window_us": totals["window_us"].combine_chunks().take(pa.array(repeat)),
    }
    for name in ("records", "bytes", "cpu", "state"):
        if name in totals.column_names:
            values = totals[name].combine_chunks().take(pa.array(repeat))
            columns[name] = pc.divide(values, pa.array(size[repeat].astype(np.float64)))
    columns["resolution"] = pa.array(["task" if by_task else "operator"] * repeat.size, pa.string())
    columns["estimated"] = pa.array(np.ones(repeat.size, np.bool_))
    return pa.table(columns)


def tasks_table(tasks: Any, substreams: Any | None) -> Any:
    """Return ``tasks``; what a task sent comes from its own column, else from the substreams that leave it."""
    totals = merged(tasks, ("operator", "slot", "window_us"))
    totals = totals.rename_columns(["records_in" if c == "records" else c for c in totals.column_names])
    if substreams is not None and substreams.num_rows:
        sent = substreams.group_by(["from_operator", "from_task", "window_start"]).aggregate([("records", "sum")])
        sent = sent.rename_columns(["operator", "slot", "window_us", "sent"])
        sent = sent.set_column(2, "window_us", sent["window_us"].cast(pa.int64()))
        totals = totals.set_column(1, "slot", totals["slot"].cast(pa.int32()))
        totals = totals.join(sent, ["operator", "slot", "window_us"], join_type="full outer")
        totals = _filled(totals, "records_in")
        out = pc.coalesce(totals["records_out"], totals["sent"]) if "records_out" in totals.column_names else (
            totals["sent"]
        )  # fmt: skip
        totals = totals.drop_columns([c for c in ("records_out", "sent") if c in totals.column_names])
        totals = totals.append_column("records_out", out)
    named = {"slot": "task", "cpu": "cpu_ms", "busy": "busy_ms", "memory": "memory_bytes", "queue": "queue_length"}
    return _ordered("tasks", [totals], named, ("operator", "task", "window_start"))


def as_given(table: Any, mapping: LogMapping, ids: Mapping[str, str]) -> Any:
    """Return a table of the log as it is, with operators by their ids and the batches that --from and --to leave."""
    started = table["batch_start"].cast(pa.int64())
    keep = pc.is_in(table["operator"], pa.array(list(ids), pa.string()))
    if mapping.time_from is not None:
        keep = pc.and_(keep, pc.greater_equal(started, micros(mapping.time_from)))
    if mapping.time_to is not None:
        keep = pc.and_(keep, pc.less(started, micros(mapping.time_to)))
    table = table.filter(keep)
    at = table.schema.get_field_index("operator")
    return table.set_column(at, table.schema.field(at), _resolved(table["operator"], ids)).combine_chunks()


def _filled(table: Any, name: str) -> Any:
    return table.set_column(table.column_names.index(name), name, pc.fill_null(table[name], 0.0))


def substreams_table(sums: Any, constant: str | None, ids: Mapping[str, str]) -> Any:
    """Return ``substreams``: records from each upstream task to each task."""
    if constant is not None:
        sender = pa.array([constant] * sums.num_rows, pa.string())
    else:
        sender = _resolved(sums["upstream_operator"], ids)
    totals = merged(
        sums.append_column("from_operator", sender),
        ("from_operator", "upstream_task", "operator", "slot", "window_us"),
    )
    named = {"upstream_task": "from_task", "operator": "to_operator", "slot": "to_task"}
    order = ("from_operator", "from_task", "to_operator", "to_task", "window_start")
    return _ordered("substreams", [totals], named, order)


def _ordered(name: str, parts: Sequence[Any], named: Mapping[str, str], order: Sequence[str]) -> Any:
    """Concatenate *parts* with the columns of table *name*, missing ones null, and sort by *order*."""
    schema = pa.schema([pa.field(c.name, c.arrow, nullable=c.nullable) for c in TABLES[name]])
    whole = []
    for part in parts:
        columns = [named.get(c, "window_start" if c == "window_us" else c) for c in part.column_names]
        part = part.rename_columns(columns)
        arrays = [part[f.name].cast(f.type) if f.name in columns else pa.nulls(part.num_rows, f.type) for f in schema]
        whole.append(pa.Table.from_arrays(arrays, schema=schema))
    table = pa.concat_tables(whole) if whole else schema.empty_table()
    return table.sort_by([(c, "ascending") for c in order]).combine_chunks()
