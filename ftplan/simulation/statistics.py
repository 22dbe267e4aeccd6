"""Figures of simulated recoveries over runs: means, quantiles, intervals, and paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.simulation.recovery.outcome import RecoverySummary

#: Figures of a recovery by name, the less the better.
FIGURES = (
    "priority_down_s",
    "first_back_s",
    "last_back_s",
    "peak_lag_records",
    "lag_record_s",
    "peak_queue_records",
    "peak_buffer_bytes",
    "spilled_bytes",
    "duplicates",
)
#: Quantiles that are told, and the confidence of intervals.
QUANTILES, CONFIDENCE = (0.05, 0.5, 0.95), 0.95


def values_of(summaries: Sequence[RecoverySummary], name: str) -> FloatArray:
    """Return a figure of each run, NaN where it is not known; shape (runs,)."""
    values = (getattr(summary, name) for summary in summaries)
    return np.array([np.nan if value is None else float(value) for value in values])


def mean_interval(values: FloatArray) -> tuple[float, float | None, float | None]:
    """Return the mean of some values and its confidence limits by Student's t, None for fewer than two values."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, None, None
    from scipy.special import stdtrit

    half = float(stdtrit(len(values) - 1, 0.5 + CONFIDENCE / 2.0)) * float(values.std(ddof=1)) / len(values) ** 0.5
    return mean, mean - half, mean + half


def figure(values: FloatArray) -> dict[str, Any] | None:
    """Return mean, confidence limits and quantiles of a figure over the runs in which it is known; None for none."""
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    mean, low, high = mean_interval(known)
    p5, p50, p95 = np.quantile(known, QUANTILES).tolist()
    return {"mean": mean, "low": low, "high": high, "p5": p5, "p50": p50, "p95": p95, "runs": len(known)}


def differences(first: Sequence[RecoverySummary], other: Sequence[RecoverySummary]) -> list[dict[str, Any]]:
    """Return by how much each figure of *other* is more than that of *first*, run by run on the same random numbers.

    The mean of the differences, its confidence limits by Student's t, and in how many runs *other* is less, equal and
    more. A figure that is not known in any run of both is left out.
    """
    rows = []
    for name in FIGURES:
        apart = values_of(other, name) - values_of(first, name)
        apart = apart[np.isfinite(apart)]
        if len(apart):
            mean, low, high = mean_interval(apart)
            counts = {"less": int((apart < 0).sum()), "equal": int((apart == 0).sum()), "more": int((apart > 0).sum())}
            rows.append({"figure": name, "mean": mean, "low": low, "high": high, **counts})
    return rows
