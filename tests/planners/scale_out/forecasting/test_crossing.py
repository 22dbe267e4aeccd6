"""When a score is reached, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.planners.scale_out.forecasting.forecast import Crossing, Forecast, crossing, forecast

#: One task in one window, when 100 records came in.
INPUTS = np.array([[[40.0, 90.0, 10.0]]])
DEMAND = np.array([100.0])


def cpu(inputs: np.ndarray) -> np.ndarray:
    return inputs[..., 0]


def memory(inputs: np.ndarray) -> np.ndarray:
    return inputs[..., 1]


def larger(inputs: np.ndarray) -> np.ndarray:
    return np.maximum(inputs[..., 0], inputs[..., 2])


def course(*paths: list[float]) -> Forecast:
    rows = np.array(paths)
    return Forecast(rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0), rows, "trend", 0, None, None)


def test_each_path_crosses_when_its_demand_is_large_enough() -> None:
    """At 100 records cpu is 40 %, so that 70 % is crossed above 175; windows of a minute."""
    ahead = course([180.0, 100.0, 100.0, 100.0], [100.0, 150.0, 176.0, 176.0], [100.0, 170.0, 170.0, 180.0])
    assert crossing(INPUTS, DEMAND, ahead, cpu, 70.0, 60.0, 90.0) == Crossing((60.0, 180.0, 240.0), 0.0)
    late = course(*[[100.0, 100.0, 176.0]] * 3)
    assert crossing(INPUTS, DEMAND, late, cpu, 70.0, 60.0, 90.0) == Crossing((180.0, 180.0, 180.0), 90.0)


def test_paths_that_stay_below_are_not_within_the_horizon() -> None:
    ahead = course([180.0, 100.0], [100.0, 100.0], [100.0, 100.0])
    assert crossing(INPUTS, DEMAND, ahead, cpu, 70.0, 60.0, 30.0) == Crossing((60.0, None, None), 30.0)
    assert crossing(INPUTS, DEMAND, course([100.0, 170.0]), cpu, 70.0, 60.0, 30.0) == Crossing(None, None)


def test_memory_is_kept_and_inputs_end_at_100() -> None:
    ahead = course([1e9, 1e9])
    assert crossing(INPUTS, DEMAND, ahead, memory, 95.0, 60.0, 0.0) == Crossing(None, None)
    assert crossing(INPUTS, DEMAND, ahead, larger, 100.0, 60.0, 0.0) == Crossing(None, None)
    assert crossing(INPUTS, DEMAND, ahead, larger, 99.0, 60.0, 0.0) == Crossing((60.0, 60.0, 60.0), 60.0)


def test_what_is_above_it_already_is_there_at_once() -> None:
    assert crossing(INPUTS, DEMAND, course([1.0]), memory, 70.0, 60.0, 30.0) == Crossing((0.0, 0.0, 0.0), 0.0)


@pytest.mark.parametrize("demand", [0.0, float("nan")])
def test_without_demand_nothing_is_scaled(demand: float) -> None:
    assert crossing(INPUTS, np.array([demand]), course([1e9]), cpu, 70.0, 60.0, 30.0) == Crossing(None, None)


def test_a_quiet_last_window_says_nothing_of_the_next_day() -> None:
    """By the hour, nothing at night; by day 100 records take 40 % of the busier task, the second of two."""
    day = np.array([[10.0, 0.0, 0.0], [40.0, 0.0, 0.0]])
    inputs = np.array([day] * 20 + [0.0 * day] * 4)
    demand = np.array([100.0] * 20 + [0.0] * 4)
    told = crossing(inputs, demand, course([0.0, 0.0, 100.0, 176.0]), cpu, 70.0, 3600.0, 600.0)
    assert told == Crossing((14400.0, 14400.0, 14400.0), 13800.0)
    assert crossing(inputs, demand, course([0.0, 0.0, 100.0, 174.0]), cpu, 70.0, 3600.0, 600.0).promote_in_s is None


def test_unknown_inputs_stay_unknown() -> None:
    """The mean of the known ones stands for them in scores; a task of which nothing is known has none."""
    inputs = np.array([[[np.nan, np.nan, 40.0], [np.nan] * 3]])

    def known(inputs: np.ndarray) -> np.ndarray:
        count = np.isfinite(inputs).sum(axis=-1)
        return np.where(count > 0, np.nansum(inputs, axis=-1) / np.maximum(count, 1), np.nan)

    assert crossing(inputs, DEMAND, course([174.0, 176.0]), known, 70.0, 60.0, 0.0).promote_in_s == (120.0,) * 3


def test_a_ramp_crosses_where_it_does() -> None:
    """Demand grows by 1 of 100 a window: 175 is crossed 15 windows after 160; the damped line comes later."""
    series = np.linspace(60.0, 160.0, 101)
    inputs = np.zeros((101, 1, 3))
    inputs[:, 0, 0] = 0.4 * series
    told = crossing(inputs, series, forecast(series, 40, 0, "smoothing"), cpu, 70.0, 60.0, 300.0)
    assert told.promote_in_s is not None
    assert told.promote_in_s[0] == pytest.approx(16 * 60.0, abs=120.0)
    assert told.prepare_in_s == told.promote_in_s[0] - 300.0
