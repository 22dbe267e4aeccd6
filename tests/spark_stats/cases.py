"""Small jobs, and times as a log has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.model.topology import Edge, Operator, Topology
from ftplan.spark_stats.readers import Field
from ftplan.spark_stats.text_times import Year
from ftplan.spark_stats.times import with_time


def topology(*senders: str) -> Topology:
    """One task of ``op`` with 8 key groups, and one of each sender."""
    names = [*senders, "op"]
    operators = tuple(Operator(name, 1, *np.ones((3, 1)), key_groups=8) for name in names)
    return Topology(operators, tuple(Edge(i, len(senders), "full") for i in range(len(senders))))


def parse(
    session: Any,
    rows: list[tuple[str, ...]],
    time_format: str | None = None,
    year: Year | None = None,
    spelled: bool = False,
) -> list[int | None]:
    """Return the times of rows of texts, in microseconds since the epoch."""
    from pyspark.sql import functions as F

    names = [f"c{i}" for i in range(len(rows[0]))]
    schema = ", ".join(f"{n} string" for n in ("position", *names))
    frame = session.spark.createDataFrame([(f"{i:06d}", *row) for i, row in enumerate(rows)], schema)
    timed = with_time(frame, [Field(n, F.col(n), "text") for n in names], time_format, year, spelled)
    return [r["time_us"] for r in timed.select("position", "time_us").orderBy("position").collect()]
