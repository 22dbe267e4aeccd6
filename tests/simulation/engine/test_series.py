"""Series against sums and integrals over all events."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy import Environment

from ftplan.simulation.engine.series import LevelSeries, SumSeries

STEPS = st.lists(st.tuples(st.integers(0, 25), st.integers(-5, 5), st.integers(0, 1)), max_size=30)


@given(STEPS, st.sampled_from([0.1, 0.5, 1.0]), st.sampled_from([0.0, 0.3]))
def test_series_are_sums_and_means_by_bin(steps: list[tuple[int, int, int]], bin_s: float, start_s: float) -> None:
    """Events lie on a grid of a tenth of a second, often on the edges of bins, where rounding bites."""
    env = Environment(start_s)
    sums, levels = SumSeries(env, bin_s, 2), LevelSeries(env, bin_s, 2)
    steps.sort()
    for tick, amount, column in steps:
        at_s = start_s + tick * 0.1
        if at_s > env.now:
            env.run(until=at_s)
        sums.add(amount, column)
        levels.change(amount, column)
    end_s = start_s + 3.05
    env.run(until=end_s)
    bins = int(3.05 / bin_s)
    each = round(bin_s * 10)
    by_tick = np.zeros((bins * each + each, 2))
    for tick, amount, column in steps:
        by_tick[tick, column] += amount
    by_tick = by_tick[: bins * each]
    level = by_tick.cumsum(axis=0)
    assert sums.sums() == pytest.approx(by_tick.reshape(bins, each, 2).sum(axis=1))
    assert levels.ends() == pytest.approx(level.reshape(bins, each, 2)[:, -1])
    assert levels.means() == pytest.approx(level.reshape(bins, each, 2).mean(axis=1))


def test_a_level_that_is_set_holds_until_the_next() -> None:
    env = Environment()
    levels = LevelSeries(env, 2.0, level=1.0)
    env.run(until=1.0)
    levels.set(5.0)
    env.run(until=7.0)
    assert levels.ends().tolist() == [[5.0], [5.0], [5.0]]
    assert levels.means().tolist() == [[3.0], [5.0], [5.0]]
    assert SumSeries(env, 1.0).sums().shape == (0, 1)
