"""Forecasts by plain rules. Each takes many origins at once: from origin t it sees the windows before t alone.

Shapes: W windows, P origins, H windows ahead. Column h of a forecast from origin t is of window t + h.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray

#: Windows that a line is laid through: twice the horizon, within these.
SHORTEST_LINE, LONGEST_LINE = 12, 144
#: Windows whose median is the level from which a line goes on.
LEVEL = 3
#: What is left of a slope with each window ahead: a line that goes on undamped is soon worse than none.
DAMPING = 0.9


def seasonal_naive(series: FloatArray, origins: IntArray, horizon: int, season: int) -> FloatArray:
    """Return 'same as yesterday', (P, H): the last known value of the same window of the day.

    Each origin must have *season* windows before it.
    """
    return np.asarray(series[origins[:, None] - season + np.arange(horizon) % season])


def trend(series: FloatArray, origins: IntArray, horizon: int, season: int) -> FloatArray:
    """Return a damped line with the slope of Theil and Sen, (P, H), without outliers' pull [Sen1968].

    The slope is the median over all pairs of the last windows; the line begins at the median of the last three. Of a
    series that repeats (season > 0) the line goes through what today differs from yesterday, and yesterday is added.
    Cost O(P · n²) for n = 2H windows, at most 144.
    """
    ahead = np.cumsum(DAMPING ** np.arange(1, horizon + 1))
    daily = np.zeros(len(series)) if season == 0 else np.concatenate([np.zeros(season), series[:-season]])
    answer = seasonal_naive(series, origins, horizon, season) if season else np.zeros((len(origins), horizon))
    rest = series - daily
    for row, origin in enumerate(origins.tolist()):
        known = rest[season:origin][-min(max(2 * horizon, SHORTEST_LINE), LONGEST_LINE) :]
        if len(known):
            answer[row] += np.median(known[-LEVEL:]) + _slope(known) * ahead
    return answer


def _slope(values: FloatArray) -> float:
    """Return the median slope over all pairs; 0 of fewer than three values."""
    if len(values) < 3:
        return 0.0
    first, last = np.triu_indices(len(values), 1)
    return float(np.median((values[last] - values[first]) / (last - first)))
