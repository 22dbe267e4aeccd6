"""Forecasts of demand, and how far they were off on time that they had not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.forecasting.methods import seasonal_naive, trend
from ftplan.forecasting.season import repeats
from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray, IntArray

Method = Literal["seasonal-naive", "trend", "smoothing"]
#: The rules by name, simplest first: of equal error the first is taken.
METHODS: dict[str, Callable[[FloatArray, IntArray, int, int], FloatArray]] = {
    "seasonal-naive": seasonal_naive,
    "trend": trend,
}
#: Origins at which methods are judged, and windows that they look at: what bounds the work.
MOST_ORIGINS, MOST_WINDOWS = 60, 20_000
#: Shares of what methods were off by that lie below the range, and below its upper end.
LOW, HIGH = 0.05, 0.95


class Forecast(NamedTuple):
    """The next H windows of a series.

    Attributes
    ----------
    mean, low, high
        (H,) what is expected, and a range that held nine of ten stretches of unseen time, window by window; not
        negative.
    paths
        (P, H) what may come: the expected course, off by what it was off by on each stretch of unseen time.
    method
        How it was made: seasonal-naive is 'same as yesterday'.
    season
        Windows after which the series repeats, 0 where no daily pattern shows.
    error
        Mean absolute error on unseen time, as a share of the mean there; None where there was no such time.
    error_same_as_yesterday
        That of 'same as yesterday' on the same time; None without a whole day before it.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    paths: FloatArray
    method: str
    season: int
    error: float | None
    error_same_as_yesterday: float | None
    warnings: tuple[Warn, ...] = ()


def forecast(series: FloatArray, horizon: int, season: int, method: str = "auto") -> Forecast:
    """Foretell a series (W,) for *horizon* windows; *season* is how many windows make a day (0: unknown).

    ``auto`` takes the method of least error. Methods are judged from up to 60 origins in the second half of the
    series, each seeing the time before its origin only [Tashman2000]; a daily pattern and parameters come from the time
    before the first of them. Gaps (NaN) repeat what was before. Only the last 20,000 windows are looked at.
    """
    values = _filled(np.asarray(series, dtype=float)[-MOST_WINDOWS:])
    first, reach = _unseen(len(values), horizon, season)
    origins = np.unique(np.linspace(first, len(values) - reach, MOST_ORIGINS).astype(np.int64))
    origins = origins[(origins >= first) & (origins <= len(values) - reach)]
    daily = season if repeats(values[:first], season) else 0
    names = list(METHODS) if method == "auto" else [method]
    whole = season > 0 and first >= season
    if not whole:
        names = [name for name in names if name != "seasonal-naive"]
    if not names:
        raise FtplanError("--forecast seasonal-naive: statistics are shorter than a day; use --forecast trend")
    actual = values[origins[:, None] + np.arange(reach)]
    off = {
        name: actual - _told(name, values, origins, reach, season, daily)
        for name in {*names, *(("seasonal-naive",) if whole else ())}
    }
    chosen = min(names, key=lambda name: _error(off[name], actual) or 0.0)
    mean = _told(chosen, values, np.array([len(values)]), horizon, season, daily)[0]
    return Forecast(
        mean,
        *_range(mean, off[chosen], values),
        chosen,
        daily,
        _error(off[chosen], actual),
        _error(off["seasonal-naive"], actual) if whole else None,
    )


def _told(name: str, values: FloatArray, origins: IntArray, horizon: int, season: int, daily: int) -> FloatArray:
    told = METHODS[name](values, origins, horizon, season if name == "seasonal-naive" else daily)
    return np.maximum(told, 0.0)


def _unseen(windows: int, horizon: int, season: int) -> tuple[int, int]:
    """Return the first origin, and how many windows ahead methods are judged: a quarter of the series at most."""
    reach = min(horizon, max(windows // 4, 1))
    first = max(windows // 2, 1)
    for enough in (season + 1, 2 * season):
        if season > 0 and enough <= windows - 2 * reach:
            first = max(first, enough)
    return first, reach


def _error(off: FloatArray, actual: FloatArray) -> float | None:
    if not off.size:
        return None
    size = float(np.abs(actual).mean())
    error = float(np.abs(off).mean())
    return error / size if size > 0.0 else (0.0 if error == 0.0 else None)


def _range(mean: FloatArray, off: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the range and the paths: beyond the judged windows what the last of these was off by."""
    if not off.size:
        paths = np.stack([np.full(len(mean), values.min()), mean, np.full(len(mean), values.max())])
    else:
        last = np.minimum(np.arange(len(mean)), off.shape[1] - 1)
        paths = np.maximum(mean + off[:, last], 0.0)
    low = np.minimum(np.quantile(paths, LOW, axis=0, method="lower"), mean)
    high = np.maximum(np.quantile(paths, HIGH, axis=0, method="higher"), mean)
    return low, high, paths


def _filled(values: FloatArray) -> FloatArray:
    """Return a series without gaps; one without any value is an error of the caller."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        raise ValueError("a series without values cannot be foretold")
    last = np.searchsorted(known, np.arange(len(values)), side="right") - 1
    return np.asarray(values[known[np.maximum(last, 0)]])
