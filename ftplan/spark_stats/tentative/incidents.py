"""The incidents that cause traffic jams in sliding windows, by a join of two streams: query 2 of [SuZhou2016]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import functions as F

from ftplan.model.topology import BoolArray, IntArray
from ftplan.spark_stats.tentative.lanes import (
    kept_entries,
    live_lanes,
    substreams,
    with_everything,
)
from ftplan.spark_stats.tentative.settings import Flows
from ftplan.spark_stats.tentative.traffic import FREE, JAMMED

#: The operators, and the two streams.
OPERATORS = ("speeds", "incidents", "jams", "report")
LOCATIONS, REPORTS = "locations", "reports"
#: Below this mean speed a segment is jammed.
THRESHOLD = (JAMMED[1] + FREE[0]) // 2


def mean_speeds(locations: Any) -> Any:
    """Return what ``speeds`` emits for a stream of locations."""
    sums = F.sum("speed").alias("speed"), F.count(F.lit(1)).alias("records")
    return locations.groupBy("second", "segment", "lane").agg(*sums)


def distinct_incidents(reports: Any) -> Any:
    """Return what ``incidents`` emits for a stream of reports."""
    return reports.select(F.col("second").alias("began"), "segment", "lane").distinct()


@dataclass(frozen=True)
class IncidentJoin:
    """The query: mean speeds and incidents are joined by segment in each window.

    An incident has caused a jam if the mean speed from its second to the end of the window is low.

    Attributes
    ----------
    speeds
        What ``speeds`` emits, a frame: a row a ``second`` and ``segment`` (of a ``lane``), as the sum of ``speed`` and
        the number of ``records``.
    incidents
        What ``incidents`` emits, a frame: a row an incident, the second when it ``began``, ``segment`` and ``lane``.
    seconds
        Length of the streams; window and slide likewise.
    parallelism
        Tasks of each operator.
    """

    spark: Any
    speeds: Any
    incidents: Any
    lanes: int
    seconds: int
    window_s: int
    slide_s: int
    parallelism: tuple[int, ...]

    @property
    def windows(self) -> int:
        """Number of windows that lie in the streams as a whole."""
        return (self.seconds - self.window_s) // self.slide_s + 1

    def outputs(self, live: Mapping[str, BoolArray]) -> Any:
        """What ``jams`` puts out, and ``report`` gathers: ``plan``, ``window``, ``entry`` and the ``lane``."""
        last, slides = self.windows - 1, self.window_s // self.slide_s
        known = self.incidents.join(live_lanes(self.spark, live[REPORTS]), "lane")
        after = F.sequence(F.col("began"), F.col("began") + F.lit(self.window_s - 1))
        driven = self.speeds.select("second", "segment", "speed", "records")
        met = known.select("*", F.explode(after).alias("second")).join(driven, ["segment", "second"])
        # a plan that has lost the speeds of a segment finds no partner there
        joined = met.join(live_lanes(self.spark, live[LOCATIONS]), ["plan", "lane"])
        by_slide = joined.groupBy("plan", "lane", "segment", "began", self._slide("second").alias("slide")).agg(
            F.sum("speed").alias("speed"), F.sum("records").alias("records")
        )
        # a window that begins at slide w ends with slide w + slides - 1; it has the incident if it began in it
        ends = F.greatest(F.col("slide") - (slides - 1), F.lit(0)), F.least(self._slide("began"), F.lit(last))
        windows = by_slide.filter(ends[0] <= ends[1]).select("*", F.explode(F.sequence(*ends)).alias("window"))
        entry = F.concat_ws("@", F.col("segment").cast("string"), F.col("began").cast("string"))
        means = windows.groupBy("plan", "lane", "window", entry.alias("entry")).agg(
            F.sum("speed").alias("speed"), F.sum("records").alias("records")
        )
        return means.filter(F.col("speed") < F.col("records") * THRESHOLD).select("plan", "window", "entry", "lane")

    def _slide(self, second: str) -> Any:
        return F.call_function("div", F.col(second), F.lit(self.slide_s))

    def flows(self) -> Flows:
        """Return what went over the edges without failure."""
        lanes, (speeds, incidents, jams, report) = self.lanes, self.parallelism
        everything = np.ones((1, lanes), dtype=np.bool_)
        outputs = self.outputs({LOCATIONS: everything, REPORTS: everything})
        count = F.count(F.lit(1)).alias("records")
        by_lane = outputs.groupBy("lane", "window").agg(count).toArrow()
        counted = [frame.groupBy("lane").agg(count).toArrow() for frame in (self.speeds, self.incidents)]
        edges = {
            (OPERATORS[0], OPERATORS[2]): substreams(counted[0], lanes, speeds, jams),
            (OPERATORS[1], OPERATORS[2]): substreams(counted[1], lanes, incidents, jams),
            (OPERATORS[2], OPERATORS[3]): substreams(by_lane, lanes, jams, report),
        }
        in_window = np.bincount(
            by_lane["window"].to_numpy(), by_lane["records"].to_numpy(), minlength=self.windows
        ).astype(np.int64)
        return Flows(float(self.seconds), edges, in_window)

    def kept(self, live: Mapping[str, BoolArray]) -> IntArray:
        """Return how many entries each plan keeps in each window, shape (plans, windows)."""
        lanes = {stream: with_everything(some) for stream, some in live.items()}
        return kept_entries(self.outputs(lanes), 0, self.windows, len(lanes[REPORTS]))[1:]
