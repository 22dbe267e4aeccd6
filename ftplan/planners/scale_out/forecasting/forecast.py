"""Forecasts of demand, how far they were off on time that they had not seen, and when bottlenecks follow from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from ftplan.errors import FtplanError, MissingExtraError
from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.forecasting.methods import (
    DAMPINGS,
    DAY_S,
    LEAST_WINDOWS,
    LINES,
    day_ahead,
    installed,
    seasonal_naive,
    smoothed,
    trend,
    windows_a_day,
)

#: Which inputs of the inference grow with demand: cpu and data size, not memory between them.
GROWING = (0, 2)
#: Demands between none and the largest one foretold for which scores are computed, and windows that are looked at.
STEPS, MOST_LOOKED_AT = 1000, 288


class Crossing(NamedTuple):
    """When a score is reached."""

    #: Seconds from the end of the statistics: the time before which one of twenty courses crosses, half of them,
    #: nineteen of twenty. None within it: so many do not within the horizon; None: fewer than one of twenty do.
    promote_in_s: tuple[float | None, float | None, float | None] | None
    prepare_in_s: float | None  # seconds until it has to be prepared to be ready even for the earliest; 0 is now


def crossing(
    inputs: FloatArray,
    demand: FloatArray,
    ahead: Forecast,
    score: Callable[[FloatArray], FloatArray],
    promote: float,
    window_s: float,
    setup_s: float,
) -> Crossing:
    """Return when the score of an operator's worst task goes above *promote*.

    *inputs* (W, T, 3) are cpu, memory and data size of its tasks in percent, *demand* (W,) what came in; *score* maps
    inputs (..., 3) to scores (...). A score above *promote* in the last window is reached at once.

    Along each path of the forecast cpu and data size of the worst task grow with demand, clipped at 100; memory stays.
    What a record takes of them is that of the worst task of each window of the last day, the median by records: one
    window, at night, says little. Without any demand in the last day the score stays as it is. Demands are rounded to
    a thousandth of the largest one foretold: about 20 ms whatever the horizon.
    """
    if (score(inputs[-1]) > promote).any():
        return Crossing((0.0, 0.0, 0.0), 0.0)
    day = min(max(windows_a_day(window_s), LINES[0]), len(inputs))
    last = slice(-day, None, -(-day // MOST_LOOKED_AT))
    task = _worst_task(inputs[last], demand[last], score)
    if task is None:
        return Crossing(None, None)
    most = float(ahead.paths.max())
    grown = np.broadcast_to(task, (STEPS + 1, len(task))).copy()
    for column in GROWING:
        grown[:, column] = np.clip(task[column] * np.linspace(0.0, most, STEPS + 1), 0.0, 100.0)
    step = np.rint(ahead.paths / (most or 1.0) * STEPS).astype(int)
    above = (score(grown) > promote)[step]
    first = np.where(above.any(axis=1), (above.argmax(axis=1) + 1.0) * window_s, np.inf)
    times = [float(np.quantile(first, share, method="inverted_cdf")) for share in (LOW, 0.5, HIGH)]
    if times[0] == np.inf:
        return Crossing(None, None)
    low, median, high = (None if time == np.inf else time for time in times)
    return Crossing((low, median, high), max(times[0] - setup_s, 0.0))


def _worst_task(inputs: FloatArray, demand: FloatArray, score: Callable[[FloatArray], FloatArray]) -> FloatArray | None:
    """Return cpu and data size by record, and memory, (3,), of the worst task; None without any demand."""
    windows = np.flatnonzero(np.nan_to_num(demand) > 0.0)
    if not len(windows):
        return None
    inputs, demand = inputs[windows], demand[windows]
    order = np.lexsort((np.nansum(inputs, axis=-1), np.nan_to_num(score(inputs), nan=-1.0)))
    worst = np.take_along_axis(inputs, order[:, -1:, None], axis=1)[:, 0]
    for column in GROWING:
        worst[:, column] /= demand
    return np.array([_median(column, demand) for column in worst.T])


def _median(values: FloatArray, weights: FloatArray) -> float:
    """Return the weighted median of the known values, NaN where there is none."""
    order = [item for item in np.argsort(values).tolist() if np.isfinite(values[item])]
    if not order:
        return float("nan")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2.0)])


#: Origins at which methods are judged, and windows that they look at: what bounds the work.
MOST_ORIGINS, MOST_WINDOWS = 60, 20_000
#: Shares of what may come that lie below the range, and below its upper end.
LOW, HIGH = 0.05, 0.95
#: Of a series, the part that may be foretold: it is judged on half of the series, in three stretches at least.
SUPPORTED = 6
#: Of the windows that are judged, the last part: what is said of the horizon.
LAST_PART = 8
#: By how much ranges are wider because methods are chosen by the very errors that these are made of.
CHOSEN = 1.15
#: What a method with its parameters foretells, (P, H), from each of the origins (P,) for H windows.
Rule = Callable[[IntArray, int], FloatArray]
NAIVE = "seasonal-naive"


class _Candidate(NamedTuple):
    """A method with its parameters, of which the daily pattern is one."""

    method: str
    season: int
    rule: Rule


class Forecast(NamedTuple):
    """The next H windows of a series."""

    #: ``mean``, ``low``, ``high``: (H,) what is expected, and a range that nine of ten paths keep to in each window;
    #: not negative
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    #: (P, H) what may come: the expected course, off by what it was off by on each stretch of unseen time
    paths: FloatArray
    method: str  # how it was made; seasonal-naive is 'same as yesterday'
    season: int  # windows after which it repeats, 0 where it knows no daily pattern
    #: Mean absolute error at the horizon on unseen time, as a share of the mean there; None without any such time
    error: float | None
    #: That of 'same as yesterday' on the same time; None without a whole day before it
    error_same_as_yesterday: float | None
    warnings: tuple[Warn, ...] = ()


class Forecaster(NamedTuple):
    """A method that was chosen on the first windows of a series, and foretells from any later origin.

    ``off`` (P, R) is what it may be off by: what it was off by on stretches of unseen time, of R windows each, widened.
    """

    rule: Rule
    off: FloatArray
    method: str
    season: int
    error: float | None
    error_same_as_yesterday: float | None
    warnings: tuple[Warn, ...]

    def mean(self, origins: IntArray, horizon: int) -> FloatArray:
        """Return what is expected from each origin (P,), (P, H)."""
        return np.maximum(self.rule(origins, horizon), 0.0)

    def at(self, seen: FloatArray, horizon: int) -> Forecast:
        """Return the forecast of the next windows, after the first windows of the series, *seen*."""
        mean = self.mean(np.array([len(seen)]), horizon)[0]
        low, high, paths = _range(mean, self.off, seen)
        beside = self.error_same_as_yesterday
        return Forecast(mean, low, high, paths, self.method, self.season, self.error, beside, self.warnings)


def forecast(series: FloatArray, horizon: int, season: int, method: str = "auto") -> Forecast:
    """Foretell a series (W,) for *horizon* windows; *season* is how many windows make a day (0: unknown).

    Trend and smoothing are tried with a daily pattern and without, trends of short lines and long, damped more and
    less, or as what today differs from yesterday, which fades; ``auto`` tries all methods. The one of least error over
    the horizon is taken; the error that is stated is that at its end. Errors are of up to 60 origins in the second half
    of the series, each seeing the time before it only [Tashman2000]; parameters come from the time before the first of
    them. As the least of a few, the error of the method taken is a little kind.

    The range is that of these errors, widened for how few they are: see :func:`widening`.

    Gaps (NaN) repeat what was before. Only the last 20,000 windows are looked at, and smoothing is fitted twice: about
    half a second for 10,000 windows.
    """
    values = _filled(np.asarray(series, dtype=float)[-MOST_WINDOWS:])
    return forecaster(values, len(values), horizon, season, method).at(values, horizon)


def forecaster(series: FloatArray, known: int, horizon: int, season: int, method: str = "auto") -> Forecaster:
    """Choose a method as :func:`forecast` does, on the first *known* windows of a series (W,) without gaps.

    From later origins it foretells without being fitted again: what a policy that is replayed over W windows would
    have known.
    """
    first, reach = _unseen(known, horizon, season)
    last = known - reach
    origins = np.unique(np.linspace(first, last, MOST_ORIGINS).astype(np.int64)) if first <= last else np.zeros(0, int)
    candidates, warnings = _candidates(series, season, first, method)
    actual = series[origins[:, None] + np.arange(reach)]
    off = [actual - np.maximum(item.rule(origins, reach), 0.0) for item in candidates]
    error = [_error(item, actual) for item in off]
    asked = [k for k, item in enumerate(candidates) if method in ("auto", item.method)]
    best = min(asked, key=lambda k: (error[k] is None, error[k]))
    there = slice(-max(1, reach // LAST_PART), None)
    at_horizon = [_error(item[:, there], actual[:, there]) for item in off]
    beside = next((at_horizon[k] for k, item in enumerate(candidates) if item.method == NAIVE), None)
    chosen = candidates[best]
    wider = off[best] * widening((known - first) / reach)
    return Forecaster(chosen.rule, wider, chosen.method, chosen.season, at_horizon[best], beside, warnings)


def _candidates(values: FloatArray, season: int, first: int, method: str) -> tuple[list[_Candidate], tuple[Warn, ...]]:
    """Return what can be used of what is asked for, simplest first; always 'same as yesterday', if it can be.

    All of it can foretell from window *first* on.
    """
    candidates: list[_Candidate] = []
    warnings: tuple[Warn, ...] = ()
    if 0 < season <= first:
        candidates.append(_Candidate(NAIVE, season, partial(seasonal_naive, values, season)))
    elif method == NAIVE:
        raise FtplanError(
            "--forecast seasonal-naive needs statistics of more than a day and twice --horizon, in windows shorter "
            "than a day; use --forecast trend"
        )
    if method in ("auto", "trend"):
        if 0 < season < first:
            faded = partial(day_ahead, values, season=season, window_s=DAY_S / season)
            candidates.append(_Candidate("trend", season, faded))
        tried = product((0, season) if 0 < season < first else (0,), LINES, DAMPINGS)
        candidates += [_Candidate("trend", item[0], partial(trend, values, *item)) for item in tried]
    if method == "smoothing" and first < LEAST_WINDOWS:
        raise FtplanError(f"--forecast smoothing needs at least {2 * LEAST_WINDOWS} windows; use --forecast trend")
    if method in ("auto", "smoothing") and first >= LEAST_WINDOWS:
        if installed():
            seasons = (0, season) if 0 < 2 * season <= first else (0,)
            candidates += [_Candidate("smoothing", daily, smoothed(values, daily, first).ahead) for daily in seasons]
        elif method == "smoothing":
            raise MissingExtraError("statsmodels", "forecast", "--forecast smoothing")
        else:
            message = "demand is foretold without exponential smoothing: pip install 'ftplan[forecast]'"
            warnings = (Warn("SMOOTHING_NOT_INSTALLED", message),)
    return candidates, warnings


def _unseen(windows: int, horizon: int, season: int) -> tuple[int, int]:
    """Return the first origin, and how many windows ahead methods are judged: at most a quarter of the series.

    The first origin is in the middle, later where methods need a day or two before it and time is left after it.
    """
    reach = min(horizon, max(windows // 4, 1))
    first = max(windows // 2, 1)
    for enough in (season + 1, 2 * season):
        if enough <= windows - 2 * reach:
            first = max(first, enough)
    return first, reach


def widening(stretches: float) -> float:
    """Return by how much a range of errors on so many stretches that do not overlap has to be wider to hold the next.

    As the quantile of a Student distribution over the normal one, for the mean and the spread of few are not known well
    ([Hyndman2021], 5.5), times :data:`CHOSEN`.
    """
    from scipy.special import ndtri, stdtrit

    few = max(stretches, 2.0)
    return float(CHOSEN * stdtrit(few - 1.0, HIGH) / ndtri(HIGH) * np.sqrt(1.0 + 1.0 / few))


def _error(off: FloatArray, actual: FloatArray) -> float | None:
    """Return the mean absolute error as a share of the mean."""
    if not off.size:
        return None
    error, size = float(np.abs(off).mean()), float(np.abs(actual).mean())
    return error / size if size > 0.0 else 0.0 if error == 0.0 else None


def _range(mean: FloatArray, off: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return low, high and the paths.

    Windows beyond those that were judged are off by as much as the last of these. Without any unseen time the least and
    largest value so far are the range.
    """
    if off.size:
        last = np.minimum(np.arange(len(mean)), off.shape[1] - 1)
        paths = np.maximum(mean + off[:, last], 0.0)
    else:
        paths = np.stack([np.full(len(mean), values.min()), mean, np.full(len(mean), values.max())])
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
