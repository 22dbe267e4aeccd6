"""Rows of the log as records: time, operators, key groups and measures, or the reason why a row is rejected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import functions as F

from ftplan.spark_stats.key_groups import HashedKey, hashed_key, key_group
from ftplan.spark_stats.mapping import LogMapping, micros
from ftplan.spark_stats.operators import Operators
from ftplan.spark_stats.readers import Log
from ftplan.spark_stats.rejects import OUTSIDE
from ftplan.spark_stats.text_times import year_of
from ftplan.spark_stats.times import is_blank, with_time

#: Sums are taken over whole numbers, so that the order of rows cannot change a digit: 1 byte, 1e-6 of a millisecond
#: or of a record.
SCALES = {"records": 1e6, "records_out": 1e6, "bytes": 1.0, "cpu": 1e6, "busy": 1e6}
LARGEST = ("memory", "queue", "state")
_LARGEST_SUMMAND = 9e15


@dataclass(frozen=True, slots=True)
class Records:
    """The log, row by row, ready to be aggregated (lazy).

    Columns of ``frame``: ``file``, ``reason`` (int, position in ``reasons``; null: accepted), ``raw`` (text; null where
    accepted), ``window_us`` (start of the window, bigint microseconds), ``operator`` (text, if there is a column),
    ``group_0``… (key group for each of ``entries``; null: no keyed state), and where mapped ``records``,
    ``records_out``, ``bytes``, ``cpu``, ``busy`` (bigint, scaled by :data:`SCALES`), ``memory``, ``queue``,
    ``state`` (double), ``node`` (text), ``task``, ``upstream_task`` (int), ``upstream_operator`` (text).
    ``entries`` names the operators that a record counts for; the first is None with an operator column.
    """

    frame: Any
    reasons: tuple[str, ...]
    entries: tuple[str | None, ...]
    measures: tuple[str, ...]
    window_us: int


def to_records(log: Log, mapping: LogMapping, operators: Operators) -> Records:
    """Return the log's rows as records; each row is either accepted as a whole or rejected with one reason."""
    build = _RecordColumns(log, mapping, operators)
    times = [log.fields[c] for c in mapping.time_columns]
    spelled = any(file.spelled_times for file in log.files)
    timed = with_time(log.frame, times, mapping.time_format, year_of(mapping, log.files), spelled)
    build.time()
    build.operator()
    for i, (operator, columns) in enumerate(build.entries):
        build.key(i, operator, columns)
    build.measures()
    build.tasks()
    frame = timed.select("*", *(c.alias(n) for n, c in build.first.items()))
    window = F.col("time_us") - F.pmod(F.col("time_us"), F.lit(mapping.window_us).cast("bigint"))
    raw = F.when(build.reason.isNotNull(), log.raw)  # of Parquet it takes longer than all else
    build.second |= {"raw": raw, "window_us": window, "reason": build.reason}
    frame = frame.select("file", *(c.alias(n) for n, c in build.second.items()))
    return Records(
        frame, tuple(build.reasons), tuple(o for o, _ in build.entries), tuple(build.measured), mapping.window_us
    )


class _RecordColumns:
    """Collects the columns of the two selections, and the checks in their order.

    What is costly or used twice (times, hashes) is computed once in ``first``; ``second`` and the checks build on it.
    """

    def __init__(self, log: Log, mapping: LogMapping, operators: Operators) -> None:
        self.fields = log.fields
        self.mapping = mapping
        self.operators = operators
        self.first: dict[str, Any] = {}
        self.second: dict[str, Any] = {}
        self.reasons = list(log.faults)
        self.reason = F.when(F.col("broken").isNotNull(), F.col("broken"))
        self.measured: list[str] = []
        main = [(mapping.operator, mapping.key_columns)] if mapping.has_main else []
        self.entries: list[tuple[str | None, tuple[str, ...]]] = [*main, *mapping.keys]

    def check(self, name: str, holds: Any) -> None:
        """Reject the rows where *holds*; the first check that holds gives the reason."""
        if name not in self.reasons:
            self.reasons.append(name)
        code = F.lit(self.reasons.index(name))
        self.reason = self.reason.when(holds, code)

    def time(self) -> None:
        mapping, columns = self.mapping, [self.fields[c] for c in self.mapping.time_columns]
        us = F.col("time_us")
        noun = "time columns" if len(columns) > 1 else f"time column {columns[0].name}"
        self.check(f"{noun} empty", reduce(or_, (is_blank(f) for f in columns)))
        self.check(f"{noun} unreadable", us.isNull())
        if mapping.time_from is not None:
            self.check(OUTSIDE, us < F.lit(micros(mapping.time_from)).cast("bigint"))
        if mapping.time_to is not None:
            self.check(OUTSIDE, us >= F.lit(micros(mapping.time_to)).cast("bigint"))

    def operator(self) -> None:
        name = self.mapping.operator_column
        if name is None:
            return
        column = self.fields[name].column.cast("string")
        self.second["operator"] = column
        self.check(f"operator column {name} empty", is_blank(self.fields[name]))
        if self.operators.topology is not None:
            self.check("operator not in the topology", ~column.isin(*self.operators.aliases))

    def by_operator(self, operator: str | None, number_of: Callable[[str], int | None]) -> Any:
        """Return a number of the operator, or (None) of the one that each record names, as a bigint column."""
        if operator is not None:
            return F.lit(number_of(operator)).cast("bigint")
        names_of: dict[int | None, list[str]] = {}
        for alias, known in self.operators.aliases.items():
            names_of.setdefault(number_of(known), []).append(alias)
        result = F.lit(self.operators.default).cast("bigint")
        for number, names in names_of.items():
            if number != self.operators.default:
                result = F.when(self.second["operator"].isin(*names), F.lit(number).cast("bigint")).otherwise(result)
        return result

    def key(self, i: int, operator: str | None, columns: tuple[str, ...]) -> None:
        if not columns:
            self.second[f"group_{i}"] = F.lit(None).cast("int")
            return
        groups = self.by_operator(operator, self.operators.count)
        key = hashed_key([self.fields[c] for c in columns], self.mapping.key_hash, self.mapping.key_type)
        self.first[f"hash_{i}"] = key.hash
        key = HashedKey(F.col(f"hash_{i}"), key.missing, key.misfit)
        self.second[f"group_{i}"] = key_group(key, self.mapping.key_hash, groups)
        noun = f"key column{'s' if len(columns) > 1 else ''} {', '.join(columns)}"
        keyed = groups.isNotNull()
        if not self.mapping.from_engine:  # an engine's rows may be about a task, or about the whole operator
            self.check(f"{noun} empty", keyed & key.missing)
        keyed = keyed & ~key.missing
        if self.mapping.key_hash == "identity" or self.mapping.key_type in ("long", "int"):
            self.check(f"{noun} no whole number", keyed & key.misfit)
        if self.mapping.key_hash == "identity":
            self.check(f"{noun} no key group", keyed & self.second[f"group_{i}"].isNull())

    def measures(self) -> None:
        for name in (*SCALES, *LARGEST):
            column = getattr(self.mapping, f"{name}_column")
            if column is None:
                continue
            field = self.fields[column]
            whole = field.kind in ("int", "long")
            value = field.column.cast("bigint") if whole else field.column.try_cast("double")
            limit = int(_LARGEST_SUMMAND / SCALES.get(name, 1.0))
            good = value.between(0, limit)
            given = field.column.isNotNull() if whole else ~is_blank(field)
            self.check(f"{column} no number from 0 up", given & ~F.coalesce(good, F.lit(False)))
            if name not in SCALES:
                self.second[name] = value.cast("double")
            elif whole:
                self.second[name] = F.when(good, value * F.lit(int(SCALES[name])).cast("bigint"))
            else:
                self.second[name] = F.when(good, F.round(value * SCALES[name]).cast("bigint"))
            self.measured.append(name)

    def tasks(self) -> None:
        mapping = self.mapping
        for name, column in (("task", mapping.task_column), ("upstream_task", mapping.upstream_task_column)):
            if column is None:
                continue
            field = self.fields[column]
            number = field.column.try_cast("double")
            good = (number == F.floor(number)) & number.between(0, 2**31 - 1)
            bad = ~F.coalesce(good, F.lit(False))
            needed = name == "task" and not mapping.from_engine
            self.check(f"{column} no task index", bad if needed else bad & ~is_blank(field))
            self.second[name] = F.when(good, number).cast("int")
        if mapping.task_column is not None and self.operators.topology is not None:
            sizes = {o.id: o.parallelism for o in self.operators.topology.operators}
            self.check("task not in the topology", self.second["task"] >= self.by_operator(mapping.operator, sizes.get))
        for name in ("node", "upstream_operator"):
            column = getattr(mapping, f"{name}_column")
            if column is not None:
                field = self.fields[column]
                self.second[name] = F.when(~is_blank(field), F.trim(field.column.cast("string")))
