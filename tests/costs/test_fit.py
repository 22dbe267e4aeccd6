"""Parameters come back from recoveries that they made, and what recoveries cannot tell is left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.costs import selection
from ftplan.costs.fit import Values
from ftplan.costs.fitted_costs import FittedCosts, fitted_costs
from ftplan.costs.selection import MOST_GROUPS
from ftplan.costs.unknowns import Sample, Unknowns, groups
from ftplan.errors import FtplanError
from ftplan.model.recovery_costs import MeasuredRecovery
from tests.costs.cases import INTERVALS, KILLS, RATES, TRUE, recoveries, seconds


def values(fitted: FittedCosts) -> dict[str, float]:
    return {name: item.value for name, item in fitted.costs.estimates.items()}


def codes(fitted: FittedCosts) -> set[str]:
    return {item.code for item in fitted.warnings}


@settings(max_examples=6, deadline=None)
@given(st.floats(1.0, 600.0), st.floats(0.05, 0.95), st.floats(1.05, 4.0), st.floats(1e-3, 1e6))
def test_known_parameters_come_back(restart_s: float, share: float, headroom: float, scale: float) -> None:
    true = {"restart_s": restart_s, "replay_share": share, "capacity_records_s": 850.0 * headroom * scale}
    fitted = fitted_costs(recoveries(true, rates=[rate * scale for rate in RATES]), {}, draws=0)
    assert values(fitted) == pytest.approx(true, rel=1e-3)
    assert fitted.accuracy is not None
    assert fitted.accuracy.median < 1e-4
    assert fitted.accuracy.by == "rate"
    assert fitted.accuracy.held_out is not None
    assert fitted.accuracy.held_out < 1e-3


@settings(max_examples=4, deadline=None)
@given(st.floats(5.0, 2000.0), st.floats(10.0, 200.0))
def test_bandwidth_comes_back_where_sizes_differ(bandwidth: float, detection: float) -> None:
    true = {**TRUE, "detection_s": detection, "bandwidth_mb_s": bandwidth}
    rows = [
        one
        for i, size in enumerate((1e9, 5e9, 2e10))
        for one in recoveries(true, rates=RATES[i : i + 2], state_bytes=size)
    ]
    fitted = fitted_costs(rows, {"detection_s": detection}, draws=0)
    assert values(fitted) == pytest.approx(true, rel=1e-3)
    assert fitted.costs.state == "remote"


def test_sizes_that_stand_for_something_else() -> None:
    """State that grew while the drill went on is no reason for it; where sizes do explain recoveries they are one."""
    rows = [
        MeasuredRecovery(f"kill {i}", recovery, rate, interval, size, stopped_s=down, replayed_s=age)
        for i, (interval, rate, age, down, recovery, size) in enumerate(KILLS)
    ]
    fitted = fitted_costs(rows, {}, draws=0)
    assert set(values(fitted)) == {"restart_s", "replay_share", "capacity_records_s"}
    assert fitted.basis["replay_share"] == "median of 12 measured"
    assert "NOT_IDENTIFIED" in codes(fitted)
    assert 3.0 < values(fitted)["restart_s"] < 14.0
    large = [
        MeasuredRecovery("", recovery_s=size / 2**20 / 50.0, state_bytes=size) for size in (1e10, 2e10, 4e10, 8e10)
    ]
    assert values(fitted_costs(large, {}, draws=0))["bandwidth_mb_s"] == pytest.approx(50.0, rel=0.01)


def test_outliers_and_noise_hardly_pull() -> None:
    rows = recoveries(TRUE, noise=0.08, seed=1)
    for i in (2, 9):  # a second failure, say
        rows[i] = rows[i]._replace(recovery_s=3.0 * (rows[i].recovery_s or 0.0))
    fitted = fitted_costs(rows, {}, draws=0)
    assert values(fitted) == pytest.approx(TRUE, rel=0.3)
    assert fitted.accuracy is not None
    assert fitted.accuracy.median < 0.1


def test_one_rate_is_a_line_over_intervals() -> None:
    """With the capacity known, intercept and slope of the line tell the rest; numpy fits the line."""
    rows = recoveries(TRUE, rates=[600.0])
    slope, intercept = np.polyfit(INTERVALS, [row.recovery_s or 0.0 for row in rows], 1)
    fitted = fitted_costs(rows, {"capacity_records_s": 1000.0}, draws=0)
    assert values(fitted)["restart_s"] == pytest.approx(intercept * (1.0 - 0.6), rel=1e-4)
    assert values(fitted)["replay_share"] == pytest.approx(slope * (1.0 - 0.6) / 0.6, rel=1e-4)
    assert fitted.accuracy is not None
    assert fitted.accuracy.by == "interval"
    assert fitted.costs.rates == (600.0, 600.0)


def test_what_was_measured_by_itself_is_not_fitted() -> None:
    parts = [MeasuredRecovery(f"span {i}", restart_s=20.0 + i, transfer_s=2.0, state_bytes=2.0**27) for i in range(5)]
    fitted = fitted_costs([*recoveries(TRUE), *parts], {}, draws=20)
    assert values(fitted) == pytest.approx(
        {"detection_s": 38.0, "restart_s": 22.0, "bandwidth_mb_s": 64.0, **{k: TRUE[k] for k in list(TRUE)[1:]}},
        rel=1e-3,
    )
    assert fitted.basis["restart_s"] == "median of 5 measured"
    assert fitted.restores == 5
    assert fitted.used == 16
    item = fitted.costs.restart_s
    assert item is not None
    assert item.low is not None
    assert item.high is not None
    assert 20.0 <= item.low < item.value < item.high <= 24.0


def test_parts_alone() -> None:
    fitted = fitted_costs(
        [MeasuredRecovery("a", restart_s=3.0), MeasuredRecovery("b", restart_s=5.0, detection_s=10.0)], {}
    )
    assert values(fitted) == {"detection_s": 10.0, "restart_s": 4.0}
    assert fitted.accuracy is None
    assert {"ONLY_PARTS", "NO_INTERVAL", "STATE_ASSUMED"} <= codes(fitted)


def test_what_cannot_be_told_is_left_out_and_said() -> None:
    one_interval = fitted_costs(recoveries(TRUE, intervals=[30.0]), {}, draws=0)
    assert set(values(one_interval)) == {"restart_s", "capacity_records_s"}
    assert "REPLAY_NOT_IDENTIFIED" in codes(one_interval)
    assert one_interval.costs.intervals_s == (30.0, 30.0)
    fixed = fitted_costs(recoveries(TRUE, intervals=[30.0]), {"replay_share": 0.6}, draws=0)
    assert values(fixed) == pytest.approx(TRUE, rel=1e-3)
    assert fixed.basis["replay_share"] == "fixed"
    one_rate = fitted_costs(recoveries(TRUE, rates=[500.0]), {}, draws=0)
    assert set(values(one_rate)) == {"restart_s"}
    assert one_rate.accuracy is not None
    assert one_rate.accuracy.by == "interval"
    assert {"CAPACITY_NOT_IDENTIFIED", "REPLAY_NOT_IDENTIFIED"} <= codes(one_rate)
    single = fitted_costs(recoveries(TRUE, rates=[500.0], intervals=[30.0]), {}, draws=50)
    assert values(single)["restart_s"] == pytest.approx(seconds(TRUE, 500.0, 30.0))
    assert "NO_INTERVAL" in codes(single)
    two = fitted_costs(recoveries(TRUE, rates=[300.0, 800.0], intervals=[30.0]), {}, draws=0)
    assert "TOO_FEW_RECOVERIES" in codes(two)
    unknown = [row._replace(rate=None) for row in recoveries(TRUE)]
    assert set(values(fitted_costs(unknown, {}, draws=0))) == {"restart_s"}


def test_a_job_without_load_has_no_capacity() -> None:
    rows = [row._replace(recovery_s=50.0) for row in recoveries(TRUE)]
    fitted = fitted_costs(rows, {}, draws=0)
    assert values(fitted) == pytest.approx({"restart_s": 50.0})
    assert "NOT_IDENTIFIED" in codes(fitted)


def test_capacity_that_throughput_shows_decides_where_rates_do_not() -> None:
    rows = recoveries(TRUE, rates=[500.0], capacity=1000.0)
    fitted = fitted_costs(rows, {}, draws=0)
    assert values(fitted) == pytest.approx(TRUE, rel=1e-3)


def test_state_is_where_it_was_found() -> None:
    local = [MeasuredRecovery("a", restart_s=3.0, local_bytes=1e9)]
    assert fitted_costs(local, {}).costs.state == "local"
    assert fitted_costs(local, {}, state="remote").costs.state == "remote"
    assert fitted_costs([MeasuredRecovery("a", restart_s=3.0)], {}).costs.state == "remote"
    with_bytes = recoveries(TRUE, state_bytes=1e9)
    assert "bandwidth_mb_s" not in values(fitted_costs(with_bytes, {}, state="local", draws=0))


def test_held_out_predictions_do_not_know_what_they_predict() -> None:
    rows = recoveries(TRUE, noise=0.05, seed=3)
    other = [row._replace(recovery_s=9.0) if row.rate == RATES[1] else row for row in rows]
    first, second = fitted_costs(rows, {}, draws=0), fitted_costs(other, {}, draws=0)
    of_rate = np.array([row.rate == RATES[1] for row in rows])
    assert first.held_out_s[of_rate] == pytest.approx(second.held_out_s[of_rate], rel=1e-4)
    assert first.held_out_s[~of_rate] != pytest.approx(second.held_out_s[~of_rate], rel=1e-2)


def test_order_and_seed() -> None:
    rows = recoveries(TRUE, noise=0.05, seed=5)
    first, again = fitted_costs(rows, {}, draws=8, seed=1), fitted_costs(rows[::-1], {}, draws=8, seed=1)
    assert first.costs == again.costs
    assert np.array_equal(first.predicted_s, again.predicted_s[::-1])
    assert first.costs != fitted_costs(rows, {}, draws=8, seed=2).costs


def test_limits_hold_the_truth_mostly() -> None:
    held = total = 0
    for seed in range(4):
        fitted = fitted_costs(recoveries(TRUE, noise=0.05, seed=seed), {}, draws=30, seed=seed)
        for name, item in fitted.costs.estimates.items():
            assert item.low is not None
            assert item.low <= item.value
            held += item.low <= TRUE[name] <= (item.high or np.inf)
            total += 1
    assert held / total >= 0.7


def test_groups_are_values_but_for_a_share() -> None:
    assert groups(np.array([100.0, 1.0, 101.0, np.nan, 1.01])).tolist() == [1, 0, 1, -1, 0]
    assert groups(np.array([])).tolist() == []


def test_nothing_to_fit_to() -> None:
    with pytest.raises(FtplanError, match="no recovery"):
        fitted_costs([], {})
    known = fitted_costs(recoveries(TRUE, rates=[500.0], intervals=[30.0]), {"detection_s": 50.0, "restart_s": 88.0})
    assert known.accuracy is not None
    assert known.accuracy.median == pytest.approx(0.0)


@pytest.mark.parametrize(("count", "fits"), [(60, 60), (MOST_GROUPS, MOST_GROUPS), (3 * MOST_GROUPS + 1, MOST_GROUPS)])
def test_fits_without_single_recoveries_are_bounded(count: int, fits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At one rate and interval each recovery is held out alone; of many, each so many-th together, all once."""
    taken: list[int] = []

    def counted(sample: Sample, unknown: Unknowns, start: Values | None = None) -> dict[str, float]:
        taken.append(len(sample.recovery_s))
        return {"restart_s": 10.0}

    monkeypatch.setattr(selection, "estimate", counted)
    sample = Sample.of([MeasuredRecovery(str(i), recovery_s=10.0, rate=1.0, interval_s=60.0) for i in range(count)])
    tested = selection.held_out(sample, Unknowns({}, (), ("restart_s",)), {}, sample)
    assert tested is not None
    assert (tested.by, tested.predicted_s.tolist()) == ("recovery", [10.0] * count)
    assert len(taken) == fits
    assert sum(count - rows for rows in taken) == count
