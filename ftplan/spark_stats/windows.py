"""Records summed up by window: one pass over the log for all tables.

A record counts once for each entry of each table: the entries are numbered through, and the rows of the log are
repeated for them before they are grouped. Rejected rows fall into groups of their own, by file, reason and a bucket of
their text, with the first and the last text of the bucket: counts are exact, and the texts bounded, however much of a
log is unreadable. Nothing is filtered: engines push a filter below the expressions that it is about, and compute all of
them once more for each time that they are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from ftplan.spark_stats.readers import MOST_NAMED_FILES
from ftplan.spark_stats.records import LARGEST, Records
from ftplan.spark_stats.rejects import OUTSIDE

_LONGEST_TEXT = 4000
#: Key groups and tasks are below this.
_LARGEST_SIZE = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Grouping:
    """What one table groups by, beside the window.

    ``slots`` has a column name for each entry that takes part: where its key group or task stands (None: nowhere).
    All numbers there are below ``size``.
    """

    slots: tuple[str | None, ...]
    size: int = _LARGEST_SIZE
    extra: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()


class Sums(NamedTuple):
    """What the pass gave, as Arrow tables.

    ``tables``: for each grouping one row per ``entry`` (int), ``operator`` (only with an operator column), ``slot``
    (key group or task), ``window_us`` and ``extra``, with ``rows`` and a sum or maximum of each measure, still scaled.
    ``rejected``: ``file`` (-1: unknown), ``reason``, ``rows``, and the ``first`` and ``last`` of their texts (or null).
    """

    tables: Mapping[str, Any]
    rejected: Any


def aggregate(records: Records, groupings: Mapping[str, Grouping], buckets: int, in_steps: bool) -> Sums:
    """Return the sums of all tables; this passes over the log.

    Parameters
    ----------
    buckets
        Texts of rejected rows are kept apart in so many buckets for each file and reason; 0: no text is kept.
    in_steps
        Whether texts are grouped by before the first and last of them are taken: Spark would sort all rows otherwise.
    """
    codes = _Codes(records, groupings)
    return codes.parted(_grouped(records, codes, buckets, in_steps).toArrow())


def _grouped(records: Records, codes: _Codes, buckets: int, in_steps: bool) -> Any:
    """Return the sums of all tables as a frame, with their ``place``."""
    frame, groupings, accepted = records.frame, codes.groupings, F.col("reason").isNull()
    used = {m for g in groupings.values() for m in g.measures}
    measures = [m for m in records.measures if m in used]
    keys = [*codes.users, *(["operator"] if "operator" in frame.columns else [])]
    outside = [i for i, reason in enumerate(records.reasons) if reason == OUTSIDE]
    has_text = ~accepted & ~F.col("reason").isin(*outside)
    text = F.when(has_text, F.substring("raw", 1, _LONGEST_TEXT))
    columns = [F.when(accepted, F.col(c)).alias(c) for c in keys] + [F.col(m) for m in measures]
    columns += [text.alias("text")] if buckets else []
    place = codes.place(accepted, has_text, min(buckets, 2**62 // codes.count))
    if not codes.packs_window:
        columns.append(F.when(accepted, F.col("window_us")).alias("window_us"))
        keys.append("window_us")
    frame = frame.select(place.alias("place"), *columns)
    if codes.explodes:
        # From a plain explode, Spark derives a filter for rows with a place, and pushes it down.
        frame = frame.select(F.explode_outer("place").alias("place"), *(c for c in frame.columns if c != "place"))
    for column, tables in codes.users.items():
        if len(tables) < len(groupings):
            frame = frame.withColumn(column, F.when(codes.is_of(tables), F.col(column)))
    totals = {m: (F.max if m in LARGEST else F.sum)(m).alias(m) for m in measures}
    ends = [F.min("text").alias("first"), F.max("text").alias("last")] if buckets else []
    if ends and in_steps:
        frame = frame.groupBy("place", *keys, "text").agg(F.count(F.lit(1)).alias("rows"), *totals.values())
        rows = F.sum("rows").alias("rows")
    else:
        rows = F.count(F.lit(1)).alias("rows")
    return frame.groupBy("place", *keys).agg(rows, *totals.values(), *ends)


class _Codes:
    """Entry, slot and, where they fit, the window in one number: a grouping by one number is the cheapest.

    A place is ``window * count + code``. The codes of an entry are its slots, the last standing for none; the codes
    after those of all entries stand for the file and reason of rejected rows, with the bucket in place of the window.
    With windows of at least ``2 * count`` microseconds no time that 64 bits can hold overflows. ``ends`` has
    the first code of each table and the first after it, ``users`` the tables that group by each extra column.
    """

    def __init__(self, records: Records, groupings: Mapping[str, Grouping]) -> None:
        self.groupings = groupings
        self.slots = [slot for g in groupings.values() for slot in g.slots]
        spans = [g.size + 1 for g in groupings.values() for _ in g.slots]
        self.first = np.concatenate(([0], np.cumsum(spans, dtype=np.int64)))
        self.explodes = len(self.slots) > 1
        self.reasons = len(records.reasons)
        self.count = int(self.first[-1]) + (MOST_NAMED_FILES + 1) * self.reasons
        self.window_us = records.window_us
        self.packs_window = 2 * self.count <= self.window_us
        self.ends: dict[str, tuple[int, int]] = {}
        self.users: dict[str, list[str]] = {}
        entry = 0
        for table, grouping in groupings.items():
            first, entry = entry, entry + len(grouping.slots)
            self.ends[table] = (int(self.first[first]), int(self.first[entry]))
            for column in grouping.extra:
                self.users.setdefault(column, []).append(table)

    def place(self, accepted: Any, has_text: Any, buckets: int) -> Any:
        """Return the place of each row, an array of places where a row counts for several entries."""
        window: Any = _long(0)
        if self.packs_window:
            window = F.expr(f"window_us div {self.window_us}L") * _long(self.count)
        places = [
            window + (_long(end - 1) if slot is None else F.coalesce(_long(first) + F.col(slot), _long(end - 1)))
            for slot, first, end in zip(self.slots, self.first[:-1].tolist(), self.first[1:].tolist(), strict=True)
        ]
        fault = _long(int(self.first[-1])) + ((F.col("file") + 1) * self.reasons + F.col("reason")).cast("bigint")
        if buckets:
            bucket = F.when(has_text, F.pmod(F.xxhash64("raw"), _long(buckets))).otherwise(_long(0))
            fault = fault + bucket * _long(self.count)
        if self.explodes:
            return F.when(accepted, F.array(*places)).otherwise(F.array(fault))
        return F.when(accepted, places[0]).otherwise(fault)

    def is_of(self, tables: list[str]) -> Any:
        """Whether a place is one of some tables."""
        code = F.pmod(F.col("place"), _long(self.count))
        return reduce(or_, ((code >= _long(a)) & (code < _long(b)) for a, b in (self.ends[table] for table in tables)))

    def parted(self, sums: Any) -> Sums:
        """Return the rows of each table, with ``entry``, ``slot`` and ``window_us`` for ``place``."""
        place = sums["place"].to_numpy()
        code = place % self.count
        tables = {}
        for name, grouping in self.groupings.items():
            first, end = self.ends[name]
            own = (code >= first) & (code < end)
            entry = np.searchsorted(self.first, code[own], side="right") - 1
            slot = code[own] - self.first[entry]
            parts = {
                "entry": pa.array(entry - np.searchsorted(self.first, first)),
                "slot": pa.array(slot, mask=slot == np.diff(self.first)[entry] - 1),
            }
            if self.packs_window:
                parts["window_us"] = pa.array(place[own] // self.count * self.window_us)
            kept = [c for c in sums.column_names if c in (*_COMMON, *grouping.extra, *grouping.measures)]
            rest = sums.select(kept).filter(pa.array(own))
            tables[name] = pa.table({**parts, **{c: rest[c] for c in kept}})
        faulty = code >= self.first[-1]
        file, reason = np.divmod(code[faulty] - self.first[-1], self.reasons)
        kept = [c for c in ("rows", "first", "last") if c in sums.column_names]
        rest = sums.select(kept).filter(pa.array(faulty))
        return Sums(tables, pa.table({"file": file - 1, "reason": reason, **{c: rest[c] for c in kept}}))


#: Columns of every table.
_COMMON = ("rows", "operator", "window_us")


def _long(value: int) -> Any:
    return F.lit(value).cast("bigint")
