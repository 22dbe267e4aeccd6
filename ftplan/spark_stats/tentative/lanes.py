"""What two queries have in common: lanes, what went from task to task, and how much of the output many plans keep.

A *lane* is a part of the keys that no operator divides: lane l of L is with task ``l * parallelism div L`` of each. A
*plan* is known here by the lanes on which the records of each stream reach the output; plan 0 keeps them all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pyspark.sql import functions as F

from ftplan.model.topology import BoolArray, IntArray


def task_of(lane: Any, parallelism: int, lanes: int) -> Any:
    """Return the task that has a lane, as a column."""
    return F.call_function("div", F.col(lane) * F.lit(parallelism), F.lit(lanes)).cast("int")


def with_everything(live: BoolArray) -> BoolArray:
    """Return the lanes of all plans with those of plan 0 before them, shape (1 + plans, lanes)."""
    return np.vstack([np.ones((1, live.shape[1]), dtype=np.bool_), live])


def live_lanes(spark: Any, live: BoolArray) -> Any:
    """Return (plan, lane) of all lanes that plans keep, *live* of shape (plans, lanes), as a small frame."""
    rows = [(plan, lane) for plan, lane in np.argwhere(live).tolist()]
    return F.broadcast(spark.createDataFrame(rows, "plan int, lane int"))


def kept_entries(outputs: Any, first_window: int, windows: int, plans: int) -> IntArray:
    """Run a query for all plans, and return how many entries of plan 0 each one has too, shape (plans, windows).

    *outputs* has columns ``plan``, ``window`` and ``entry``, each row once.
    """
    together = outputs.groupBy("window", "entry").agg(F.collect_set("plan").alias("plans"))
    having = together.filter(F.array_contains("plans", 0)).select("window", F.explode("plans").alias("plan"))
    counts = having.groupBy("plan", "window").agg(F.count(F.lit(1)).alias("entries")).toArrow()
    kept = np.zeros((plans, windows), dtype=np.int64)
    at = [counts[c].to_numpy() for c in ("plan", "window", "entries")]
    kept[at[0], at[1] - first_window] = at[2]
    return kept


def substreams(counts: Any, lanes: int, senders: int, receivers: int) -> IntArray:
    """Return what went from task to task, (substreams, 3), from records by lane (``lane``, ``records``; Arrow)."""
    lane, records = counts["lane"].to_numpy().astype(np.int64), counts["records"].to_numpy()
    pair, place = np.unique(
        np.stack([lane * senders // lanes, lane * receivers // lanes], axis=1), axis=0, return_inverse=True
    )
    sums = np.bincount(place.ravel(), records, minlength=len(pair)).astype(np.int64)
    return np.column_stack([pair, sums])
