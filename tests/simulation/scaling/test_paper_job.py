"""The job of [Mudassar2019], figures 10, 11, 13 and 14, in its shape."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from ftplan.simulation.scaling.run import ScalingOutcome, run_scaling
from ftplan.simulation.scaling.setting import BatchedLoad, RestartSetting, Technique
from tests.simulation.scaling.cases import paper_setting

STORM = RestartSetting(overhead_s=0.04, restart_s=30.0, at_s=(680.0, 1050.0))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, ScalingOutcome]:
    techniques: tuple[Technique, ...] = ("active-backup", "checkpoint", "assisted")
    done = {technique: run_scaling(paper_setting(technique)) for technique in techniques}
    return done | {
        "storm": run_scaling(paper_setting(None, STORM)),
        "none": run_scaling(paper_setting(None)),
    }


@pytest.mark.parametrize("technique", ["active-backup", "checkpoint", "assisted"])
def test_executors_go_from_9_over_13_to_11_and_over_19_to_15(
    outcomes: dict[str, ScalingOutcome], technique: str
) -> None:
    executors = outcomes[technique].most_executors.sum(axis=1).tolist()
    assert [count for count, _ in groupby(executors)] == [9, 13, 11, 19, 15]


def test_checkpoints_take_less_than_a_secondary(outcomes: dict[str, ScalingOutcome]) -> None:
    assert outcomes["checkpoint"].core_s < outcomes["active-backup"].core_s


def test_latency_and_throughput_are_in_the_papers_order(outcomes: dict[str, ScalingOutcome]) -> None:
    order = ["active-backup", "checkpoint", "storm"]
    latency = [float(np.nanmean(outcomes[name].batch_latency_s)) for name in order]
    assert latency == sorted(latency)
    throughput = [float(outcomes[name].throughput.mean()) for name in order]
    assert throughput == sorted(throughput, reverse=True)
    assert float(np.nanmean(outcomes["none"].batch_latency_s)) > latency[-1]


def test_a_restart_stops_the_throughput(outcomes: dict[str, ScalingOutcome]) -> None:
    storm = outcomes["storm"]
    down = storm.time_s[storm.throughput == 0.0]
    assert set(down.tolist()) == {690.0, 700.0, 710.0, 1060.0, 1070.0, 1080.0}
    assert storm.executors[(storm.time_s > 690.0) & (storm.time_s <= 710.0)].sum() == 0
    assert [(item.tasks_from, item.tasks_to) for item in storm.splits] == [(2, 4), (4, 8)]
    assert storm.faults == ()
    assert storm.states[2].same_as(outcomes["none"].states[2])


def test_checkpoints_each_second_take_time_of_the_tasks() -> None:
    """0.04 s before one batch of four, here; the others are as late as without as long as tasks keep up."""
    load = BatchedLoad(0.25 * np.arange(1.0, 401.0), np.full(400, 0.25), 0.25)
    setting = replace(paper_setting(None), load=load, until_s=100.0)
    stored = replace(setting, restart=RestartSetting(overhead_s=0.04, at_s=(1e6,)))
    more = run_scaling(stored).batch_latency_s - run_scaling(setting).batch_latency_s
    assert more[:3] == pytest.approx([0.0] * 3)
    written_s = 32e4 / setting.split.bytes_s
    assert more[3:7].tolist() == pytest.approx([0.04 + written_s, 0.0, 0.0, 0.0])
    assert more.mean() == pytest.approx((0.04 + written_s) / 4.0, rel=0.02)


def test_a_late_start_is_said(outcomes: dict[str, ScalingOutcome]) -> None:
    """A secondary that takes longer than from the alarm to the promotion takes over when it is ready."""
    assert [item.late for item in outcomes["active-backup"].splits] == [False, False]
    setting = paper_setting("active-backup")
    late = run_scaling(replace(setting, split=replace(setting.split, setup_s=60.0)))
    assert [item.late for item in late.splits] == [True, True]
    for item in late.splits:
        assert item.prepared_s is not None
        assert item.ended_s is not None
        assert item.ended_s >= item.prepared_s + 60.0
    assert late.faults == ()
