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

#: Speeds in hundredths of km/h: from the first up to the second, without and after an incident that causes a jam.
FREE, JAMMED = (4_000, 6_000), (500, 1_500)
#: Independent draws.
_SPEED, _PLACE, _JAM = 1, 2, 3


@dataclass(frozen=True)
class Traffic:
    """What is driven and reported.

    Attributes
    ----------
    users
        People, on segments by Zipf's law of exponent ``zipf``; each stays on its segment and reports in turn.
    rate
        Locations a second in all.
    incident_every_s
        Seconds from one incident to the next one; each on the segment of somebody drawn at random.
    jam_share
        Part of the incidents that cause a jam; it lasts for ``jam_s`` seconds.
    lanes
        Parts of the segments, see :mod:`ftplan.spark_stats.tentative.lanes`.
    """

    # Assumptions where the paper is silent: who drives, stays on the segment; speeds are uniform between limits; all
    # users of a segment report an incident in its second; an incident causes a jam by chance, at once and for as long
    # as a window lasts.

    seconds: int
    users: int
    segments: int
    rate: int
    zipf: float
    incident_every_s: int
    jam_share: float
    jam_s: int
    lanes: int
    seed: int = 0

    def users_of(self) -> IntArray:
        """Return how many users each segment has, shape (segments,): Zipf's shares, rounded to their sum."""
        share = np.arange(1, self.segments + 1, dtype=np.float64) ** -self.zipf
        last = np.floor(np.cumsum(share) / share.sum() * self.users + 0.5).astype(np.int64)
        return np.diff(last, prepend=0)

    def by_user(self, spark: Any) -> Any:
        """Return ``user``, ``segment`` and its ``lane`` as a frame."""
        users = self.users_of()
        first = np.cumsum(users) - users
        rows = list(zip(range(self.segments), first.tolist(), (first + users - 1).tolist(), users.tolist(), strict=True))
        some = spark.createDataFrame(rows, "segment bigint, first bigint, last bigint, users bigint")
        lane = F.pmod(F.xxhash64("segment"), F.lit(self.lanes)).cast("int")
        users_on = F.explode(F.sequence("first", "last")).alias("user")
        return some.filter(F.col("users") > 0).select(users_on, "segment", lane.alias("lane"), "first", "last")

    def incidents(self, spark: Any) -> Any:
        """Return the incidents as they happen: ``second``, ``segment``, ``lane``, ``jam``, and who is there."""
        number = -(-self.seconds // self.incident_every_s)
        drawn = spark.range(number).select(
            (F.col("id") * self.incident_every_s).alias("second"),
            F.pmod(self._hash(_PLACE, "id"), F.lit(self.users)).alias("user"),
            (self._uniform(_JAM, 1_000_000, "id") < round(self.jam_share * 1e6)).alias("jam"),
        )
        return drawn.join(self.by_user(spark), "user").select("second", "segment", "lane", "jam", "first", "last")

    def reports(self, spark: Any) -> Any:
        """Return the stream of incidents as users report them: ``second``, ``user``, ``segment``, ``lane``."""
        user = F.explode(F.sequence("first", "last")).alias("user")
        return self.incidents(spark).select("second", user, "segment", "lane")

    def locations(self, spark: Any) -> Any:
        """Return the stream of locations: ``second``, ``user``, ``segment``, ``lane``, ``speed`` (bigint)."""
        second = F.call_function("div", F.col("id"), F.lit(self.rate)).alias("second")
        turn = F.pmod(F.col("id") * self._stride, F.lit(self.users)).alias("user")
        driven = spark.range(self.seconds * self.rate).select("id", second, turn)
        placed = driven.join(F.broadcast(self.by_user(spark).select("user", "segment", "lane")), "user")
        after = F.explode(F.sequence(F.col("second"), F.col("second") + F.lit(self.jam_s - 1)))
        jams = self.incidents(spark).filter("jam").select("segment", after.alias("second")).distinct()
        jams = F.broadcast(jams.filter(F.col("second") < self.seconds).withColumn("jammed", F.lit(True)))
        met = placed.join(jams, ["segment", "second"], "left")
        slow, fast = (F.lit(low) + self._uniform(_SPEED, high - low, "id") for low, high in (JAMMED, FREE))
        speed = F.when(F.col("jammed"), slow).otherwise(fast)
        return met.select("second", "user", "segment", "lane", speed.alias("speed"))

    @property
    def _stride(self) -> int:
        """From one user to the next one that reports: all have their turn, and each second is spread over segments."""
        near = round(0.618 * self.users)
        return next(n for n in range(max(1, near), near + self.users + 1) if gcd(n, self.users) == 1)

    def _hash(self, draw: int, *columns: str) -> Any:
        return F.xxhash64(F.lit(self.seed).cast("bigint"), F.lit(draw).cast("bigint"), *columns)

    def _uniform(self, draw: int, most: int, *columns: str) -> Any:
        """Return whole numbers from 0 to below *most*, equally likely."""
        return F.pmod(self._hash(draw, *columns), F.lit(most).cast("bigint"))
