"""Forecasts: what each method makes of known series, and errors of time that no method has seen."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError, MissingExtraError
from ftplan.planners.scale_out.forecasting import forecast as room
from ftplan.planners.scale_out.forecasting.forecast import Forecast, forecast, forecaster
from ftplan.planners.scale_out.forecasting.methods import (
    DAMPINGS,
    LINES,
    day_ahead,
    seasonal_naive,
    smoothed,
    trend,
    windows_a_day,
)

DAY = 24


def daily(days: int, seed: int = 0, noise: float = 5.0) -> np.ndarray:
    hours = np.arange(days * DAY)
    return 100.0 + 40.0 * np.sin(2 * np.pi * hours / DAY) + np.random.default_rng(seed).normal(0.0, noise, len(hours))


def test_yesterday_is_the_same_window_of_the_day() -> None:
    series = np.arange(60.0)
    told = seasonal_naive(series, DAY, np.array([24, 50]), 30)
    assert told[0].tolist() == [*range(24), *range(6)]
    assert told[1].tolist() == [*range(26, 50), *range(26, 32)]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 40))
def test_the_slope_is_that_of_scipy(seed: int, windows: int) -> None:
    from scipy.stats import theilslopes

    series = np.random.default_rng(seed).normal(size=windows).cumsum()
    told = trend(series, 0, 12, 0.9, np.array([windows]), 3)[0]
    slope = theilslopes(series[-12:]).slope if windows > 2 else 0.0
    level = float(np.median(series[-3:]))
    assert told == pytest.approx([level + slope * x for x in (0.9, 0.9 + 0.81, 0.9 + 0.81 + 0.729)])


def test_outliers_do_not_pull_a_line() -> None:
    series = 2.0 * np.arange(24)
    series[[12, 17]] = 1e6
    assert trend(series, 0, 12, 0.9, np.array([24]), 12)[0, 0] == pytest.approx(44.0 + 0.9 * 2.0)


def test_a_line_goes_through_what_today_differs_from_yesterday() -> None:
    series = np.tile(daily(1, noise=0.0), 3)
    series[2 * DAY :] += 7.0
    later = series[2 * DAY + 18 - DAY : 2 * DAY + 18 - DAY + 4]
    assert trend(series, DAY, 12, 0.9, np.array([2 * DAY + 18]), 4)[0] == pytest.approx(later + 7.0)


@pytest.mark.parametrize("season", [0, DAY])
def test_smoothing_foretells_what_statsmodels_does_from_each_origin(season: int) -> None:
    """One pass over all windows says of each origin what a model that ends there says."""
    from statsmodels.tsa.holtwinters import ExponentialSmoothing

    series = daily(8)
    kind = {"seasonal": "add", "seasonal_periods": season} if season else {}
    kind |= {"trend": "add", "damped_trend": True, "initialization_method": "heuristic"}
    fitted = ExponentialSmoothing(series[: 4 * DAY], **kind).fit(use_brute=False).params
    rates = {name: fitted[name] for name in ("smoothing_level", "smoothing_trend", "damping_trend")}
    rates |= {"smoothing_seasonal": fitted["smoothing_seasonal"]} if season else {}
    initial = {"initial_level": fitted["initial_level"], "initial_trend": fitted["initial_trend"]}
    initial |= {"initial_seasonal": fitted["initial_seasons"]} if season else {}
    origins = np.array([4 * DAY, 5 * DAY + 7, len(series)])
    told = smoothed(series, season, 4 * DAY).ahead(origins, 10)
    for origin, row in zip(origins.tolist(), told, strict=True):
        model = ExponentialSmoothing(series[:origin], **{**kind, "initialization_method": "known"}, **initial)
        assert row == pytest.approx(model.fit(optimized=False, **rates).forecast(10))


@pytest.mark.parametrize("method", ["trend", "smoothing", "seasonal-naive"])
def test_no_method_sees_what_comes_after_an_origin(method: str) -> None:
    series, origins = daily(8), np.array([100, 120])
    other = series.copy()
    other[120:] = 1e6
    one, two = (room._candidates(values, DAY, 96, method)[0] for values in (series, other))
    assert {item.method for item in one} == {method, "seasonal-naive"}
    for item, changed in zip(one, two, strict=True):
        assert item.rule(origins, 5).tolist() == changed.rule(origins, 5).tolist()


def test_the_error_is_that_of_a_slow_replay() -> None:
    series = daily(6)
    told = forecast(series, 6, DAY, "trend")
    lines = [partial(trend, season=s, length=n, damping=d) for s, n, d in product((0, DAY), LINES, DAMPINGS)]
    slow = []
    for rule in (*lines, partial(day_ahead, season=DAY, window_s=3600.0)):
        errors, sizes = [], []
        for origin in sorted({int(x) for x in np.linspace(72, len(series) - 6, 60)}):
            ahead = rule(series[:origin], origins=np.array([origin]), horizon=6)[0]
            errors.append(np.abs(ahead - series[origin : origin + 6]))
            sizes.append(series[origin : origin + 6])
        at_horizon = np.mean([error[-1] for error in errors]) / np.mean([size[-1] for size in sizes])
        slow.append((np.mean(errors) / np.mean(sizes), at_horizon))
    assert told.error == pytest.approx(min(slow)[1])


def test_auto_takes_the_least_error_and_says_that_of_yesterday() -> None:
    series = daily(10) + np.linspace(0.0, 300.0, 10 * DAY)
    best = forecast(series, 6, DAY)
    single = {name: forecast(series, 6, DAY, name) for name in ("seasonal-naive", "trend", "smoothing")}
    assert best.method == min(single, key=lambda name: single[name].error or 0.0) != "seasonal-naive"
    assert best.error == single[best.method].error
    assert best.season == DAY
    assert {item.error_same_as_yesterday for item in single.values()} == {single["seasonal-naive"].error}
    assert best.error is not None
    assert best.error_same_as_yesterday is not None
    assert best.error < best.error_same_as_yesterday


def test_a_ramp_is_damped_less() -> None:
    """In 60 windows a slope of 1 that is damped by a tenth gains 9, by a fiftieth 34.4, from the middle of three."""
    ramp = forecast(np.linspace(100.0, 400.0, 301), 60, 0, "trend")
    assert ramp.mean[-1] == pytest.approx(399.0 + 34.4, abs=0.1)


def test_a_pattern_that_does_not_help_is_left_out() -> None:
    walk = 1000.0 + np.random.default_rng(1).normal(size=240).cumsum()
    assert forecast(walk, 3, DAY).season == 0


@pytest.mark.parametrize(("windows", "horizon"), [(400, 24), (120, 20), (60, 10)])
def test_the_range_holds_nine_of_ten_windows_that_no_method_has_seen(windows: int, horizon: int) -> None:
    """Noise with long tails on a level that wanders; of a short trace too, as far ahead as it supports."""
    rng = np.random.default_rng(0)
    series = 1000.0 + 3.0 * rng.normal(size=3000).cumsum() + 5.0 * rng.standard_t(3.0, 3000)
    inside = []
    for end in range(1000, 2960, 40):
        told, later = forecast(series[end - windows : end], horizon, 0, "trend"), series[end : end + horizon]
        inside.append(((later >= told.low) & (later <= told.high)).mean())
    assert 0.86 <= np.mean(inside) <= 0.98


def test_few_stretches_make_a_wide_range() -> None:
    """Of three a Student's quantile with two degrees of freedom, 2.92 over 1.645, and the spread of their mean."""
    assert room.widening(3.0) == pytest.approx(1.15 * 2.92 / 1.645 * (4.0 / 3.0) ** 0.5, rel=1e-3)
    assert room.widening(1.0) == room.widening(2.0) > room.widening(3.0) > room.widening(100.0) > 1.15
    assert room.widening(1e9) == pytest.approx(1.15, rel=1e-6)


def test_the_error_is_that_of_the_horizon_asked() -> None:
    """Of a walk it grows with the root of the time ahead."""
    walk = 1e4 + np.random.default_rng(5).normal(0.0, 10.0, 4000).cumsum()
    error = {horizon: forecast(walk, horizon, 0, "trend").error or 0.0 for horizon in (1, 16, 256)}
    assert 2.0 < error[16] / error[1] < 8.0
    assert 2.0 < error[256] / error[16] < 8.0


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1e6), st.just(float("nan"))), min_size=1, max_size=80),
    st.integers(1, 40),
    st.sampled_from([0, 2, 12]),
    st.floats(0.01, 100.0),
)
def test_any_series_is_foretold(values: list[float], horizon: int, season: int, factor: float) -> None:
    series = np.array(values)
    if np.isnan(series).all():
        with pytest.raises(ValueError, match="without values"):
            forecast(series, horizon, season)
        return
    told = forecast(series, horizon, season, "trend")
    for part in (told.mean, told.low, told.high):
        assert part.shape == (horizon,)
        assert np.isfinite(part).all()
    assert (told.low >= 0.0).all()
    assert (told.low <= told.mean).all()
    assert (told.mean <= told.high).all()
    assert told.paths.shape[1] == horizon
    scaled = forecast(series * factor, horizon, season, "trend")
    assert scaled.mean == pytest.approx(told.mean * factor, rel=1e-6, abs=1e-6)
    assert _equal(told, forecast(series, horizon, season, "trend"))


def _equal(one: Forecast, other: Forecast) -> bool:
    arrays = all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True))
    return arrays and one[4:] == other[4:]


def test_a_single_window_goes_on() -> None:
    told = forecast(np.array([5.0]), 3, DAY)
    assert told.mean.tolist() == told.low.tolist() == told.high.tolist() == [5.0] * 3
    assert told.error is None
    assert told.error_same_as_yesterday is None


def test_what_statistics_are_too_short_for() -> None:
    with pytest.raises(FtplanError, match=r"seasonal-naive needs .* more than a day .* use --forecast trend"):
        forecast(daily(1), 3, DAY, "seasonal-naive")
    with pytest.raises(FtplanError, match="smoothing needs at least 48 windows; use --forecast trend"):
        forecast(daily(1), 3, DAY, "smoothing")


def test_without_statsmodels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "installed", lambda: False)
    told = forecast(daily(6), 6, DAY)
    assert [item.code for item in told.warnings] == ["SMOOTHING_NOT_INSTALLED"]
    assert told.method != "smoothing"
    with pytest.raises(MissingExtraError, match=r"--forecast smoothing needs statsmodels.*ftplan\[forecast\]"):
        forecast(daily(6), 6, DAY, "smoothing")


@pytest.mark.parametrize("method", ["auto", "trend", "smoothing", "seasonal-naive"])
def test_a_forecaster_knows_what_a_forecast_at_its_end_knew(method: str) -> None:
    series = daily(10)
    single = forecast(series[: 8 * DAY], 6, DAY, method)
    later = forecaster(series, 8 * DAY, 6, DAY, method)
    assert (later.method, later.season, later.error) == (single.method, single.season, single.error)
    assert later.mean(np.array([8 * DAY, 9 * DAY]), 6)[0] == pytest.approx(single.mean)


def test_windows_of_a_day() -> None:
    assert [windows_a_day(seconds) for seconds in (10.0, 300.0, 3600.0, 43200.0, 43201.0, 86400.0)] == [
        8640,
        288,
        24,
        2,
        0,
        0,
    ]
