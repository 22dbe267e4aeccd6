"""A log in slices: how often each key came to each task in each slide; one pass over the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as F

from ftplan.errors import FtplanError
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.key_groups import SEPARATOR
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import Operators
from ftplan.spark_stats.readers import read_log
from ftplan.spark_stats.records import to_records
from ftplan.spark_stats.rejects import RejectedRow, Rejects, check_share
from ftplan.spark_stats.session import Session


def counted(session: Session, files: Sequence[LogFile], mapping: LogMapping, operators: Operators) -> Any:
    """Return ``pane``, ``lane``, ``key`` and ``records`` as a frame (lazy); rejected rows with a ``reason``.

    The slide is the window of the mapping, the first of its keys is counted, by the last one records go to tasks.
    """
    log = read_log(session, files, mapping)
    parts = [log.fields[column].column.cast("string") for column in mapping.keys[0][1]]
    key = parts[0] if len(parts) == 1 else F.concat_ws(SEPARATOR, *parts)
    records = to_records(log, mapping, operators, {"key": key})
    accepted = F.col("reason").isNull()
    pane = F.call_function("div", F.col("window_us"), F.lit(mapping.window_us).cast("bigint"))
    reasons = F.array(*(F.lit(reason) for reason in records.reasons))
    columns = {"pane": pane, "lane": F.col(f"group_{len(mapping.keys) - 1}"), "key": F.col("key")}
    frame = records.frame.select(
        F.get(reasons, F.col("reason")).alias("reason"),
        F.substring("raw", 1, 200).alias("raw"),
        *(F.when(accepted, column).alias(name) for name, column in columns.items()),
    )
    # The text of one rejected row stands for all of a reason. ``accepted`` is an aggregate, for filters on it to stay
    # above: below, Sail works out the reason several times over.
    return frame.groupBy("reason", "pane", "lane", "key").agg(
        F.count(F.lit(1)).alias("records"), F.min("raw").alias("raw"), F.count("pane").alias("accepted")
    )


def survey(slices: Any, files: Sequence[LogFile], mapping: LogMapping) -> tuple[int, int]:
    """Return the first and the last pane that has records.

    Raises FtplanError if more rows were rejected than may be, or none is left.
    """
    found = slices.groupBy("reason").agg(
        F.sum("records").alias("rows"),
        F.min("pane").alias("first"),
        F.max("pane").alias("last"),
        F.min("raw").alias("raw"),
    )
    rows = found.toArrow().to_pylist()
    name = files[0].name if len(files) == 1 else f"{len(files)} files"
    rejected = [row for row in rows if row["reason"] is not None]
    check_share(
        Rejects(
            sum(row["rows"] for row in rows),
            {(None, row["reason"]): row["rows"] for row in rejected},
            tuple(RejectedRow(None, row["reason"], str(row["raw"])) for row in rejected),
        ),
        mapping.max_rejects,
        name,
    )
    accepted = [row for row in rows if row["reason"] is None]
    if not accepted:
        raise FtplanError(f"{name}: no record is left: all {sum(row['rows'] for row in rows):,} rows were rejected")
    return accepted[0]["first"], accepted[0]["last"]
