"""The offline optimum beside every schedule that there is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from ftplan.planners.scale_out.algorithms.churn.optimum import offline_optimum
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnLimits, DemandTrace, account
from tests.effort import examples
from tests.planners.scale_out.algorithms.churn.cases import day_and_night, limits, schedules, traces


@settings(max_examples=examples(60), deadline=None)
@given(trace=traces(), asked=limits)
def test_no_schedule_is_cheaper(trace: DemandTrace, asked: ChurnLimits) -> None:
    every = [entry for _, entry in schedules(trace)]
    rescaled = [entry for entry in every if entry.rescales_per_day <= asked.rescales_per_day]
    answer = offline_optimum(trace, asked)
    assert answer.proven
    assert answer.least_overloaded == min(entry.overloaded for entry in rescaled)
    least = min((entry.task_s for entry in every if entry.keeps(asked, trace)), default=math.inf)
    assert answer.bound == pytest.approx(least)
    assert (answer.account is None) == (least == math.inf)
    if answer.schedule is not None and answer.account is not None:
        assert answer.account == account(trace, answer.schedule)
        assert answer.account.keeps(asked, trace)
        assert answer.account.task_s == pytest.approx(least)


@settings(max_examples=examples(30), deadline=None)
@given(trace=traces(), asked=limits)
def test_prices_alone_give_a_bound(trace: DemandTrace, asked: ChurnLimits) -> None:
    exact, priced = offline_optimum(trace, asked), offline_optimum(trace, asked, most_states=0.0)
    assert priced.bound <= exact.bound * (1.0 + 1e-9)
    assert (priced.account is None) == (exact.account is None)
    if priced.account is not None:
        assert priced.account.keeps(asked, trace)


def test_more_rescales_or_overloads_are_never_worse() -> None:
    trace = day_and_night()
    values = np.array(
        [
            [offline_optimum(trace, ChurnLimits(n, share)).bound for share in (0.0, 0.01, 0.05, 0.2)]
            for n in (0, 1, 2, 3, 8)
        ]
    )
    assert np.isinf(values[0, :2]).all()
    lower, upper = np.where(np.isinf(values), 1e18, values), values
    assert (lower[1:] <= lower[:-1]).all()
    assert (lower[:, 1:] <= lower[:, :-1]).all()
    assert np.isfinite(upper[1:]).all()


def test_by_hand() -> None:
    # one task takes 10; two rescales of 30 s in windows of 60 s: up for the third window, down after the fourth
    trace = DemandTrace(np.array([8.0, 8.0, 9.0, 19.0, 5.0]), np.array([10.0, 20.0]), np.zeros(5, int), 60.0, 30.0, 1)
    free = offline_optimum(trace, ChurnLimits(2, 0.0))
    assert free.schedule is not None
    # at half a window two tasks take 10, which is enough for 9; back to one task takes 5 in the last window
    assert free.schedule.tolist() == [1, 1, 2, 2, 1]
    assert free.account == (7 * 60.0 + 30.0, 0, 2, 2, 0)
    assert offline_optimum(trace, ChurnLimits(1, 0.0)).bound == 8 * 60.0
    assert offline_optimum(trace, ChurnLimits(0, 0.2)).bound == 5 * 60.0
    assert offline_optimum(trace, ChurnLimits(0, 0.0)).least_overloaded == 1


def test_a_rescale_begins_after_the_last() -> None:
    trace = DemandTrace(np.ones(4), np.array([1.0, 2.0, 3.0]), np.zeros(4, int), 10.0, 15.0, 1)
    with pytest.raises(ValueError, match="before the last one is over"):
        account(trace, np.array([2, 3, 3, 3]))
    assert account(trace, np.array([2, 2, 1, 1])).overloaded == 3  # half of each second window is lost
