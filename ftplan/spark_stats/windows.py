"""Records summed up by window: one pass over the log for each output table.

The number of rows read, the number rejected for each reason and the rejected rows themselves come along with the
first pass: a rejected row falls into a group of its own, with ``entry`` -1, the file and reason in the place of the
key group, and its text as a further grouping column (null for accepted rows). In a large log the texts stay out of
it, so that a log of which nothing is readable cannot flood the driver; a pass of their own fetches the first of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pyspark.sql import functions as F

from ftplan.spark_stats.readers import MOST_NAMED_FILES
from ftplan.spark_stats.records import LARGEST, Records

_LONGEST_TEXT = 4000
#: Key groups and tasks are below this.
_LARGEST_SIZE = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Grouping:
    """What one pass groups by, beside the window.

    ``slots`` has a column name for each entry that takes part: where its key group or task stands (None: nowhere).
    All numbers there are below ``size``.
    """

    slots: tuple[str | None, ...]
    size: int = _LARGEST_SIZE
    extra: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()


def aggregate(records: Records, grouping: Grouping, rejected: Literal["out", "counted", "with text"]) -> Any:
    """Return the sums of one pass as an Arrow table; this runs the pass.

    Parameters
    ----------
    rejected
        Whether rejected rows are left out, counted, or counted apart for each text.

    Returns
    -------
    pyarrow.Table
        One row per entry (int; -1: rejected), ``operator`` (only with an operator column), ``slot`` (key group or
        task; of rejected rows ``file * reasons + reason``), ``window_us`` and ``grouping.extra``, with ``rows`` and a
        sum or maximum of each measure, still scaled (of rejected rows meaningless); ``raw`` only with text.
    """
    accepted = F.col("reason").isNull()
    frame = records.frame if rejected != "out" else records.frame.filter(accepted)
    measures = [m for m in grouping.measures if m in records.measures]
    keys = [*grouping.extra, *(["operator"] if "operator" in frame.columns else [])]
    columns = [F.when(accepted, F.col(c)).alias(c) for c in keys] + [F.col(m) for m in measures]
    if rejected == "with text":
        columns.append(F.substring("raw", 1, _LONGEST_TEXT).alias("raw"))
        keys.append("raw")
    code = _Code(records, grouping)
    place = code.place(accepted)
    if not code.packs_window:
        columns.append(F.when(accepted, F.col("window_us")).alias("window_us"))
        keys.append("window_us")
    totals = [F.count(F.lit(1)).alias("rows")]
    totals += [(F.max if m in LARGEST else F.sum)(m).alias(m) for m in measures]
    place = F.explode(place) if code.explodes else place
    sums = frame.select(place.alias("place"), *columns).groupBy("place", *keys).agg(*totals).toArrow()
    return code.parted(sums)


class _Code:
    """Entry, slot and, where they fit, the window in one number: a grouping by one number is the cheapest.

    A code is ``window * codes + entry * (size + 1) + slot``, the last slot of an entry standing for none; the codes
    after those of all entries stand for the file and reason of rejected rows, in window 0. With windows of at least
    ``codes * 2`` microseconds no time that 64 bits can hold overflows.
    """

    def __init__(self, records: Records, grouping: Grouping) -> None:
        self.slots = grouping.slots
        self.span = grouping.size + 1
        self.reasons = len(records.reasons)
        self.first_fault = len(self.slots) * self.span
        self.codes = self.first_fault + (MOST_NAMED_FILES + 1) * self.reasons
        self.window_us = records.window_us
        self.packs_window = 2 * self.codes <= self.window_us
        self.explodes = len(self.slots) > 1

    def place(self, accepted: Any) -> Any:
        """Return the code of each row, an array of codes where a row counts for several entries."""
        nowhere = F.lit(self.span - 1).cast("bigint")
        window: Any = F.lit(0).cast("bigint")
        if self.packs_window:
            window = F.expr(f"window_us div {self.window_us}L") * F.lit(self.codes).cast("bigint")
        places = [
            window
            + F.lit(i * self.span).cast("bigint")
            + (nowhere if slot is None else F.coalesce(F.col(slot).cast("bigint"), nowhere))
            for i, slot in enumerate(self.slots)
        ]
        fault = (F.lit(self.first_fault) + (F.col("file") + 1) * self.reasons + F.col("reason")).cast("bigint")
        if self.explodes:
            return F.when(accepted, F.array(*places)).otherwise(F.array(fault))
        return F.when(accepted, places[0]).otherwise(fault)

    def parted(self, sums: Any) -> Any:
        """Replace ``place`` by ``entry``, ``slot`` and ``window_us``."""
        import numpy as np
        import pyarrow as pa

        place = sums["place"].to_numpy()
        code = place % self.codes if self.packs_window else place
        fault = code >= self.first_fault
        entry = np.where(fault, -1, code // self.span)
        slot = np.where(fault, code - self.first_fault - self.reasons, code % self.span)
        nowhere = ~fault & (slot == self.span - 1)
        parts = {"entry": pa.array(entry), "slot": pa.array(slot, mask=nowhere)}
        if self.packs_window:
            parts["window_us"] = pa.array(place // self.codes * self.window_us, mask=fault)
        rest = sums.drop_columns(["place"])
        return pa.table({**parts, **{c: rest[c] for c in rest.column_names}})


def rejected_rows(records: Records, limit: int, outside: Sequence[int]) -> Any:
    """Return the first *limit* rejected rows in order of (``file``, ``reason``, ``raw``); a pass of its own."""
    frame = records.frame.filter(F.col("reason").isNotNull())
    if outside:
        frame = frame.filter(~F.col("reason").isin(*outside))
    text = F.substring("raw", 1, _LONGEST_TEXT).alias("raw")
    return frame.select("file", "reason", text).orderBy("file", "reason", "raw").limit(limit).toArrow()
