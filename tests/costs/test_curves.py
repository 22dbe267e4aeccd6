"""Failures in curves: found where they are, with the times that a queue has, and not where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.costs.curves import _first_sign, find_recoveries
from ftplan.model.recovery_costs import Curve
from tests.costs.cases import caught_up, curve
from tests.places import ROOT

EXAMPLE = ROOT / "examples" / "recoveries"


@settings(max_examples=15, deadline=None)
@given(st.floats(20.0, 200.0), st.floats(0.3, 0.8), st.floats(0.0, 0.005), st.integers(0, 9))
def test_an_outage_is_found_with_its_times(took: float, rho: float, noise: float, seed: int) -> None:
    made = curve([(1000.0, round(took))], rate=1000.0, capacity=1000.0 / rho, noise=noise, seed=seed)
    (found,) = find_recoveries(made)
    assert abs(found.begin_s - 1000.0) <= 5.0
    assert found.end_s is not None
    expected = caught_up(round(took), 1000.0, 1000.0 / rho)
    assert abs(found.end_s - found.begin_s - expected) <= 0.05 * expected + 10.0
    assert found.rate == pytest.approx(1000.0, rel=0.01)
    if found.capacity is not None:
        assert found.capacity == pytest.approx(1000.0 / rho, rel=0.05)


@pytest.mark.parametrize(
    "missing", [("lag",), ("latency",), ("lag", "latency"), ("throughput",), ("throughput", "lag")]
)
def test_some_of_the_signals_are_enough(missing: tuple[str, ...]) -> None:
    made = replace(curve([(1000.0, 100.0), (2000.0, 60.0)]), **dict.fromkeys(missing, None))
    found = find_recoveries(made)
    assert [round(one.begin_s, -1) for one in found] == [1000, 2000]
    times = [one.end_s - one.begin_s for one in found if one.end_s is not None]
    assert times == pytest.approx([200.0, 120.0], abs=15.0)
    assert all((one.rate is None) == ("throughput" in missing) for one in found)


@pytest.mark.parametrize("step", [5.0, 15.0, 30.0])
def test_rare_samples_find_the_same_failures(step: float) -> None:
    found = find_recoveries(curve([(1000.0, 100.0), (2000.0, 60.0)], step_s=step))
    assert [one.begin_s for one in found] == pytest.approx([1000.0, 2000.0], abs=step)
    times = [one.end_s - one.begin_s for one in found if one.end_s is not None]
    assert times == pytest.approx([200.0, 120.0], abs=15.0 + step)


def test_what_is_no_failure() -> None:
    steady = curve([], noise=0.02)
    assert find_recoveries(steady) == []
    less = np.where(steady.time_s > 1500.0, 0.3, 1.0)  # less comes in: throughput falls, nothing waits
    assert steady.throughput is not None
    assert steady.lag is not None
    assert find_recoveries(replace(steady, throughput=steady.throughput * less)) == []
    slip = np.where(steady.time_s == 1500.0, 0.0, 1.0)  # one scrape is missing
    assert find_recoveries(replace(steady, throughput=steady.throughput * slip)) == []
    assert find_recoveries(Curve("short", np.arange(3.0), np.ones(3))) == []


def test_a_failure_while_recovering_counts_to_the_first() -> None:
    (found,) = find_recoveries(curve([(1000.0, 100.0), (1150.0, 30.0)]))
    assert found.failures == 2
    assert found.end_s == pytest.approx(1260.0, abs=15.0)


def test_a_curve_that_ends_too_early() -> None:
    (found,) = find_recoveries(curve([(2900.0, 90.0)]))
    assert found.end_s is None


def test_missing_samples_are_no_return_to_normal() -> None:
    made = curve([(1000.0, 60.0)])
    gone = (made.time_s >= 990.0) & (made.time_s < 1200.0)  # metrics are gone with the tasks, for a while
    assert made.throughput is not None
    assert made.lag is not None
    holes = replace(
        made, throughput=np.where(gone, np.nan, made.throughput), lag=np.where(gone, np.nan, made.lag), latency=None
    )
    assert all(one.end_s is None or one.end_s >= 1200.0 for one in find_recoveries(holes))
    few = np.arange(len(made.time_s)) % 7 == 0
    sparse = replace(made, lag=np.where(few, np.nan, made.lag), latency=None)
    assert len(find_recoveries(sparse)) == 1


def test_measured_curves_beside_what_was_measured_of_them() -> None:
    """[Geldenhuys2022] measured these recoveries by an anomaly detector; the curves do not know that."""
    table = pd.read_parquet(EXAMPLE / "curve.parquet").astype("float64")
    measured = pd.read_csv(EXAMPLE / "recoveries.csv").query("checkpoint_interval_s == 60")
    found = find_recoveries(
        Curve(
            "khaos",
            table["second"].to_numpy(),
            table["throughput_records_s"].to_numpy(),
            table["consumer_lag_records"].to_numpy(),
            table["latency_ms"].to_numpy(),
        )
    )
    assert len(found) == 6
    off = []
    for one in found:
        nearest = measured.iloc[(measured["records_s"] - one.rate).abs().argmin()]
        assert nearest["records_s"] == pytest.approx(one.rate, rel=0.005)
        assert one.end_s is not None
        off.append(abs((one.end_s - one.begin_s) / nearest["recovery_s"] - 1.0))
    assert float(np.median(off)) <= 0.1


@given(st.lists(st.integers(1, 9), max_size=40), st.integers(0, 200), st.integers(0, 60))
def test_the_first_sign_is_found_without_a_look_at_every_jump(lengths: list[int], sign: int, reach: int) -> None:
    """Of jumps that do not touch, the one that goes on at the sign counts; a year of curves has thousands."""
    ends = np.cumsum([0, *lengths]).tolist()
    jumps = list(zip(ends[::2], ends[1::2], strict=False))
    going_on = [max(begin, sign - reach) for begin, end in jumps if begin <= sign <= end]

    class Unwalked(list[tuple[int, int]]):
        __iter__ = None  # type: ignore[assignment]

    assert _first_sign(sign, [Unwalked(jumps)], reach) == (going_on or [sign])[0]
