"""Logs of Flink's Slf4jReporter: reports of all metrics of a task manager, one after the other in its log file.

Tasks are told from the operators in them by metrics that only tasks have; what operators say of their state (RocksDB's
own metrics) counts for the task that they are part of. Times are taken as UTC, since the log names no zone. The log
does not say which operators have key groups: a topology or ``--key-groups`` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from ftplan.engines.flink.counter_rows import increases, state_rows
from ftplan.engines.flink.names import Scope, scopes, vertex_of
from ftplan.engines.log_rows import arrow_frame, engine_log
from ftplan.errors import FtplanError
from ftplan.model.names import slugs
from ftplan.model.plan import Warn
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.readers import Log
from ftplan.spark_stats.session import Session
from ftplan.spark_stats.texts import read_texts

_START, _END = "=+ Starting metrics report =+", "Finished metrics report"
_MOMENT = r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?[^\n]*\s*$"
#: Metrics of tasks that count, and Flink's own means over the last minute of the same.
_COUNTERS = {"numRecordsIn": "records", "numRecordsOut": "records_out", "numBytesIn": "bytes"}
_BUSY, _BUSY_RATE = "accumulateBusyTimeMs", "busyTimeMsPerSecond"
_MEAN_OVER_S = 60.0
#: What tells tasks from operators.
_OF_TASKS = "numBuffersOut"
#: Bytes of RocksDB, the best first.
_STATE = ("estimate-live-data-size", "live-sst-files-size", "total-sst-files-size")
_METRICS = [*_COUNTERS, *(f"{name}PerSecond" for name in _COUNTERS), _BUSY, _BUSY_RATE, _OF_TASKS]
_LINE = rf"^(.*)\.(\d+)\.({'|'.join(_METRICS)}|[^.]+\.rocksdb[._](?:{'|'.join(_STATE)})): (\S+)\s*$"
_MANAGER = r"^(.*)\.Status\.JVM\.CPU\.Load: \S+\s*$"


def read(
    session: Session, logs: Sequence[str], files: Sequence[LogFile], mapping: LogMapping
) -> tuple[Log, LogMapping]:
    """Return the log behind reporters' logs.

    Raises FtplanError if there is no report in them, or no subtask in the reports.
    """
    lines = _lines(session, files).toArrow()
    if not lines.num_rows:
        raise FtplanError(f"{files[0].path}: no report of Flink's Slf4jReporter with metrics of a task")
    managers = lines.filter(pc.is_null(lines["metric"]))["scope"].unique().to_pylist()
    lines = lines.filter(pc.and_(pc.is_valid(lines["metric"]), pc.is_valid(lines["time_us"])))
    tasks = set(lines.filter(pc.equal(lines["metric"], _OF_TASKS))["scope"].unique().to_pylist())
    known = scopes(lines["scope"].unique().to_pylist(), managers, tasks)
    vertices = {scope: known[scope] for scope in tasks if scope in known}
    if not vertices:
        raise FtplanError(
            f"{files[0].path}: no metric of a task, named <host>.taskmanager.<id>.<job>.<task>.<subtask>.<metric>"
        )
    ids = slugs({name: name for name in {scope.name for scope in vertices.values()}})
    readings, told = _readings(lines, vertices, ids)
    counted, warnings = increases(readings, mapping.window_us)
    if not counted.num_rows:
        raise FtplanError(f"{files[0].path}: no increase of a counter of a task between two reports")
    told.append(Warn("TIMES_AS_UTC", "the log names no time zone: its times are taken as UTC"))
    table = pa.concat_tables([counted, _states(lines, known, ids)], promote_options="default")
    return engine_log(arrow_frame(session, table), files, mapping, {}, warnings=(*told, *warnings))


def _lines(session: Session, files: Sequence[LogFile]) -> Any:
    """Return a row for each metric that counts: ``time_us``, ``scope``, ``task``, ``metric`` and ``value`` (double);
    of lines that name a task manager only the scope.
    """
    uris = [file.uri(percent_encoded=session.kind == "sail") for file in files]
    if session.kind == "sail":
        # Sail parts lines at single characters only: a file is a row.
        texts = read_texts(session, uris, whole=True).select(F.explode(F.split("value", _END)).alias("value"))
    else:
        texts = session.spark.read.option("lineSep", _END).text(uris)
    parts = texts.select(F.split("value", _START).alias("parts")).filter(F.size("parts") > 1)
    numbers = F.sequence(F.lit(1), F.size("parts") - 1)
    # The moment of a report stands at the end of what comes before it.
    pieces = parts.select(F.explode(numbers).alias("i"), "parts").select(
        F.element_at("parts", F.col("i")).alias("before"), F.element_at("parts", F.col("i") + 1).alias("report")
    )
    moment = [F.regexp_extract("before", _MOMENT, group) for group in (1, 2, 3)]
    day_time = F.concat(moment[0], F.lit(" "), moment[1], F.lit("+00:00"))
    seconds = F.unix_seconds(F.try_to_timestamp(day_time, F.lit("yyyy-MM-dd HH:mm:ssXXX")))
    time_us = seconds * 1_000_000 + F.rpad(moment[2], 6, "0").try_cast("bigint")
    lines = pieces.select(time_us.alias("time_us"), F.explode(F.split("report", "\n")).alias("line"))
    line = F.col("line")
    of_manager = line.rlike(_MANAGER)
    lines = lines.filter(line.rlike(_LINE) | of_manager)
    value = F.regexp_extract(line, _LINE, 4).try_cast("double")
    return lines.select(
        "time_us",
        F.when(of_manager, F.regexp_extract(line, _MANAGER, 1))
        .otherwise(F.regexp_extract(line, _LINE, 1))
        .alias("scope"),
        F.when(~of_manager, F.regexp_extract(line, _LINE, 2).try_cast("int")).alias("task"),
        F.when(~of_manager, F.regexp_extract(line, _LINE, 3)).alias("metric"),
        F.when(~F.isnan(value) & (value >= 0), value).alias("value"),
    )


def _readings(lines: pa.Table, vertices: Mapping[str, Scope], ids: Mapping[str, str]) -> tuple[pa.Table, list[Warn]]:
    """Return the counters of each task and report as :func:`increases` takes them."""
    lines = lines.filter(pc.is_in(lines["scope"], pa.array([*vertices], pa.string())))
    wide = _pivoted(lines, (*_METRICS,))
    scope = [vertices[name] for name in wide["scope"].to_pylist()]
    told = []
    jobs = sorted({item.job for item in scope})
    if len(jobs) > 1:
        told.append(Warn("SEVERAL_JOBS", f"metrics of {len(jobs)} jobs: tasks of one name count as one operator"))
    table = pa.table(
        {
            "operator": pa.array([ids[item.name] for item in scope], pa.string()),
            "task": wide["task"],
            "owner": pa.array([item.job for item in scope], pa.string()),
            "attempt": pa.array([item.manager for item in scope], pa.string()),
            "time_us": wide["time_us"],
            "began_us": pa.nulls(wide.num_rows, pa.int64()),
            **{column: wide[metric] for metric, column in _COUNTERS.items()},
            "busy": wide[_BUSY],
            "node": pa.array([item.host for item in scope], pa.string()),
        }
    )
    rates = pa.table({column: wide[f"{metric}PerSecond"] for metric, column in _COUNTERS.items()})
    rates = rates.append_column("busy", wide[_BUSY_RATE])
    good = pc.and_(pc.is_valid(table["records"]), pc.is_valid(table["records_out"]))
    table, rates = table.filter(good), rates.filter(good)
    return _with_last_minute(table, rates, told), told


def _with_last_minute(table: pa.Table, rates: pa.Table, told: list[Warn]) -> pa.Table:
    """Add what Flink's means say of the minute before the report to tasks of which there is but one report."""
    keys = ["operator", "task", "owner"]
    count = table.group_by(keys).aggregate([("time_us", "count")])
    marked = table.select(keys).append_column("row", pa.array(range(table.num_rows))).join(count, keys)
    single = marked.filter(pc.equal(marked["time_us_count"], 1))["row"]
    if not len(single):
        return table
    told.append(Warn("ONE_REPORT", "one report of some tasks: Flink's means of the minute before it are counted"))
    before = table.take(single)
    back = pc.subtract(before["time_us"], round(_MEAN_OVER_S * 1e6))
    before = before.set_column(before.column_names.index("time_us"), "time_us", back)
    for name in rates.column_names:
        grown = pc.multiply(pc.fill_null(rates[name].take(single), 0.0), _MEAN_OVER_S)
        value = pc.max_element_wise(pc.subtract(before[name], grown), 0.0, skip_nulls=False)
        before = before.set_column(before.column_names.index(name), name, value)
    return pa.concat_tables([table, before])


def _states(lines: pa.Table, known: Mapping[str, Scope], ids: Mapping[str, str]) -> pa.Table:
    """Return rows for the state that RocksDB says of operators, each as part of its task."""
    stateful = lines.filter(pc.match_substring(lines["metric"], "rocksdb"))
    kind = pc.replace_substring_regex(stateful["metric"], r"^.*\.rocksdb[._]", "")
    totals = stateful.set_column(stateful.column_names.index("metric"), "metric", kind)
    wide = _pivoted(totals, _STATE)
    vertex = {}
    for name in wide["scope"].unique().to_pylist():
        task = vertex_of(known[name].name, ids) if name in known else None
        vertex[name] = None if task is None else ids[task]
    table = pa.table(
        {
            "operator": pa.array([vertex[name] for name in wide["scope"].to_pylist()], pa.string()),
            "task": wide["task"],
            "time_us": wide["time_us"],
            "state": pc.coalesce(*(wide[name] for name in _STATE)),
        }
    )
    table = table.filter(pc.is_valid(table["operator"])).group_by(["operator", "task", "time_us"])
    return state_rows(table.aggregate([("state", "sum")]).rename_columns(["operator", "task", "time_us", "state"]))


def _pivoted(lines: pa.Table, metrics: Sequence[str]) -> pa.Table:
    """Return a row for each time, scope and subtask, with a column for each metric: the sum of its values."""
    keys = ["time_us", "scope", "task"]
    wide = lines.group_by(keys).aggregate([])
    for metric in metrics:
        part = lines.filter(pc.equal(lines["metric"], metric)).group_by(keys).aggregate([("value", "sum")])
        wide = wide.join(part.rename_columns([*keys, metric]), keys)
    return wide.sort_by([(key, "ascending") for key in keys])
