"""The incidents that cause traffic jams in sliding windows, by a join of two streams: query 2 of [SuZhou2016].

The traffic is made up ([SuZhou2016], section VI-B): where people drive and how fast, and what incidents they report.
Everything is drawn by hashes of the seed, so that every engine makes the same records, in whatever order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
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
from ftplan.spark_stats.tentative.settings import Flows, Traffic

#: Speeds in hundredths of km/h: from the first up to the second, without and after an incident that causes a jam.
FREE, JAMMED = (4_000, 6_000), (500, 1_500)
#: Independent draws.
_SPEED, _PLACE, _JAM = 1, 2, 3


def users_of(traffic: Traffic) -> IntArray:
    """Return how many users each segment has, shape (segments,): Zipf's shares, rounded to their sum."""
    share = np.arange(1, traffic.segments + 1, dtype=np.float64) ** -traffic.zipf
    last = np.floor(np.cumsum(share) / share.sum() * traffic.users + 0.5).astype(np.int64)
    return np.asarray(np.diff(last, prepend=0), dtype=np.int64)


@dataclass(frozen=True)
class TrafficStreams:
    """The streams as frames (lazy)."""

    # Assumptions where the paper is silent: who drives, stays on the segment; speeds are uniform between limits; all
    # users of a segment report an incident in its second; an incident causes a jam by chance, at once and for as long
    # as a window lasts.

    spark: Any
    traffic: Traffic

    def by_user(self) -> Any:
        """Return ``user``, ``segment`` and its ``lane`` as a frame, with the ``first`` and ``last`` user there."""
        users = users_of(self.traffic)
        first = np.cumsum(users) - users
        rows = list(zip(range(len(users)), first.tolist(), (first + users - 1).tolist(), strict=True))
        segments = self.spark.createDataFrame(rows, "segment bigint, first bigint, last bigint")
        lane = F.pmod(F.xxhash64("segment"), F.lit(self.traffic.lanes)).cast("int").alias("lane")
        user = F.explode(F.sequence("first", "last")).alias("user")
        return segments.filter("first <= last").select(user, "segment", lane, "first", "last")

    def incidents(self) -> Any:
        """Return the incidents as they happen: ``second``, ``segment``, ``lane``, ``jam``, ``first``, ``last``."""
        traffic = self.traffic
        drawn = self.spark.range(-(-traffic.seconds // traffic.incident_every_s)).select(
            (F.col("id") * traffic.incident_every_s).alias("second"),
            self._uniform(_PLACE, traffic.users).alias("user"),
            (self._uniform(_JAM, 1_000_000) < round(traffic.jam_share * 1e6)).alias("jam"),
        )
        return drawn.join(self.by_user(), "user").select("second", "segment", "lane", "jam", "first", "last")

    def reports(self) -> Any:
        """Return the stream of incidents as users report them: ``second``, ``user``, ``segment``, ``lane``."""
        user = F.explode(F.sequence("first", "last")).alias("user")
        return self.incidents().select("second", user, "segment", "lane")

    def locations(self) -> Any:
        """Return the stream of locations: ``second``, ``user``, ``segment``, ``lane``, ``speed`` (bigint)."""
        traffic = self.traffic
        second = F.call_function("div", F.col("id"), F.lit(traffic.rate)).alias("second")
        user = F.pmod(F.col("id") * self._stride, F.lit(traffic.users)).alias("user")
        driven = self.spark.range(traffic.seconds * traffic.rate).select("id", second, user)
        placed = driven.join(F.broadcast(self.by_user().select("user", "segment", "lane")), "user")
        after = F.explode(F.sequence(F.col("second"), F.col("second") + F.lit(traffic.jam_s - 1))).alias("second")
        jams = self.incidents().filter("jam").select("segment", after).distinct()
        jams = F.broadcast(jams.filter(F.col("second") < traffic.seconds).withColumn("jammed", F.lit(True)))
        met = placed.join(jams, ["segment", "second"], "left")
        slow, fast = (F.lit(low) + self._uniform(_SPEED, high - low) for low, high in (JAMMED, FREE))
        speed = F.when(F.col("jammed"), slow).otherwise(fast).alias("speed")
        return met.select("second", "user", "segment", "lane", speed)

    @property
    def _stride(self) -> int:
        """From one user to the next one that reports: all have their turn, and each second is spread over segments."""
        users = self.traffic.users
        near = max(1, round(0.618 * users))
        return next(n for n in range(near, near + users + 1) if gcd(n, users) == 1)

    def _uniform(self, draw: int, most: int) -> Any:
        """Return whole numbers from 0 to below *most*, equally likely, one for each ``id``."""
        seed, number = F.lit(self.traffic.seed).cast("bigint"), F.lit(draw).cast("bigint")
        return F.pmod(F.xxhash64(seed, number, "id"), F.lit(most).cast("bigint"))


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
