"""A forecast for policies, which ask for one before every window."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.forecasting.methods import LEVEL, seasonal_naive

#: Seconds after which half of what today differs from yesterday is left.
HALVED_S = 7200.0


def day_ahead(series: FloatArray, origins: IntArray, horizon: int, *, season: int, window_s: float) -> FloatArray:
    """Return yesterday, moved by what the last windows of today differ from it, (P, H); the difference fades.

    Without a whole day before an origin, or a season of 0, the level of the last windows goes on. A level is the median
    of three windows. Not negative. Cost O(P H).
    """
    origins = np.asarray(origins)
    daily = (origins >= season) & (season > 0)
    last = np.maximum(origins[:, None] - np.arange(1, LEVEL + 1), 0)
    differs = np.where(last >= season, series[last] - series[np.maximum(last - season, 0)], 0.0)
    level = np.median(np.where(daily[:, None], differs, series[last]), axis=1)
    told = np.repeat(level[:, None], horizon, axis=1)
    if daily.any():
        fading = 0.5 ** (np.arange(1, horizon + 1) * window_s / HALVED_S)
        told[daily] = seasonal_naive(series, season, origins[daily], horizon) + told[daily] * fading
    return np.asarray(np.maximum(told, 0.0))
