"""Queues as formulas have them, and records that are conserved."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.simulation.scaling.run import run_scaling
from ftplan.simulation.scaling.setting import BatchedLoad, ScalingSetting, SimulatedOperator, SplitSetting
from tests.simulation.scaling.cases import even_use, keyed, paper_setting, steady


def unsplit(operator: SimulatedOperator, load: BatchedLoad, until_s: float) -> ScalingSetting:
    return ScalingSetting((operator,), load, lambda *_: None, {}, until_s, 10.0, SplitSetting(delay_s=0.0))


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_a_task_that_is_not_split_is_an_m_d_1_queue(rho: float) -> None:
    """Mean wait rho s / (2 (1 - rho)) by Pollaczek and Khinchine; 20 parts of 250 arrivals, each a batch."""
    at_s = np.cumsum(np.random.default_rng(3).exponential(1.0 / rho, 5_500))
    load = BatchedLoad(at_s, np.ones(len(at_s)), 1.0 / rho)
    outcome = run_scaling(unsplit(keyed([1.0], 1), load, float(at_s[-1])))
    means = (outcome.batch_latency_s[500:] - 1.0).reshape(20, -1).mean(axis=1)
    error = 4.0 * means.std(ddof=1) / np.sqrt(20)
    assert abs(means.mean() - rho / (2.0 * (1.0 - rho))) <= error


def test_the_queue_of_an_overloaded_operator_grows_as_a_fluid() -> None:
    """Of 100 records/s two tasks that are busy 1.25 times the time take 80: the queue grows by 20 a second."""
    outcome = run_scaling(unsplit(keyed(even_use(2.5)), steady(200.0, 0.2), 200.0))
    assert outcome.queue[:, 0] == pytest.approx(20.0 * outcome.time_s, abs=2 * 100.0 * 0.2 + 1e-6)
    assert outcome.throughput[1:] == pytest.approx(80.0, abs=3.0)
    late = 0.2 * steady(200.0, 0.2).at_s / 0.8
    assert outcome.batch_latency_s == pytest.approx(late, abs=0.6)


def test_a_skewed_operator_is_as_slow_as_its_hottest_task() -> None:
    """The first of two tasks has three quarters of a use of 2: it takes two thirds of the input."""
    outcome = run_scaling(unsplit(keyed([1.5, 0.5]), steady(100.0, 0.1), 100.0))
    assert outcome.throughput[2:] == pytest.approx(100.0 / 1.5, abs=1.5)


@pytest.mark.parametrize("technique", [None, "active-backup", "checkpoint"])
def test_what_comes_goes_out_or_waits(technique: str | None) -> None:
    setting = paper_setting(technique)  # type: ignore[arg-type]
    outcome = run_scaling(setting)
    come = np.searchsorted(setting.load.at_s, outcome.time_s - 1e-9)
    records = np.concatenate([[0.0], 200.0 * np.cumsum(setting.load.seconds)])[come]
    gone = np.cumsum(outcome.throughput) * setting.every_s
    under_way = 4 * 800.0 * setting.load.batch_s  # a batch between two operators is at neither
    assert np.all(np.abs(records - gone - outcome.queue.sum(axis=1)) <= under_way)
    assert outcome.throughput.sum() * setting.every_s <= records[-1] + under_way
