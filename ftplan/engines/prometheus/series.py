"""The series in lines of collected answers of Prometheus, with what their labels say."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pyspark.sql import functions as F

from ftplan.engines.prometheus.queries import LabelRule, RangeQuery
from ftplan.errors import FtplanError
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
