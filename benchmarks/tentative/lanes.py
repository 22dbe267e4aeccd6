"""What two queries have in common: lanes, what went from task to task, and how much of the output many plans keep.

A *lane* is a part of the keys that no operator divides: lane l of L is with task ``floor(l * tasks / L)`` of each.
A *plan* is known here by the lanes on which the records of each stream reach the output; plan 0 keeps them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from pyspark.sql import functions as F

from ftplan.model.topology import BoolArray, IntArray


@dataclass(frozen=True)
class Shape:
    """A query's operators with their tasks, its edges, which operators of them each stream passes, and its lanes."""

    name: str
    operators: Mapping[str, int]
    edges: tuple[tuple[str, str], ...]
    streams: Mapping[str, tuple[str, ...]]
    lanes: int
    joins: str | None = None

    def tasks_of(self, operator: str) -> IntArray:
        """Return the task of an operator that has each lane, shape (lanes,)."""
        return np.arange(self.lanes, dtype=np.int64) * self.operators[operator] // self.lanes

    def live(self, replicated: Mapping[str, BoolArray]) -> list[BoolArray]:
        """Return by stream on which lanes all tasks of the way are *replicated*, each of shape (lanes,).

        In the worst case all tasks without a replica fail: a record gets through where its whole way lives.
        """
        return [np.logical_and.reduce([replicated[o][self.tasks_of(o)] for o in way]) for way in self.streams.values()]


@dataclass(frozen=True, eq=False)
class Flows:
    """What a query did without failure.

    ``edges``: by edge, records from task to task, rows of (from index, to index, records). ``outputs``: entries of the
    output in each window, shape (windows,). ``seconds``: length of the streams.
    """

    seconds: float
    edges: Mapping[tuple[str, str], IntArray]
    outputs: IntArray


class Query(Protocol):
    """A query on its streams. Calling its methods runs jobs."""

    shape: Shape

    def flows(self) -> Flows:
        """Return what went over its edges without failure."""

    def kept(self, live: Mapping[str, BoolArray]) -> IntArray:
        """Return how many entries of the output without failure each plan keeps, shape (plans, windows).

        *live* has by stream the lanes on which each plan keeps its records, shape (plans, lanes).
        """


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


def substreams(frame: Any, lanes: int, senders: int, receivers: int) -> IntArray:
    """Return what went from task to task, (substreams, 3); each row of a frame is a record of a ``lane``."""
    counts = frame.groupBy("lane").agg(F.count(F.lit(1)).alias("records")).toArrow()
    lane, records = counts["lane"].to_numpy().astype(np.int64), counts["records"].to_numpy()
    ends = np.stack([lane * senders // lanes, lane * receivers // lanes], axis=1)
    pair, place = np.unique(ends, axis=0, return_inverse=True)
    return np.column_stack([pair, np.bincount(place.ravel(), records, minlength=len(pair)).astype(np.int64)])
