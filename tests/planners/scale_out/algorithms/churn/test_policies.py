"""Policies replayed: causal, within the limits, and never better than what knows all demand."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import Budget
from ftplan.planners.scale_out.algorithms.churn.choice import (
    PlannedPolicy,
    PolicyReplay,
    ThresholdPolicy,
    best_policies,
    grid,
    rank,
    replayed,
)
from ftplan.planners.scale_out.algorithms.churn.optimum import offline_optimum
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnLimits, DemandTrace, account
from ftplan.planners.scale_out.forecasting.methods import day_ahead
from tests.effort import examples
from tests.planners.scale_out.algorithms.churn.cases import day_and_night, limits, traces

LONG = Budget(math.inf)
POLICIES = (
    ThresholdPolicy(0.9, 0.7, 0.4, 2, 0, 0),
    ThresholdPolicy(0.9, 0.7, 0.4, 1, 3, 1),
    PlannedPolicy(1.1, 50.0, 3, ThresholdPolicy(0.9, 0.7, 0.4, 2, 0, 0)),
)


@settings(max_examples=examples(40), deadline=None)
@given(trace=traces(), asked=limits, policy=st.sampled_from(POLICIES), cut=st.integers(1, 5))
def test_what_comes_later_changes_nothing(
    trace: DemandTrace, asked: ChurnLimits, policy: ThresholdPolicy | PlannedPolicy, cut: int
) -> None:
    seen = min(cut, len(trace.demand))
    later = replace(trace, demand=np.concatenate([trace.demand[:seen], 11.0 - trace.demand[seen:]]))
    told = partial(day_ahead, season=trace.day_windows, window_s=900.0)
    schedule, other = (replayed(item, asked, policy, told) for item in (trace, later))
    # the window after the last that both have seen is decided by the same
    assert schedule[: seen + 1].tolist() == other[: seen + 1].tolist()
    entry = account(trace, schedule)
    assert entry.rescales_per_day <= asked.rescales_per_day
    assert entry.late >= entry.overloaded
    best = offline_optimum(trace, asked)
    if entry.keeps(asked, trace):
        assert best.account is not None
        assert best.account.task_s <= entry.task_s


def test_thresholds_by_hand() -> None:
    # a task takes 10; above 0.9 up to 0.7; below 0.4 for two windows down
    demand = np.array([5.0, 9.5, 20.0, 3.0, 3.0, 4.0, 4.0, 4.0])
    trace = DemandTrace(demand, 10.0 * np.arange(1.0, 6.0), np.zeros(8, int), 60.0, 0.0, 1)
    policy = ThresholdPolicy(0.9, 0.7, 0.4, 2, 0, 0)
    replay = PolicyReplay(trace, ChurnLimits(3, 1.0), None)
    assert replay.schedule(policy).tolist() == [1, 1, 2, 3, 3, 1, 1, 1]
    assert replay.schedule(policy._replace(reserve=1)).tolist() == [1, 1, 2, 3, 3, 3, 3, 3]
    assert PolicyReplay(trace, ChurnLimits(1, 1.0), None).schedule(policy).tolist() == [1, 1, 2, 2, 2, 2, 2, 2]
    # a forecast that knows adds tasks in time
    knowing = PolicyReplay(trace, ChurnLimits(3, 1.0), lambda series, origins, horizon: series[origins][:, None])
    assert knowing.schedule(policy._replace(horizon=1)).tolist()[:3] == [1, 2, 3]


def test_what_waits_is_counted() -> None:
    trace = DemandTrace(np.array([15.0, 8.0, 8.0, 8.0]), np.array([10.0]), np.zeros(4, int), 60.0, 0.0, 1)
    # 5 are left over, and 2 a window are worked off
    assert account(trace, np.ones(4, int)) == (240.0, 1, 0, 0, 3)


def test_the_best_of_a_grid_is_chosen() -> None:
    trace, asked = day_and_night(96 * 3), ChurnLimits(4, 0.05)
    told = partial(day_ahead, season=96, window_s=900.0)
    best = best_policies(trace, asked, told, LONG)
    assert set(best) == {"thresholds", "foretold", "planned"}
    optimum = offline_optimum(trace, asked)
    for answer in best.values():
        assert answer.account == account(trace, answer.schedule)
        assert replayed(trace, asked, answer.policy, told).tolist() == answer.schedule.tolist()
        assert answer.keeps
        assert answer.account.task_s >= optimum.bound
    replay = PolicyReplay(trace, asked, None)
    tried = [account(trace, replay.schedule(item)) for item in grid(trace, asked) if item.horizon == 0]
    assert best["thresholds"].account.task_s == min(
        entry.task_s for entry in tried if entry.keeps(asked, trace, late=True)
    )
    assert set(best_policies(trace, asked, None, LONG)) == {"thresholds"}
    assert "planned" not in best_policies(trace, asked, told, LONG, most_states=1.0)
    with pytest.raises(ValueError, match="need a forecast"):
        replayed(trace, asked, best["planned"].policy, None)


def test_of_none_that_keeps_the_limits_the_least_late_is_best() -> None:
    trace = DemandTrace(np.full(6, 30.0), np.array([10.0, 20.0]), np.zeros(6, int), 60.0, 0.0, 1)
    answers = best_policies(trace, ChurnLimits(1, 0.0), None, LONG)
    assert not answers["thresholds"].keeps
    assert rank(answers["thresholds"])[1] == 6
