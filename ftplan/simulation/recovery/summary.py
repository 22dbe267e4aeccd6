"""What can be said of a simulated recovery in a few numbers."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray
from ftplan.simulation.recovery.outcome import QuerySeries, RecoverySummary, RecoveryTrace


def summarise(
    trace: RecoveryTrace, series: QuerySeries, priority: FloatArray, memory_bytes: float = np.inf
) -> RecoverySummary:
    """Return the summary of a recovery.

    Parameters
    ----------
    priority
        Of each query, in the order of ``series.query``, shape (queries,).
    memory_bytes
        For what tasks keep of their output; what is beyond it is spilled to disk.
    """
    time_s, down = series.time_s, ~series.available
    seconds = np.clip(time_s, 0.0, trace.observed.bin_s)  # of each bin that lie after the failure
    down_s = seconds @ down
    back = _back(time_s, down & (seconds > 0.0)[:, None])
    again = [moment for moment, was_down in zip(back, down_s > 0.0, strict=True) if was_down]
    known = [moment for moment in again if moment is not None]
    lag, after = series.lag_records, time_s > 0.0
    level = float(lag[~after].mean()) if (~after).any() else 0.0
    peak_buffer = float(series.all_buffered_bytes[after].max(initial=0.0))
    return RecoverySummary(
        priority_down_s=float(priority @ down_s),
        first_back_s=min(known, default=None),
        last_back_s=max(known, default=None) if len(known) == len(again) else None,
        down_s=tuple(down_s.tolist()),
        back_s=back,
        peak_lag_records=float(lag[after].max(initial=0.0)),
        lag_record_s=float(np.maximum(lag - level, 0.0) @ seconds),
        peak_buffer_bytes=peak_buffer,
        spilled_bytes=max(0.0, peak_buffer - memory_bytes),
        peak_queue_records=float(series.all_queue_records[after].max(initial=0.0)),
        duplicates=float(trace.observed.duplicates[after].sum()),
    )


def _back(time_s: FloatArray, down: BoolArray) -> tuple[float | None, ...]:
    """Return when each query was back for good: the end of its last bin down, None if that is the last bin of all."""
    back: list[float | None] = []
    for column in down.T:
        last = np.flatnonzero(column)
        if not len(last):
            back.append(0.0)
        else:
            back.append(float(time_s[last[-1]]) if last[-1] + 1 < len(time_s) else None)
    return tuple(back)
