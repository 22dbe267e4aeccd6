"""Answers of Prometheus, as ``ftplan collect --from prometheus`` keeps them, as a log.

Counters become increases between samples, rates what they add up to in the step before a sample, and gauges what stands
at the time of a sample. The collected folder says itself what its queries mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from ftplan.engines.log_rows import engine_log
from ftplan.engines.prometheus.queries import LEVELS, RangeQuery, collected
from ftplan.engines.prometheus.survey import (
    FAULTS,
    by_query,
    parsed_lines,
    sample_time,
    sample_value,
    series_of,
    survey,
)
from ftplan.errors import FtplanError
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.readers import Log
from ftplan.spark_stats.session import Session

#: The column of an engine's rows behind each measure.
COLUMN_OF: Mapping[str, str] = {
    "records_in": "records", "records_out": "records_out", "bytes": "bytes", "cpu_ms": "cpu", "busy_ms": "busy",
    "state_bytes": "state", "memory_bytes": "memory", "queue_length": "queue",
}  # fmt: skip
#: Of those, what the table of key groups has, which is all that there is where no task is known.
OF_OPERATORS = ("records", "bytes", "cpu", "state")
#: Times after this, the year 5138, are none.
LATEST_US = 10**17
#: Windows that an increase is spread over at most, a week of minutes: a longer gap is rather a time that is wrong.
MOST_WINDOWS = 10_000


def read(
    session: Session, logs: Sequence[str], files: Sequence[LogFile], mapping: LogMapping
) -> tuple[Log, LogMapping]:
    """Return the rows behind collected folders.

    Raises FtplanError if they were not collected from Prometheus, windows are shorter than their steps, or they hold no
    series, or series of several jobs or engines.
    """
    folder = collected(logs)
    if mapping.window_us < folder.step_us:
        steps = f"{folder.step_us / 1e6:g} s"
        raise FtplanError(f"--window {mapping.window_s:g}s: there is a value each {steps}; windows last at least that")
    lines = parsed_lines(session, files)
    seen = survey(lines, folder, tuple(COLUMN_OF))
    series = series_of(lines, seen.queries)
    frame = _rows(series.filter(F.col("fault").isNull()), seen.queries, folder.step_us, mapping.window_us)
    if seen.unreadable or seen.unnamed:
        frame = _with_faults(frame, lines, series)
    return engine_log(frame, files, mapping, {}, FAULTS, seen.warnings)


def _with_faults(frame: Any, lines: Any, series: Any) -> Any:
    """Return the rows, and those that are to be rejected."""
    unreadable = lines.filter(F.col("unreadable")).select(F.lit(0).alias("broken"), F.col("value").alias("raw"))
    unnamed = series.filter(F.col("fault").isNotNull()).select(F.col("fault").alias("broken"), "raw")
    missing = [F.lit(None).cast(kind).alias(name) for name, kind in frame.dtypes]
    nothing = {"broken": F.lit(None).cast("int"), "raw": F.lit(None).cast("string")}
    frame = frame.select("*", *(column.alias(name) for name, column in nothing.items()))
    return frame.unionByName(unreadable.unionByName(unnamed).select(*missing, "broken", "raw"))


def _rows(series: Any, queries: Sequence[RangeQuery], step_us: int, window_us: int) -> Any:
    """Return the rows: what each sample adds to each window between the sample before and itself."""
    samples = series.select("query", "operator", "task", "node", "part", "series", F.explode("samples").alias("sample"))
    factor = by_query([float(query.factor) for query in queries], F.lit)
    samples = samples.select(
        *(c for c in samples.columns if c != "sample"),
        F.round(sample_time(F.col("sample")) * 1e6).try_cast("bigint").alias("time"),
        (sample_value(F.col("sample")) * factor).alias("value"),
    ).filter(F.col("time").between(0, LATEST_US) & F.col("value").isNotNull())
    amounts = _amounts(samples, queries, step_us).withColumn(
        "since", F.greatest(F.col("since"), F.col("time") - MOST_WINDOWS * window_us)
    )
    # A level counts at its time; all else is spread evenly over the time since the sample before.
    last = F.greatest(F.col("time") - 1, F.col("since"))
    windows = F.sequence(F.floor(F.col("since") / window_us), F.floor(last / window_us))
    rows = amounts.select("*", F.explode(windows).alias("window"))
    begin = F.greatest(F.col("window") * window_us, F.col("since"))
    end = F.least((F.col("window") + 1) * window_us, F.col("time"))
    share = F.when(F.col("time") > F.col("since"), (end - begin) / (F.col("time") - F.col("since"))).otherwise(1.0)
    names = ["query", "operator", "task", "node"]
    rows = rows.select(*names, begin.alias("time_us"), (F.col("amount") * share).alias("amount"))
    measured: dict[str, list[int]] = {}
    for i, query in enumerate(queries):
        measured.setdefault(COLUMN_OF[query.measure], []).append(i)
    by_task = any("task" in (query.labels or {}) for query in queries)
    columns = {
        name: F.when(F.col("query").isin(*numbers), F.col("amount"))
        for name, numbers in measured.items()
        if by_task or name in OF_OPERATORS
    }
    columns["records"] = F.coalesce(columns.get("records", F.lit(None).cast("double")), F.lit(0.0))
    named = ["operator", *(["task"] if by_task else []), "node"]
    return rows.select("time_us", *named, *(column.alias(name) for name, column in columns.items()))


def _amounts(samples: Any, queries: Sequence[RangeQuery], step_us: int) -> Any:
    """Return ``amount`` of each sample since ``since``; of several series of one part of a task, the last counts.

    A counter that shrinks began again at 0; so did one that appears under new labels (after a restart: task manager,
    attempt) where the task was known before. What the first sample of a task counted before is not known.
    """
    task = ["query", "operator", "task"]
    own = Window.partitionBy(*task, "part", "series")
    before = own.orderBy("time")
    kind = by_query([query.kind for query in queries], F.lit)
    samples = samples.select(
        "*",
        F.min("time").over(Window.partitionBy(*task)).alias("known_since"),
        F.min("time").over(own).alias("begun"),
        F.lag("time").over(before).alias("before"),
        F.lag("value").over(before).alias("value_before"),
    )
    value, value_before = F.col("value"), F.col("value_before")
    restarted = F.when(F.col("time") > F.col("known_since"), value)
    grown = F.when(value >= value_before, value - value_before).otherwise(value)
    increase = F.when(F.col("before").isNull(), restarted).otherwise(grown)
    step = F.lit(step_us).cast("bigint")
    samples = samples.select(
        *(c for c in samples.columns if c not in ("before", "value_before", "known_since")),
        F.when(kind == "counter", increase)
        .when(kind == "rate", value * F.lit(step_us / 1e6))
        .otherwise(value)
        .alias("amount"),
        F.when(kind == "gauge", F.col("time"))
        .when((kind == "counter") & F.col("before").isNotNull(), F.col("before"))
        .otherwise(F.col("time") - step)
        .alias("since"),
    )
    latest = Window.partitionBy(*task, "part", "time").orderBy(
        F.col("begun").desc(), F.col("series"), F.col("amount").desc_nulls_last()
    )
    samples = samples.select("*", F.row_number().over(latest).alias("rank"))
    samples = samples.filter((F.col("rank") == 1) & F.col("amount").isNotNull())
    if not any(query.measure in LEVELS for query in queries):
        return samples
    # The gauges of all parts of a task at one time are one value; the pipeline takes the largest in a window.
    parts = Window.partitionBy(*task, "time")
    level = by_query([query.combine if query.kind == "gauge" else "none" for query in queries], F.lit)
    whole = F.when(level == "sum", F.sum("amount").over(parts)).when(level == "max", F.max("amount").over(parts))
    others = [c for c in samples.columns if c != "amount"]
    return samples.select(*others, F.coalesce(whole, F.col("amount")).alias("amount"))
