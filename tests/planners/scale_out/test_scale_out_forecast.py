"""Forecasts and the alarming threshold in plans: what is foretold of a ramp, and what is said without statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ftplan
from ftplan.errors import MissingExtraError
from ftplan.planners.scale_out.forecasting import forecast
from tests.planners.scale_out.cases import CLUSTER, TOPOLOGY, WINDOW_S, planned, statistics


def until(windows: int) -> ftplan.Problem:
    """Return the job when so many windows of its statistics had passed."""
    stats = statistics()
    end = pd.Timestamp(stats["manifest"]["start"]) + pd.Timedelta(seconds=windows * WINDOW_S)
    stats["manifest"] |= {"windows": windows, "end": str(end)}
    for table in ("tasks", "key_groups"):
        stats[table] = stats[table][stats[table]["window_start"] < end]
    return ftplan.load(topology=TOPOLOGY, cluster=CLUSTER, stats=stats)


def test_a_horizon_beyond_what_the_statistics_support_is_cut() -> None:
    """A sixth of 40 minutes; what is shorter stays, each with an error of its own."""
    plans = {horizon: planned(until(40), forecast="trend", horizon_s=horizon) for horizon in (120.0, 3600.0, 86400.0)}
    told = {horizon: plan.summary["forecast"][-1] for horizon, plan in plans.items()}
    assert [item["horizon_s"] for item in told.values()] == [120.0, 360.0, 360.0]
    assert told[120.0]["error"] != told[3600.0]["error"] == told[86400.0]["error"]
    said = [[w.message for w in plan.warnings if w.code == "HORIZON_CAPPED"] for plan in plans.values()]
    assert [len(messages) for messages in said] == [0, 1, 1]
    assert said[1][0].startswith("demand is forecast 360 s ahead instead, --horizon is 3600 s: ")
    short = planned(until(5), forecast="trend")
    assert short.summary["forecast"] == []
    assert [w.message[:23] for w in short.warnings if w.code == "HORIZON_CAPPED"] == ["demand is not forecast,"]


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_ramp_is_foretold_before_it_is_a_bottleneck(before: int) -> None:
    """The statistics end so many windows before that of the crossing, while the load grows: it lies in the range."""
    (scores,) = (item["scores"] for item in planned(until(40)).summary["scores"] if item["operator"] == "count")
    now = int(np.argmax(np.array(scores) > 70.0)) + 1 - before
    plan = planned(until(now), forecast="trend")
    (told,) = (item for item in plan.summary["forecast"] if item["operator"] == "count")
    low, median, high = told["promote_in_s"]
    assert low <= before * WINDOW_S <= (high or np.inf)
    assert median is None or low <= median
    assert told["horizon_s"] == now // 6 * WINDOW_S
    assert told["prepare_in_s"] == pytest.approx(low - 30.0, abs=1.0)  # it starts, and the state is copied
    assert told["prepare_in_s"] < low - 30.0
    assert told["method"] == "trend"
    assert 0.0 < told["error"] < 0.2
    assert told["error_same_as_yesterday"] is None


def test_the_alarming_threshold_is_ready_for_the_crossing_that_was() -> None:
    plan = planned(until(40), forecast="none", alarming="auto", setup_s=170.0)
    assert plan.summary["thresholds"]["alarming"] == pytest.approx(
        next(item["alarming"] for item in reversed(plan.summary["alarming"]) if item["ready"] >= 0.95)
    )
    assert [item["ready"] for item in plan.summary["alarming"]] == sorted(
        (item["ready"] for item in plan.summary["alarming"]), reverse=True
    )


def test_statsmodels_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "installed", lambda: False)
    monkeypatch.setattr(forecast, "LEAST_WINDOWS", 12)
    plan = planned(until(30), forecast="auto")
    assert [item.code for item in plan.warnings].count("SMOOTHING_NOT_INSTALLED") == 1
    with pytest.raises(MissingExtraError, match=r"--forecast smoothing needs statsmodels.*ftplan\[forecast\]"):
        planned(until(30), forecast="smoothing")
