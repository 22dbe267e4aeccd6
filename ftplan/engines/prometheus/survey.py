"""A first pass over collected answers of Prometheus: which queries count, and what deserves a second look."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import functions as F

from ftplan.engines.prometheus.queries import Collected, LabelRule, RangeQuery
from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.session import Session
from ftplan.spark_stats.texts import read_texts

FAULTS = ("no line of a collected answer", "series without operator", "series without number of a task")
_LINE = (
    "at string, metric string, status int, answer struct<status:string, warnings:array<string>, isPartial:boolean, "
    "data:struct<result:array<struct<metric:map<string,string>, `values`:array<array<string>>>>>>"
)
#: Values are texts: NaN, +Inf and -Inf are none that could be counted, nor are numbers beyond all measure.
_NUMBER = r"^[+-]?([0-9]{1,40}\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"


def parsed_lines(session: Session, files: Sequence[LogFile]) -> Any:
    """Return the lines as ``value``, what stands in them as ``line``, and whether they are ``unreadable``."""
    frame = read_texts(session, [file.uri(percent_encoded=session.kind == "sail") for file in files])
    for file in files:
        if not file.utf8 and session.kind == "sail":
            raise FtplanError(f"{file.path}: the text is not UTF-8, which Sail cannot read; use --engine spark")
    value = F.col("value") if all(file.utf8 for file in files) else F.make_valid_utf8("value")
    frame = frame.select(value.alias("value")).filter(F.trim("value") != "")
    # Exploding one element keeps the engines from taking a line apart anew for each of its fields.
    frame = frame.select("value", F.explode(F.array(F.from_json("value", _LINE))).alias("line"))
    unreadable = F.col("line.at").isNull() | F.col("line.metric").isNull()
    return frame.select("value", "line", unreadable.alias("unreadable"))


def series_of(lines: Any, queries: Sequence[RangeQuery]) -> Any:
    """Return a row for each series of each answer to the queries.

    Columns: ``query`` (position in *queries*), ``job``, ``operator``, ``task`` (int), ``node``, ``part`` (text, the
    same for what follows each other), ``series`` (hash of all labels), ``samples`` (array of [time, value]), ``fault``
    (position in :data:`FAULTS`, null where good), and ``raw`` (the labels as JSON).
    """
    # Nothing large stands beside what is exploded, which would repeat it.
    series = lines.select(
        F.col("line.metric").alias("metric"),
        ((F.col("line.status") == 200) & (F.col("line.answer.status") == "success")).alias("good"),
        F.col("line.answer.data.result").alias("result"),
    )
    series = series.select("metric", "good", F.explode("result").alias("one"))
    number = F.lit(None).cast("int")
    for i, query in enumerate(queries):
        number = F.when(F.col("metric") == query.name, i).otherwise(number)
    series = series.filter("good").select(
        number.alias("query"), F.col("one.metric").alias("labels"), F.col("one.values").alias("samples")
    )
    series = series.filter(F.col("query").isNotNull())
    roles = {"job": "job", "operator": "operator", "task": "task", "node": "host"}
    series = series.select(
        "query",
        *(
            by_query([(query.labels or {}).get(role) for query in queries], _said).alias(column)
            for column, role in roles.items()
        ),
        by_query([query.parts for query in queries], _part).alias("part"),
        F.to_json("labels").alias("raw"),
        "samples",
    )
    index = F.col("task").try_cast("int")
    needed = by_query(["task" in (query.labels or {}) for query in queries], F.lit)
    fault = F.when(F.col("operator").isNull(), 1).when(needed & (index.isNull() | (index < 0)), 2)
    return series.select(
        "query", "job", "operator", index.alias("task"), "node", "part", F.xxhash64("raw").alias("series"), "samples",
        fault.alias("fault"), "raw",
    )  # fmt: skip


def sample_value(sample: Any) -> Any:
    """Return the value of a [time, value], null where it is no number that could be counted."""
    text = F.get(sample, F.lit(1))
    return F.when(text.rlike(_NUMBER), text.try_cast("double"))


def sample_time(sample: Any) -> Any:
    """Return the time of a [time, value] in seconds, null where it is none."""
    return F.get(sample, F.lit(0)).try_cast("double")


def by_query(keys: Sequence[Hashable], column: Callable[[Any], Any]) -> Any:
    """Return the column of each row's query; *keys* say it by query, and equal ones share a branch."""
    result = column(keys[0])
    for key in dict.fromkeys(keys):
        if key != keys[0]:
            numbers = [i for i, other in enumerate(keys) if other == key]
            result = F.when(F.col("query").isin(*numbers), column(key)).otherwise(result)
    return result


def _said(rule: LabelRule | None) -> Any:
    """Return what the labels say by a rule, null where they do not."""
    if rule is None:
        return F.lit(None).cast("string")
    value = F.col("labels").getItem(rule.label)
    if rule.pattern is not None:
        value = F.regexp_extract(value, f"^(?:{rule.pattern})$", 1)
    value = F.nullif(value, F.lit(""))
    return F.concat(F.lit(rule.prefix), value) if rule.prefix else value


def _part(parts: Sequence[str]) -> Any:
    labels = [F.coalesce(F.col("labels").getItem(name), F.lit("")) for name in parts]
    return F.concat_ws("\x1f", *labels) if labels else F.lit("")


class Survey(NamedTuple):
    """The queries that statistics are computed from, lines and series that are to be rejected, and warnings."""

    queries: tuple[RangeQuery, ...]
    unreadable: int
    unnamed: int
    warnings: tuple[Warn, ...]


def survey(lines: Any, folder: Collected, measures: Sequence[str]) -> Survey:
    """Look through the answers, and choose the first query of each measure that has series.

    Raises FtplanError if there is no series, or there are series of several sections or jobs.
    """
    told = tuple(query for query in folder.queries if query.measure in measures)
    if not told:
        raise FtplanError(
            f"{folder.name}: no query measures {', '.join(measures[:3])}, …: see --print-mapping of collect"
        )
    counts = _counts(lines)
    told = tuple(query for query in told if counts["series"].get(query.name))
    if not told:
        raise FtplanError(f"{folder.name}: holds no series of what statistics measure")
    tasks = _tasks(lines, told, folder.step_us)
    queries = _chosen(folder, told, tasks)
    kept = [row for row in tasks if told[row["query"]] in queries]
    _refuse_several_jobs(folder, kept)
    warnings = [*_of_lines(counts), *_of_tasks(kept, told)]
    left = [q.name for q in told if q not in queries and any(told[row["query"]] is q for row in tasks)]
    if left:
        text = f"{', '.join(left)}: not used, since other queries measure the same or tell the tasks apart"
        warnings.append(Warn("QUERY_NOT_USED", text))
    return Survey(queries, counts["unreadable"], sum(row["unnamed"] for row in kept), tuple(warnings))


def _counts(lines: Any) -> dict[str, Any]:
    """Return how many lines are unreadable, have no answer or a partial one, and ``series`` by query."""
    conditions = {
        "unreadable": F.col("unreadable"),
        "failed": ~F.col("unreadable") & (F.col("line.status").isNull() | (F.col("line.status") != 200)),
        "partial": (F.size("line.answer.warnings") > 0) | F.col("line.answer.isPartial"),
    }
    summed = [F.sum(F.when(condition, 1).otherwise(0)).alias(name) for name, condition in conditions.items()]
    series = F.sum(F.greatest(F.size("line.answer.data.result"), F.lit(0))).alias("series")
    rows = lines.groupBy(F.col("line.metric").alias("metric")).agg(series, *summed).toArrow().to_pylist()
    return {
        "series": {row["metric"]: row["series"] for row in rows},
        **{name: sum(row[name] for row in rows) for name in conditions},
    }


def _tasks(lines: Any, queries: Sequence[RangeQuery], step_us: int) -> list[dict[str, Any]]:
    """Return a row for each query, job, operator and task: what its series hold, and how many follow others."""

    def step(seen: Any, sample: Any) -> Any:
        value, time = sample_value(sample), sample_time(sample)
        signs = {
            "odd": value.isNull(),
            "shrinks": value < seen["value"],
            "gaps": time - seen["time"] > 1.5e-6 * step_us,
        }
        counts = [(seen[name] + F.when(holds, 1).otherwise(0)).alias(name) for name, holds in signs.items()]
        return F.struct(F.coalesce(value, seen["value"]).alias("value"), time.alias("time"), *counts)

    # One walk over the samples of a series that carries the one before along: what a lambda refers to from outside is
    # repeated for each element.
    nothing = F.lit(None).cast("double")
    counts = [F.lit(0).alias(name) for name in ("odd", "shrinks", "gaps")]
    walked = F.aggregate("samples", F.struct(nothing.alias("value"), nothing.alias("time"), *counts), step)
    sums = {
        "total": F.size("samples"),
        **{name: F.col(f"walked.{name}") for name in ("odd", "shrinks", "gaps")},
        "unnamed": F.when(F.col("fault").isNotNull(), 1).otherwise(0),
    }
    keys = ("query", "job", "operator", "task", "part")
    frame = series_of(lines, queries).select("*", F.explode(F.array(walked)).alias("walked"))
    frame = frame.select(*keys, "series", *(column.alias(name) for name, column in sums.items()))
    summed = [F.sum(name).alias(name) for name in sums]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    last = None
    by_series = frame.groupBy(*keys, "series").agg(*summed).toArrow().to_pylist()
    for one in sorted(by_series, key=lambda row: [str(row[name]) for name in keys]):
        part = tuple(one[name] for name in keys)
        row = rows.setdefault(part[:-1], {**dict(zip(keys[:-1], part, strict=False)), "others": 0})
        row["others"] += part == last
        for name in sums:
            row[name] = row.get(name, 0) + (one[name] or 0)
        last = part
    return list(rows.values())


def _chosen(
    folder: Collected, told: Sequence[RangeQuery], tasks: Sequence[Mapping[str, Any]]
) -> tuple[RangeQuery, ...]:
    """Return the first query of each measure with series; where some know tasks, only those that do."""
    answered = [query for i, query in enumerate(told) if any(row["query"] == i and row["total"] for row in tasks)]
    if not answered:
        raise FtplanError(f"{folder.name}: holds no series of {', '.join(query.name for query in told[:3])}, …")
    sections = list(dict.fromkeys(query.section for query in answered))
    if len(sections) > 1:
        raise FtplanError(
            f"{folder.name}: holds series of {' and '.join(sections)}; collect them apart, with --section {sections[0]}"
        )
    if any("task" in (query.labels or {}) for query in answered):
        answered = [query for query in answered if "task" in (query.labels or {})]
    first: dict[str, RangeQuery] = {}
    for query in answered:
        first.setdefault(query.measure, query)
    return tuple(first.values())


def _refuse_several_jobs(folder: Collected, rows: Sequence[Mapping[str, Any]]) -> None:
    jobs = sorted({row["job"] for row in rows if row["job"] is not None})
    if len(jobs) > 1:
        named = ", ".join(jobs[:3]) + (f" and {len(jobs) - 3} more" if len(jobs) > 3 else "")
        raise FtplanError(
            f"{folder.name}: holds series of {len(jobs)} jobs ({named}); collect one of them, with --match"
        )


def _of_lines(counts: Mapping[str, Any]) -> list[Warn]:
    warnings = []
    if counts["failed"]:
        text = f"{counts['failed']:,} requests had no answer; the same collect command asks for them again"
        warnings.append(Warn("REQUESTS_WITHOUT_ANSWER", text))
    if counts["partial"]:
        text = f"{counts['partial']:,} answers came with warnings of Prometheus, and may lack series"
        warnings.append(Warn("PARTIAL_ANSWERS", text))
    return warnings


def _of_tasks(rows: Sequence[Mapping[str, Any]], told: Sequence[RangeQuery]) -> list[Warn]:
    """Return what gaps, values that are no numbers, and restarts did to the figures."""
    total = {name: sum(row[name] for row in rows) for name in ("total", "odd", "gaps", "others")}
    shrunk = sum(row["shrinks"] for row in rows if told[row["query"]].kind == "counter")
    warnings = []
    if total["odd"]:
        names = ", ".join(dict.fromkeys(told[row["query"]].name for row in rows if row["odd"]))
        text = f"{total['odd']:,} of {total['total']:,} values are NaN or infinite, and left out ({names})"
        warnings.append(Warn("VALUES_NO_NUMBERS", text))
    if total["gaps"]:
        text = f"{total['gaps']:,} gaps in series: what counters grew by is spread over them, rates count as 0 there"
        warnings.append(Warn("GAPS_IN_SERIES", text))
    if shrunk or total["others"]:
        text = (
            f"counters began again {shrunk:,} times, and {total['others']:,} series carry on others under new labels "
            "(restarts): what was counted between the last sample and a restart is lost"
        )
        warnings.append(Warn("COUNTERS_RESTARTED", text))
    return warnings
