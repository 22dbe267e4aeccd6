"""Records summed up by window: one pass over the log for each output table.

The number of rows read, the number rejected for each reason and the rejected rows themselves come along with the
first pass: a rejected row falls into a group of its own, with ``entry`` -1, the file and reason in the place of the
key group, and its text as a further grouping column (null for accepted rows). Above :data:`MOST_SAMPLED` rows only a
share of the texts is kept there, so that a log of which nothing is readable cannot flood the driver; the counts stay
exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.spark_stats.records import LARGEST, SCALES, Records

#: Rejected texts of a log of up to so many rows all come along with the first pass.
MOST_SAMPLED = 500_000
_LONGEST_TEXT = 4000


@dataclass(frozen=True, slots=True)
class Grouping:
    """What one pass groups by, beside the window.

    ``slots`` has a column name for each entry that takes part: where its key group or task stands (None: nowhere).
    """

    slots: tuple[str | None, ...]
    extra: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()


def aggregate(records: Records, grouping: Grouping, sample: int | None) -> Any:
    """Return the sums of one pass as an Arrow table; this runs the pass.

    Parameters
    ----------
    sample
        None: rejected rows are left out. Else they are counted, and one text in *sample* is kept.

    Returns
    -------
    pyarrow.Table
        One row per entry (int; -1: rejected), ``operator`` (only with an operator column), ``slot`` (key group or
        task; of rejected rows ``file * reasons + reason``), ``window_us`` and ``grouping.extra``, with ``rows`` and a
        sum or maximum of each measure, still scaled; ``raw`` only with *sample*.
    """
    from pyspark.sql import functions as F

    accepted = F.col("reason").isNull()
    frame = records.frame if sample is not None else records.frame.filter(accepted)
    has_operator = "operator" in frame.columns
    measures = [m for m in grouping.measures if m in records.measures]
    values = ["window_us", *grouping.extra, *measures]
    kept = [F.when(accepted, F.col(c)).alias(c) for c in values]
    if has_operator:
        kept.append(F.when(accepted, F.col("operator")).alias("operator"))
    if sample is not None:
        text = F.substring("raw", 1, _LONGEST_TEXT)
        chosen = ~accepted if sample == 1 else ~accepted & (F.pmod(F.xxhash64("raw"), F.lit(sample)) == 0)
        kept.append(F.when(chosen, text).alias("raw"))
    rejected_slot = F.col("file") * len(records.reasons) + F.col("reason")
    slots = [F.lit(None).cast("int") if s is None else F.col(s) for s in grouping.slots]
    if len(slots) == 1:
        frame = frame.select(
            F.when(accepted, 0).otherwise(-1).alias("entry"),
            F.when(accepted, slots[0]).otherwise(rejected_slot).alias("slot"),
            *kept,
        )
    else:
        pairs = [F.struct(F.lit(i).alias("entry"), s.cast("int").alias("slot")) for i, s in enumerate(slots)]
        rejected = F.struct(F.lit(-1).alias("entry"), rejected_slot.cast("int").alias("slot"))
        all_of_them = F.explode(F.when(accepted, F.array(*pairs)).otherwise(F.array(rejected)))
        frame = frame.select(all_of_them.alias("pair"), *kept).select("pair.entry", "pair.slot", "*").drop("pair")
    keys = ["entry", "slot", "window_us", *grouping.extra]
    keys += ["operator"] if has_operator else []
    keys += ["raw"] if sample is not None else []
    totals = [F.count(F.lit(1)).alias("rows")]
    totals += [(F.max if m in LARGEST else F.sum)(m).alias(m) for m in measures]
    return frame.groupBy(*keys).agg(*totals).toArrow()


def rejected_rows(records: Records, limit: int, outside: Sequence[int]) -> Any:
    """Return the first *limit* rejected rows in order of (``file``, ``reason``, ``raw``); a pass of its own."""
    from pyspark.sql import functions as F

    frame = records.frame.filter(F.col("reason").isNotNull())
    if outside:
        frame = frame.filter(~F.col("reason").isin(*outside))
    text = F.substring("raw", 1, _LONGEST_TEXT).alias("raw")
    return frame.select("file", "reason", text).orderBy("file", "reason", "raw").limit(limit).toArrow()


def unscaled(name: str) -> float:
    """Return what a whole number in the column of this measure is worth."""
    return 1.0 / SCALES.get(name, 1.0)
