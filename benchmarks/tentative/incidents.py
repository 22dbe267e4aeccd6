"""The incidents that cause traffic jams in sliding windows, by a join of two streams: query 2 of [SuZhou2016].

The traffic is made up ([SuZhou2016], section VI-B): where people drive and how fast, and what incidents they report.
Everything is drawn by hashes of the seed, so that every engine makes the same records, in whatever order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any

import numpy as np
from pyspark.sql import functions as F

from ftplan.model.topology import BoolArray, IntArray
from tentative.lanes import Flows, Shape, kept_entries, live_lanes, substreams, with_everything

#: Speeds in hundredths of km/h: from the first up to the second, without and after an incident that causes a jam.
FREE, JAMMED = (4_000, 6_000), (500, 1_500)
#: Independent draws.
_SPEED, _PLACE, _JAM = 1, 2, 3


@dataclass(frozen=True)
class Traffic:
    """What is driven and reported.

    ``users`` are on ``segments`` by Zipf's law of exponent ``zipf``; each stays on its segment and reports in turn,
    ``rate`` locations a second in all. Every ``incident_every_s`` there is an incident on the segment of somebody drawn
    at random; ``jam_share`` of them cause a jam, which lasts as long as a window.
    """

    seconds: int
    lanes: int
    users: int = 100_000
    segments: int = 1_000
    rate: int = 20_000
    zipf: float = 0.5
    incident_every_s: int = 2
    jam_share: float = 0.5
    jam_s: int = 300
    seed: int = 0


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


LOCATIONS, REPORTS = "locations", "reports"
#: Below this mean speed a segment is jammed.
THRESHOLD = (JAMMED[1] + FREE[0]) // 2


@dataclass(frozen=True)
class IncidentJoin:
    """The query: mean speeds and incidents are joined by segment in each window.

    An incident has caused a jam if the mean speed from its second to the end of the window is low. ``speeds`` is what
    ``speeds`` emits, a row a ``second`` and ``segment`` (of a ``lane``), as the sum of ``speed`` and the number of
    ``records``; ``incidents`` has a row an incident, the second when it ``began``, ``segment`` and ``lane``.
    """

    spark: Any
    shape: Shape
    speeds: Any
    incidents: Any
    seconds: int
    window_s: int
    slide_s: int

    @property
    def windows(self) -> int:
        """Number of windows that lie in the streams as a whole."""
        return (self.seconds - self.window_s) // self.slide_s + 1

    def outputs(self, live: Mapping[str, BoolArray]) -> Any:
        """Return what ``jams`` puts out, and ``report`` gathers: ``plan``, ``window``, ``entry`` and the ``lane``."""
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
        lanes, (speeds, incidents, jams, report) = self.shape.lanes, self.shape.operators.values()
        everything = np.ones((1, lanes), dtype=np.bool_)
        outputs = self.outputs({LOCATIONS: everything, REPORTS: everything}).cache()
        by_window = outputs.groupBy("window").agg(F.count(F.lit(1)).alias("records")).toArrow()
        edges = {
            ("speeds", "jams"): substreams(self.speeds, lanes, speeds, jams),
            ("incidents", "jams"): substreams(self.incidents, lanes, incidents, jams),
            ("jams", "report"): substreams(outputs, lanes, jams, report),
        }
        outputs.unpersist()
        in_window = np.zeros(self.windows, dtype=np.int64)
        in_window[by_window["window"].to_numpy()] = by_window["records"].to_numpy()
        return Flows(float(self.seconds), edges, in_window)

    def kept(self, live: Mapping[str, BoolArray]) -> IntArray:
        """Return how many entries each plan keeps in each window, shape (plans, windows)."""
        lanes = {stream: with_everything(some) for stream, some in live.items()}
        return kept_entries(self.outputs(lanes), 0, self.windows, len(lanes[REPORTS]))[1:]


@contextmanager
def incident_join(
    spark: Any, tasks: tuple[int, ...] = (8, 4, 4, 1), window_s: int = 300, slide_s: int = 10, **traffic: Any
) -> Iterator[IncidentJoin]:
    """Yield the query on streams that are made up as *traffic* says, fields of :class:`Traffic`."""
    streams = TrafficStreams(spark, Traffic(lanes=lcm(*tasks), jam_s=window_s, **traffic))
    sums = F.sum("speed").alias("speed"), F.count(F.lit(1)).alias("records")
    speeds = streams.locations().groupBy("second", "segment", "lane").agg(*sums)
    incidents = streams.reports().select(F.col("second").alias("began"), "segment", "lane").distinct()
    names = ("speeds", "incidents", "jams", "report")
    shape = Shape(
        "incidents",
        dict(zip(names, tasks, strict=True)),
        (("speeds", "jams"), ("incidents", "jams"), ("jams", "report")),
        {LOCATIONS: ("speeds", "jams", "report"), REPORTS: ("incidents", "jams", "report")},
        streams.traffic.lanes,
        joins="jams",
    )
    with ExitStack() as stack:
        cached = [frame.cache() for frame in (speeds, incidents)]
        for frame in cached:
            stack.callback(frame.unpersist)
        yield IncidentJoin(spark, shape, *cached, streams.traffic.seconds, window_s, slide_s)
