"""Traffic made up: where people drive and how fast, and what incidents they report ([SuZhou2016], section VI-B).

Everything is drawn by hashes of the seed, so that every engine makes the same records, in whatever order.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from pyspark.sql import functions as F

from ftplan.model.topology import IntArray
from ftplan.spark_stats.tentative.settings import Traffic

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
