"""Yesterday, moved by what today differs from it."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.planners.scale_out.forecasting.methods import HALVED_S, day_ahead


def test_a_day_that_repeats_is_foretold() -> None:
    day = np.array([1.0, 4.0, 9.0, 5.0])
    told = day_ahead(np.tile(day, 3), np.array([4, 6, 9]), 4, season=4, window_s=3600.0)
    assert told.tolist() == [day.tolist(), [9.0, 5.0, 1.0, 4.0], [4.0, 9.0, 5.0, 1.0]]


def test_what_today_differs_fades() -> None:
    series = np.concatenate([np.full(10, 5.0), np.full(5, 9.0)])
    told = day_ahead(series, np.array([14]), 2, season=10, window_s=HALVED_S)
    assert told[0].tolist() == [5.0 + 4.0 / 2.0, 5.0 + 4.0 / 4.0]


def test_without_yesterday_the_level_goes_on() -> None:
    series = np.array([1.0, 2.0, 8.0, 3.0])
    assert day_ahead(series, np.array([3, 4]), 2, season=0, window_s=60.0).tolist() == [[2.0, 2.0], [3.0, 3.0]]
    assert day_ahead(series, np.array([1]), 1, season=10, window_s=60.0).tolist() == [[1.0]]


@pytest.mark.parametrize("season", [0, 5])
def test_what_comes_later_is_not_seen(season: int) -> None:
    rng = np.random.default_rng(1)
    series = rng.uniform(0.0, 9.0, 30)
    other = np.concatenate([series[:17], rng.uniform(0.0, 9.0, 13)])
    told = [day_ahead(item, np.arange(1, 18), 7, season=season, window_s=600.0) for item in (series, other)]
    assert (told[0] == told[1]).all()
    assert (told[0] >= 0.0).all()
