"""The series that are correlated: raw loads, shares of the total, or loads without their daily profile.

Raw loads that all follow the day correlate positively with each other: the least sum is then on nodes with few groups.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ftplan.model.tolerances import NOISE
from ftplan.model.topology import FloatArray

Correlate = Literal["raw", "share", "residual"]
DAY_S = 86_400.0


def adjusted(loads: FloatArray, window_s: float, correlate: Correlate) -> FloatArray:
    """Return the series to correlate, shape (W, K) like *loads*; cost O(W K).

    ``share``: each window's loads divided by their total, 0 where that is 0. ``residual``: each load less the mean
    over all windows at the same time of day; windows of a day or longer, and traces of at most a day, have no daily
    profile to remove and stay raw.
    """
    if correlate == "share":
        total = loads.sum(axis=1, keepdims=True)
        share = np.divide(loads, total, out=np.zeros_like(loads), where=total > 0)
        return _steadied(share, share)
    if correlate == "residual":
        phase = (np.arange(loads.shape[0]) * window_s % DAY_S // window_s).astype(np.int64)
        count = np.bincount(phase)
        if len(count) <= 1 or loads.shape[0] <= len(count):
            return loads
        mean = np.zeros((len(count), loads.shape[1]))
        np.add.at(mean, phase, loads)
        mean /= np.maximum(count, 1)[:, None]
        rest = loads - mean[phase]
        return _steadied(rest, loads)
    return loads


def _steadied(series: FloatArray, scale: FloatArray) -> FloatArray:
    """Make columns of *series* constant that vary by no more than the rounding of *scale*; both (W, K)."""
    if series.size:
        noise = np.ptp(series, axis=0) <= NOISE * np.abs(scale).max(axis=0)
        series[:, noise] = series[0, noise]
    return series
