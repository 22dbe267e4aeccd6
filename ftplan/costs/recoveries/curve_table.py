"""A table with curves: time and any of throughput, lag and latency; a curve for each checkpoint interval in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ftplan.costs.recoveries.tables import ReadingOptions, RecoveryReading, column_of, numbers, read_table
from ftplan.errors import FtplanError
from ftplan.io.documents import display_name, recorded_path, sha256_of_file
from ftplan.model import ranges
from ftplan.model.plan import InputFile
from ftplan.model.recovery_costs import Curve
from ftplan.model.topology import FloatArray

SIGNALS = ("throughput", "lag", "latency")
#: Curves of one file: more intervals than this are a column that is no interval.
MOST_CURVES = 1000
_SIGNAL = ranges.Range(1e-12, 1e18)


def read(path: Path, options: ReadingOptions) -> RecoveryReading:
    """Read a table of curves; rows may stand in any order.

    Raises
    ------
    FtplanError
        If it cannot be read, has no time or no signal, or holds a value that is none.
    """
    name = display_name(path)
    frame = read_table(path)
    known = [str(column) for column in frame.columns]
    time, interval = column_of("time", known, options, name), column_of("interval", known, options, name)
    columns = {role: column_of(role, known, options, name) for role in SIGNALS}
    if time is None or not any(columns.values()):
        missing = "time" if time is None else "throughput, lag or latency"
        role = "time" if time is None else "lag"
        raise FtplanError(
            f"{name}: neither recoveries nor curves: no column of {missing}: --column {role}=COLUMN names it; "
            f"there are {', '.join(known)}"
        )
    seconds = _seconds(frame[time], time, name)
    signals = {role: numbers(frame, column, _SIGNAL, name) for role, column in columns.items() if column}
    intervals = numbers(frame, interval, ranges.INTERVAL_S, name) if interval else np.full(len(frame), np.nan)
    different = np.unique(intervals[np.isfinite(intervals)])
    if len(different) > MOST_CURVES:
        raise FtplanError(f"{name}: column {interval!r}: {len(different):,} checkpoint intervals: is it one?")
    curves = []
    for value in different if interval else [np.nan]:
        rows = np.flatnonzero(intervals == value) if interval else np.arange(len(frame))
        rows = rows[np.isfinite(seconds[rows])]
        rows = rows[np.argsort(seconds[rows], kind="stable")]
        last = np.append(np.diff(seconds[rows]) > 0.0, True) if len(rows) else np.zeros(0, dtype=np.bool_)
        rows = rows[last]  # of two samples of one moment the later row counts
        stated = float(value) if interval else options.interval_s
        called = f"{name} at {value:g} s" if interval else name
        curves.append(Curve(called, seconds[rows], **{r: v[rows] for r, v in signals.items()}, interval_s=stated))
    source = InputFile("recoveries", recorded_path(path), sha256_of_file(path))
    return RecoveryReading(curves=tuple(curves), inputs=(source,))


def _seconds(values: Any, column: str, name: str) -> FloatArray:
    """Return times as seconds: numbers as they are (milliseconds by their size or name), texts as ISO 8601."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(values):
        taken = values.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(taken).any() or (np.abs(taken[np.isfinite(taken)]) > 1e18).any():
            raise FtplanError(f"{name}: column {column!r}: holds a time that is not finite")
        typical = float(np.nanmedian(np.abs(taken))) if np.isfinite(taken).any() else 0.0
        # Milliseconds since 1970 are above 1e11 since 1973; seconds reach that in the year 5138.
        return np.asarray(taken / 1000.0 if column.lower().endswith("_ms") or typical > 1e11 else taken)
    times = pd.to_datetime(values, utc=True, errors="coerce", format="ISO8601")
    wrong = (times.isna() & values.notna()).to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise FtplanError(f"{name}: column {column!r}: row {row}: {str(values.iloc[row])!r} is no time")
    return np.asarray((times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1), dtype=np.float64)
