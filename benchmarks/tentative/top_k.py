"""The commonest keys of a log in sliding windows, by a hierarchy of three operators: query 1 of [SuZhou2016]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from ftplan.model.topology import BoolArray, IntArray
from tentative.lanes import Flows, Shape, kept_entries, live_lanes, substreams, with_everything

STREAM = "log"


@dataclass(frozen=True)
class TopK:
    """The query on a log. Its lanes are the tasks of ``count``, its windows so many panes of ``k`` entries.

    ``counts`` is what ``count`` emits, a frame: how many ``records`` of each ``key`` each task (``lane``) got in each
    ``pane`` (time over slide, rounded down).
    """

    # Departures: the paper slices by 100 records; such slices straddle windows. Here a slice is what a task gets in one
    # slide, which windows consist of. What ties is ordered by a hash, so that the alphabet has no say in the accuracy.

    spark: Any
    shape: Shape
    counts: Any
    panes: tuple[int, int]
    window: int
    k: int
    slide_s: float

    @property
    def windows(self) -> int:
        """Number of windows that lie in the log as a whole."""
        return self.panes[1] - self.panes[0] + 2 - self.window

    def outputs(self, live: BoolArray) -> Any:
        """Return what ``top`` puts out: the ``entry`` of each ``plan`` and ``window`` (its first pane)."""
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
        first, second, third = self.shape.operators.values()
        merger = F.call_function("div", F.col("lane") * F.lit(second), F.lit(first)).alias("lane")
        edges = {
            ("count", "merge"): substreams(self.counts, first, first, second),
            ("merge", "top"): substreams(self.counts.select("pane", "key", merger).distinct(), second, second, third),
        }
        everything = np.ones((1, first), dtype=np.bool_)
        outputs = kept_entries(self.outputs(everything), self.panes[0], self.windows, 1)[0]
        return Flows((self.panes[1] - self.panes[0] + 1) * self.slide_s, edges, outputs)

    def kept(self, live: Mapping[str, BoolArray]) -> IntArray:
        """Return how many entries each plan keeps in each window, shape (plans, windows)."""
        lanes = with_everything(live[STREAM])
        return kept_entries(self.outputs(lanes), self.panes[0], self.windows, len(lanes))[1:]


@contextmanager
def top_k(
    spark: Any,
    log: Path,
    part: str,
    tasks: tuple[int, ...] = (8, 4, 1),
    k: int = 100,
    panes: int = 6,
    slide_s: float = 3600.0,
) -> Iterator[TopK]:
    """Yield the query for the pages of a log (JSON lines), whose records go to tasks by the hash of a column *part*."""
    read = pd.read_json(log, lines=True, convert_dates=["time"])[["time", "page", part]].dropna()
    pane = (read["time"] - pd.Timestamp(0, tz="UTC")) // pd.Timedelta(seconds=slide_s)
    made = pd.DataFrame({"pane": pane, "key": read["page"].astype(str), "part": read[part].astype(str)})
    lane = F.pmod(F.xxhash64("part"), F.lit(tasks[0]).cast("bigint")).cast("int").alias("lane")
    records = spark.createDataFrame(made, "pane bigint, key string, part string").select("pane", lane, "key")
    counts = records.groupBy("pane", "lane", "key").agg(F.count(F.lit(1)).alias("records")).cache()
    names = ("count", "merge", "top")
    shape = Shape(
        "top-k",
        dict(zip(names, tasks, strict=True)),
        (("count", "merge"), ("merge", "top")),
        {STREAM: names},
        lanes=tasks[0],
    )
    try:
        yield TopK(spark, shape, counts, (int(pane.min()), int(pane.max())), panes, k, slide_s)
    finally:
        counts.unpersist()
