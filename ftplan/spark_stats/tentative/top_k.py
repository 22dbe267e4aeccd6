"""The commonest keys of a log in sliding windows, by a hierarchy of three operators: query 1 of [SuZhou2016].

The log comes in slices, from one pass over it: how often each key came to each task in each slide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from ftplan.errors import FtplanError
from ftplan.model.topology import BoolArray, IntArray
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.key_groups import SEPARATOR
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import Operators
from ftplan.spark_stats.readers import read_log
from ftplan.spark_stats.records import to_records
from ftplan.spark_stats.rejects import RejectedRow, Rejects, check_share
from ftplan.spark_stats.session import Session
from ftplan.spark_stats.tentative.lanes import (
    kept_entries,
    live_lanes,
    substreams,
    task_of,
    with_everything,
)
from ftplan.spark_stats.tentative.settings import Flows

#: The operators, and the one stream.
OPERATORS = ("count", "merge", "top")
STREAM = "log"


@dataclass(frozen=True)
class TopK:
    """The query on a log. Its lanes are the tasks of ``count``.

    Attributes
    ----------
    counts
        What ``count`` emits, a frame: how many ``records`` (bigint) of each ``key`` (text) each task (``lane``, int)
        got in each ``pane`` (bigint, time over slide, rounded down).
    panes
        The first and the last pane of the log.
    window
        Panes of a window.
    k
        Entries of a window's output.
    slide_s
        Seconds of a pane.
    parallelism
        Tasks of each operator.
    """

    # Departures: the paper slices by 100 records; such slices straddle windows. Here a slice is what a task gets in one
    # slide, which windows consist of. What ties is ordered by a hash, so that the alphabet has no say in the accuracy.

    spark: Any
    counts: Any
    panes: tuple[int, int]
    window: int
    k: int
    slide_s: float
    parallelism: tuple[int, ...]

    @property
    def windows(self) -> int:
        """Number of windows that lie in the log as a whole."""
        return self.panes[1] - self.panes[0] + 2 - self.window

    def outputs(self, live: BoolArray) -> Any:
        """What ``top`` puts out: the ``entry`` of each ``plan`` and ``window`` (its first pane)."""
        first, last = self.panes[0], self.panes[1] + 1 - self.window
        begins = F.explode(F.sequence(F.lit(0), F.lit(self.window - 1)))
        kept = self.counts.join(live_lanes(self.spark, live), "lane")
        spread = kept.select("plan", "key", "records", "pane", begins.alias("back"))
        spread = spread.select("plan", "key", "records", (F.col("pane") - F.col("back")).alias("window"))
        inside = spread.filter(F.col("window").between(first, last))
        sums = inside.groupBy("plan", "window", "key").agg(F.sum("records").alias("records"))
        order = (F.desc("records"), F.crc32(F.col("key").cast("binary")), F.col("key"))
        place = F.row_number().over(Window.partitionBy("plan", "window").orderBy(*order))
        top = sums.select("plan", "window", F.col("key").alias("entry"), place.alias("place"))
        return top.filter(F.col("place") <= self.k).drop("place")

    def flows(self) -> Flows:
        """Return what went over the edges without failure."""
        first, second, third = self.parallelism
        emitted = self.counts.groupBy("lane").agg(F.count(F.lit(1)).alias("records")).toArrow()
        merged = self.counts.select("pane", "key", task_of("lane", second, first).alias("lane")).distinct()
        sent = merged.groupBy("lane").agg(F.count(F.lit(1)).alias("records")).toArrow()
        edges = {
            (OPERATORS[0], OPERATORS[1]): substreams(emitted, first, first, second),
            (OPERATORS[1], OPERATORS[2]): substreams(sent, second, second, third),
        }
        everything = np.ones((1, first), dtype=np.bool_)
        outputs = kept_entries(self.outputs(everything), self.panes[0], self.windows, 1)[0]
        return Flows((self.panes[1] - self.panes[0] + 1) * self.slide_s, edges, outputs)

    def kept(self, live: Mapping[str, BoolArray]) -> IntArray:
        """Return how many entries each plan keeps in each window, shape (plans, windows)."""
        lanes = with_everything(live[STREAM])
        return kept_entries(self.outputs(lanes), self.panes[0], self.windows, len(lanes))[1:]


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
