"""Records summed up by window: one pass over the log for each output table.

The number of rows read, the number rejected for each reason and the rejected rows themselves come along with the
first pass: a rejected row falls into a group of its own, with ``entry`` -1, the file and reason in the place of the
key group, and its text as a further grouping column (null for accepted rows). In a log of more than
:data:`MOST_TEXTS` rows the texts stay out of it, so that a log of which nothing is readable cannot flood the driver;
a pass of their own fetches the first of them, if there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ftplan.spark_stats.records import LARGEST, SCALES, Records

#: Rejected texts of a log of up to so many rows all come along with the first pass.
MOST_TEXTS = 500_000
_LONGEST_TEXT = 4000
#: An entry's key groups or tasks are below this; ``_NOWHERE`` stands for none.
_PLACES = 2**32
_NOWHERE = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Grouping:
    """What one pass groups by, beside the window.

    ``slots`` has a column name for each entry that takes part: where its key group or task stands (None: nowhere).
    """

    slots: tuple[str | None, ...]
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
    from pyspark.sql import functions as F

    accepted = F.col("reason").isNull()
    frame = records.frame if rejected != "out" else records.frame.filter(accepted)
    measures = [m for m in grouping.measures if m in records.measures]
    keys = ["window_us", *grouping.extra, *(["operator"] if "operator" in frame.columns else [])]
    columns = [F.when(accepted, F.col(c)).alias(c) for c in keys] + [F.col(m) for m in measures]
    if rejected == "with text":
        columns.append(F.substring("raw", 1, _LONGEST_TEXT).alias("raw"))
        keys.append("raw")
    slots = [F.lit(_NOWHERE) if s is None else F.coalesce(F.col(s), F.lit(_NOWHERE)) for s in grouping.slots]
    places = [s.cast("bigint") + F.lit(i * _PLACES).cast("bigint") for i, s in enumerate(slots)]
    fault = (F.lit(-2) - F.col("file") * len(records.reasons) - F.col("reason")).cast("bigint")
    fault = fault - len(records.reasons)
    if len(places) == 1:
        place = F.when(accepted, places[0]).otherwise(fault)
    else:
        place = F.explode(F.when(accepted, F.array(*places)).otherwise(F.array(fault)))
    totals = [F.count(F.lit(1)).alias("rows")]
    totals += [(F.max if m in LARGEST else F.sum)(m).alias(m) for m in measures]
    frame = frame.select(place.alias("place"), *columns)
    return _parted(frame.groupBy("place", *keys).agg(*totals).toArrow(), len(records.reasons))


def _parted(sums: Any, reasons: int) -> Any:
    """Replace ``place``, one number as a cheaper grouping key, by ``entry`` and ``slot``."""
    import numpy as np
    import pyarrow as pa

    place = sums["place"].to_numpy()
    entry = np.where(place < 0, -1, place // _PLACES)
    slot = np.where(place < 0, -2 - reasons - place, place % _PLACES)
    rest = sums.drop_columns(["place"])
    nowhere = (place >= 0) & (slot == _NOWHERE)
    parts = {"entry": pa.array(entry), "slot": pa.array(slot, mask=nowhere)}
    return pa.table({**parts, **{c: rest[c] for c in rest.column_names}})


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
