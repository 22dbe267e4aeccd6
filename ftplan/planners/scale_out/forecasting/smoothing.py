"""Exponential smoothing by statsmodels: a level, a damped trend and a daily pattern [Hyndman2021], chapter 8."""

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
    """The states of a smoothed series after each window, with the parameters that one fit has told.

    Attributes
    ----------
    level, slope, pattern
        (W,) after each window; the pattern is that of the window itself. NaN before ``begin``.
    damping
        What is left of a slope with each window ahead.
    season
        Windows after which the pattern repeats, 0 without one.
    """

    level: FloatArray
    slope: FloatArray
    pattern: FloatArray
    damping: float
    season: int

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
