"""Figures over runs, against scipy's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ftplan.simulation.answer import figure, mean_interval
from ftplan.simulation.recovery.outcome import RecoverySummary
from ftplan.simulation.recovery.simulate import differences

SUMMARY = RecoverySummary(10.0, 2.0, None, (5.0,), (None,), 7.0, 8.0, 9.0, 0.0, 3.0, 4.0)


def test_intervals_are_those_of_student() -> None:
    values = np.random.default_rng(3).gamma(2.0, size=25)
    mean, low, high = mean_interval(values)
    expected = stats.t.interval(0.95, len(values) - 1, loc=values.mean(), scale=stats.sem(values))
    assert (mean, low, high) == pytest.approx((values.mean(), *expected))
    assert mean_interval(values[:1]) == (values[0], None, None)


def test_a_figure_counts_the_runs_in_which_it_is_known() -> None:
    assert figure(np.array([np.nan, np.nan])) is None
    told = figure(np.array([1.0, np.nan, 3.0]))
    assert told is not None
    assert (told["mean"], told["p50"], told["runs"]) == (2.0, 2.0, 2)


def test_differences_are_taken_run_by_run() -> None:
    first = [replace(SUMMARY, priority_down_s=value) for value in (10.0, 100.0, 1000.0)]
    other = [replace(SUMMARY, priority_down_s=value) for value in (9.0, 99.0, 1000.0)]
    rows = {row["figure"]: row for row in differences(first, other)}
    assert "last_back_s" not in rows  # not known in any run
    row = rows["priority_down_s"]
    assert (row["less"], row["equal"], row["more"]) == (2, 1, 0)
    paired = stats.ttest_rel([9.0, 99.0, 1000.0], [10.0, 100.0, 1000.0]).confidence_interval(0.95)
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((-2 / 3, paired.low, paired.high))
