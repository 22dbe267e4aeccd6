"""Forecasts by plain rules, and exponential smoothing by statsmodels ([Hyndman2021], chapter 8).

Each takes many origins at once: from origin t it sees the windows before t alone. Shapes: W windows, P origins, H
windows ahead. Column h of a forecast from origin t is of window t + h.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray

#: Fewer windows tell no parameters; more are not needed (unless two seasons are longer).
LEAST_WINDOWS, MAX_FITTED_WINDOWS = 24, 5_000


def installed() -> bool:
    """Return whether statsmodels is there: it comes with the extra ``forecast``."""
    return find_spec("statsmodels") is not None


class Smoothing(NamedTuple):
    """The states of a smoothed series after each window, with the parameters that one fit has told."""

    #: ``level``, ``slope``, ``pattern``: (W,) after each window; the pattern is that of the window itself. NaN before
    #: ``begin``.
    level: FloatArray
    slope: FloatArray
    pattern: FloatArray
    damping: float  # what is left of a slope with each window ahead
    season: int  # windows after which the pattern repeats, 0 without one

    def ahead(self, origins: IntArray, horizon: int) -> FloatArray:
        """Return the forecast of each origin, (P, H), from the states of the windows before it."""
        last = origins[:, None] - 1
        damped = np.cumsum(self.damping ** np.arange(1, horizon + 1))
        answer = self.level[last] + self.slope[last] * damped
        if self.season:
            answer = answer + self.pattern[origins[:, None] - self.season + np.arange(horizon) % self.season]
        return np.asarray(answer)


def smoothed(series: FloatArray, season: int, learnt: int) -> Smoothing:
    """Fit the parameters on the first *learnt* windows of a series (W,), and smooth all of it with them.

    One fit, on the last 5,000 of these windows (or two seasons), and one pass: what is judged on the windows that the
    fit has not seen is what foretells. A pattern needs two seasons in *learnt*.
    """
    from statsmodels.tsa.holtwinters import ExponentialSmoothing

    begin = max(learnt - max(MAX_FITTED_WINDOWS, 2 * season), 0)
    kind = {"trend": "add", "damped_trend": True}
    if season:
        kind |= {"seasonal": "add", "seasonal_periods": season}
    with warnings.catch_warnings():  # a search that has not converged is judged as it is
        warnings.simplefilter("ignore")
        model = ExponentialSmoothing(series[begin:learnt], **kind, initialization_method="heuristic")
        fitted = model.fit(use_brute=False).params
        known = {"initial_level": fitted["initial_level"], "initial_trend": fitted["initial_trend"]}
        rates = {"smoothing_level": fitted["smoothing_level"], "smoothing_trend": fitted["smoothing_trend"]}
        if season:
            known["initial_seasonal"] = fitted["initial_seasons"]
            rates["smoothing_seasonal"] = fitted["smoothing_seasonal"]
        whole = ExponentialSmoothing(series[begin:], **kind, initialization_method="known", **known)
        states = whole.fit(optimized=False, damping_trend=fitted["damping_trend"], **rates)
    before = np.full(begin, np.nan)
    return Smoothing(
        np.concatenate([before, states.level]),
        np.concatenate([before, states.trend]),
        np.concatenate([before, states.season]) if season else before,
        float(fitted["damping_trend"]),
        season,
    )


#: Seconds after which half of what today differs from yesterday is left.
HALVED_S = 7200.0

DAY_S = 86400.0
#: Windows that a line may be laid through.
LINES = (12, 144)
#: Windows whose median is the level from which a line goes on.
LEVEL = 3
#: What may be left of a slope with each window ahead: a line that goes on undamped is soon worse than none.
DAMPINGS = (0.9, 0.98)


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


def windows_a_day(window_s: float) -> int:
    """Return how many windows of *window_s* seconds make a day, 0 where a day has fewer than two."""
    return round(DAY_S / window_s) if window_s * 2.0 <= DAY_S else 0


def seasonal_naive(series: FloatArray, season: int, origins: IntArray, horizon: int) -> FloatArray:
    """Return 'same as yesterday', (P, H): the last known value of the same window of the day.

    Each origin must have *season* windows before it.
    """
    return np.asarray(series[origins[:, None] - season + np.arange(horizon) % season])


def trend(series: FloatArray, season: int, length: int, damping: float, origins: IntArray, horizon: int) -> FloatArray:
    """Return a damped line with the slope of Theil and Sen, (P, H), which outliers do not pull [Sen1968].

    The slope is the median over all pairs of the last *length* windows; the line begins at the median of the last
    three. With a daily pattern (season > 0) the line goes through what today differs from yesterday, and yesterday is
    added; then origins need more than *season* windows before them. Cost O(P · length²).
    """
    damped = np.cumsum(damping ** np.arange(1, horizon + 1))
    if season:
        rest = series[season:] - series[:-season]
        answer = seasonal_naive(series, season, origins, horizon)
    else:
        rest, answer = series, np.zeros((len(origins), horizon))
    for row, origin in enumerate(origins.tolist()):
        known = rest[max(origin - season - length, 0) : origin - season]
        answer[row] += np.median(known[-LEVEL:]) + _slope(known) * damped
    return answer


def _slope(values: FloatArray) -> float:
    """Return the median slope over all pairs; 0 of fewer than three values."""
    if len(values) < 3:
        return 0.0
    first, last = np.triu_indices(len(values), 1)
    return float(np.median((values[last] - values[first]) / (last - first)))
