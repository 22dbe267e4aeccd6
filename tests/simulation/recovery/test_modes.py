"""Each way to recover, on jobs of three or four tasks, with times counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ftplan.model.measures.recovery_time import RecoveryParameters, recovery_time
from ftplan.model.units import MB
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.series import query_series
from ftplan.simulation.recovery.setting import RecoverySetting, SimulatedNode
from tests.simulation.recovery.cases import (
    chain,
    diamond,
    failure,
    fork,
    running,
    setting,
    simulated,
    starts,
    summary,
    times,
    timing,
)

#: Tasks 2 and 3 of the fork fail and come back on nodes that arrive at 40 and 80 s.
ARRIVALS = (40.0, 80.0)
PLAN = starts((40.0, 2, 4), (80.0, 3, 5))


def two_queries(mode: str, rho: float = 0.5, **other: object) -> RecoverySetting:
    return setting(mode, fork(rho), [failure([2, 3])], ARRIVALS, **{"starts": PLAN, **other})


@pytest.mark.parametrize(
    ("mode", "back", "rolled"),
    [
        ("incremental", {2: 44.0, 3: 84.0}, [2.0]),  # ordered at 40 and 80 s; 3 s to restart, 1 s to load
        ("blocking", {2: 84.0, 3: 84.0}, [80.0]),
        ("source-replay", {2: 44.0, 3: 84.0}, [40.0, 80.0]),  # each start takes the whole job back
        ("eager", {2: 6.0, 3: 6.0}, []),  # 2 s to detect, 3 s to restart, 1 s to load, a node each
        ("task-local", {2: 84.0, 3: 84.0}, [80.0]),
        ("standby", {2: 43.0, 3: 83.0}, []),  # nothing to load
        ("uncoordinated", {2: 44.0, 3: 84.0}, []),
    ],
)
def test_when_tasks_work_again_and_live_ones_go_back(mode: str, back: dict[int, float], rolled: list[float]) -> None:
    trace = simulated(two_queries(mode))
    assert times(trace, "detected") == [2.0]
    assert running(trace) == back
    assert times(trace, "rolled-back") == rolled
    # The state is 5 s old; at rho 0.5 these are read again in 2.5 s, counted in batches of 0.5 s. A task's own
    # checkpoint may be younger or older; sources that have gone back start 3 s (2 s of them waiting) earlier.
    for task in (2, 3):
        assert trace.caught_up_s[task] == pytest.approx(back[task] + 2.5, abs=0.6 if mode != "uncoordinated" else 2.6)
    assert np.isnan(trace.caught_up_s[:2]).all()


def test_buffers_are_kept_from_the_rollback_until_nobody_needs_them() -> None:
    trace = simulated(two_queries("incremental"))
    assert times(trace, "buffers-on") == [2.0]
    [off] = times(trace, "buffers-off")
    # Task 3 works from 84 s on and is 89 s behind: at rho 0.5 it has caught up after as long, but for queues.
    assert 160.0 <= off <= 173.5
    assert simulated(two_queries("incremental", until_s=80.0)).observed.buffering[-1]


def test_incremental_brings_queries_back_sooner_than_blocking() -> None:
    incremental, blocking = summary(two_queries("incremental")), summary(two_queries("blocking"))
    assert incremental.priority_down_s < 0.8 * blocking.priority_down_s
    assert incremental.first_back_s is not None
    assert blocking.first_back_s is not None
    assert incremental.first_back_s < blocking.first_back_s - 60.0
    assert incremental.last_back_s == pytest.approx(blocking.last_back_s, abs=2.0)
    assert incremental.peak_buffer_bytes > 0.0 == blocking.peak_buffer_bytes


def test_what_is_rolled_back_and_when_healthy_queries_notice() -> None:
    """Query 2 is healthy: it goes on until the rollback, which the modes order at 2 s, at 40 s, or never."""
    down = {}
    for mode in MODES:
        made = setting(mode, fork(), [failure([3, 4])], (-10.0, 40.0), starts=starts((40.0, 3, 5)))
        down[mode] = summary(made).down_s
    assert down["eager"][0] == down["standby"][0] == down["uncoordinated"][0] == 0.0
    trace = simulated(setting("blocking", fork(), [failure([3, 4])], (-10.0, 40.0), starts=starts((40.0, 3, 5))))
    series = query_series(trace)
    assert series.available[(series.time_s > -20.0) & (series.time_s <= 40.0), 0].all()
    assert not series.available[series.time_s > 43.0, 0].all()
    assert 0.0 < down["incremental"][0] < down["blocking"][0]
    assert down["task-local"][0] > down["blocking"][0] + 30.0  # the whole job stands still from 2 s on


def test_one_lost_node_blocks_unless_told_otherwise() -> None:
    made = setting("incremental", fork(), [failure([3])], (60.0,), starts=starts((60.0, 3, 4)))
    trace = simulated(made)
    assert times(trace, "rolled-back") == [60.0]
    assert not trace.observed.buffering.any()
    assert times(simulated(timing(made, correlated_failures=1)), "rolled-back") == [2.0]


def test_two_failures_one_after_the_other_are_incremental() -> None:
    failures = [failure([3]), failure([2], at_s=20.0)]
    trace = simulated(setting("incremental", fork(), failures, ARRIVALS, starts=starts((40.0, 2, 4), (80.0, 3, 5))))
    assert times(trace, "rolled-back") == [22.0]
    assert running(trace) == {2: 44.0, 3: 84.0}


def test_failures_with_a_complete_checkpoint_between_them_block_each() -> None:
    failures = [failure([3]), failure([2], at_s=60.0)]
    plan = starts((10.0, 3, 4), (80.0, 2, 5))
    trace = simulated(setting("incremental", fork(), failures, (5.0, 80.0), starts=plan))
    assert times(trace, "rolled-back") == [10.0, 80.0]


@pytest.mark.parametrize("mode", ["incremental", "blocking", "task-local", "eager", "source-replay"])
@pytest.mark.parametrize("rho", [0.4, 0.6])
def test_catching_up_is_the_closed_form(mode: str, rho: float) -> None:
    """All fails at once and starts at once: detection, restart, transfer, replay, and catching up at 1 - rho."""
    plan = starts((0.0, 0, 3), (0.0, 1, 4), (0.0, 2, 5))
    made = setting(mode, chain(rho), [failure([0, 1, 2])], (0.0,) * 3, starts=plan, until_s=180.0, bin_s=0.25)
    trace = simulated(timing(made, detection_s=20.0, restart_s=25.0, bandwidth_bytes_s=2e5))
    parts = recovery_time(RecoveryParameters(20.0, 25.0, 2e5 / MB, 0.5, 20.0 / rho), 20.0, 10.0, 1e6)
    assert float(parts.stopped_s) == pytest.approx(50.0)
    series = query_series(trace)
    before = series.lag_records[series.time_s < 0.0].max()
    back_s = series.time_s[np.flatnonzero(series.lag_records > before + 1.0)[-1]]
    assert back_s == pytest.approx(float(parts.total_s), rel=0.02)
    assert trace.caught_up_s == pytest.approx(np.full(3, float(parts.stopped_s + parts.replay_s)), rel=0.02)


def test_a_join_waits_for_all_that_feed_it() -> None:
    """Of the diamond's two arms one comes back at 40 s, the other at 80 s; the join starts at 40 s."""
    made = setting("incremental", diamond(), [failure([1, 2, 3])], ARRIVALS)
    plan = starts((40.0, 1, 4), (40.0, 3, 4), (80.0, 2, 5))
    trace = simulated(replace(made, starts=plan))
    assert running(trace) == {1: 44.0, 3: 45.0, 2: 84.0}  # two restores on one node, one after the other
    assert trace.caught_up_s[1] == pytest.approx(46.5, abs=0.6)
    assert trace.caught_up_s[3] == pytest.approx(trace.caught_up_s[2], abs=1.0)


@pytest.mark.parametrize("lost", [1, 2])
def test_eager_recovery_needs_room(lost: int) -> None:
    """[SuZhouTR], figure 11: of five nodes, 60 % full, one fails: a hump; two fail: latency grows without bound."""
    made = setting("eager", chain(0.3, tasks=10), [failure(range(5 - lost, 5))], until_s=300.0)
    made = replace(made, nodes=tuple(SimulatedNode(f"n{k}", 1.0) for k in range(5)), home=np.arange(10) % 5)
    series = query_series(simulated(made))
    before, early, late = (
        float(np.nanmax(series.latency_s[(series.time_s > first) & (series.time_s <= last)]))
        for first, last in ((-15.0, 0.0), (0.0, 60.0), (240.0, 300.0))
    )
    if lost == 1:  # three tasks of 0.3 cores at most on a node
        assert early > before + 5.0
        assert late < 2.0 * before
    else:  # four on one of them
        assert late > early + 20.0
        assert not series.available[series.time_s > 20.0].any()


def test_source_replay_gets_slower_with_each_failure() -> None:
    """[SuZhouTR], figure 10: 1, 2 and 3 failures 60 s apart, each noticed after 30 s; all goes back at each."""
    peaks = []
    for count in (1, 2, 3):
        failures = [failure([2 + k], at_s=60.0 * k) for k in range(count)]
        plan = starts(*((60.0 * k, 2, 3 + k) for k in range(count)))
        made = setting("source-replay", chain(0.7), failures, (0.0,) * 3, starts=plan, until_s=400.0)
        trace = simulated(timing(made, detection_s=30.0))
        assert times(trace, "rolled-back") == [30.0 + 60.0 * k for k in range(count)]
        peaks.append(float(np.nanmax(query_series(trace).latency_s)))
    assert peaks[0] == pytest.approx(5.0 + 30.0 + 3.0, abs=1.0)
    assert peaks[0] + 5.0 < peaks[1]
    assert peaks[1] + 5.0 < peaks[2]


def test_source_replay_without_checkpoints_reads_a_window_again() -> None:
    made = setting("source-replay", chain(), [failure([2])], (0.0,), starts=starts((0.0, 2, 3)), checkpoint_s=np.inf)
    late = simulated(timing(made, replay_window_s=20.0)).caught_up_s[2]
    soon = simulated(timing(made, replay_window_s=4.0)).caught_up_s[2]
    assert late == pytest.approx(6.0 + 10.0, abs=1.0)  # a window of 20 s at rho 0.5
    assert soon == pytest.approx(6.0 + 2.0, abs=1.0)


def test_what_is_fetched() -> None:
    """Task 3 fails for itself and starts where it was; its state is there, and a transfer of it takes a second."""

    def works(mode: str, fetches: Any, node: int, local: float = 0.0) -> dict[int, float]:
        plan = starts((10.0, 3, node))
        plan = (replace(plan[0], local_bytes=local),)
        made = setting(mode, fork(), [failure([], tasks=[3])], (0.0,), starts=plan)
        return running(simulated(replace(made, mode=replace(MODES[mode], fetches=fetches))))

    assert works("task-local", "moved", 3) == {3: 13.0}
    assert works("task-local", "moved", 4) == {3: 14.0}
    assert works("task-local", "failed", 3) == {3: 14.0}
    assert works("task-local", "failed", 4, local=4e5) == {3: 13.6}
    assert works("task-local", "none", 4) == {3: 13.0}
    # All fetch: the live task of node 1 and the failed one that starts there, one after the other.
    assert works("task-local", "all", 1) == {3: 14.0}


def test_tasks_that_are_not_deterministic_take_the_job_back_each_time() -> None:
    failures = [failure([2, 3]), failure([4], at_s=60.0)]
    plan = starts((40.0, 2, 4), (80.0, 3, 5), (80.0, 2, 5))

    def rolled(mode: str, *random: int) -> list[float]:
        job = fork()
        job.deterministic[list(random)] = False
        return times(simulated(setting(mode, job, failures, ARRIVALS, starts=plan)), "rolled-back")

    assert rolled("incremental") == [2.0]
    assert rolled("incremental", 2) == [2.0, 62.0]
    assert rolled("uncoordinated") == []
    assert rolled("uncoordinated", 2) == [2.0, 62.0]
    assert rolled("standby", 2) == []  # it is logged in which order it processed


def test_a_task_warms_up() -> None:
    made = setting("eager", chain(0.4), [failure([2])], (0.0,))
    cold = timing(made, warming_s=20.0, warming_pace=0.5)
    assert simulated(made).caught_up_s[2] == pytest.approx(6.0 + 2.0, abs=0.6)
    assert simulated(cold).caught_up_s[2] == pytest.approx(6.0 + 4.0, abs=0.6)


def test_a_best_case_is_a_schedule_with_all_nodes_at_once() -> None:
    best = setting("incremental", fork(), [failure([2, 3])], (60.0, 60.0), starts=starts((60.0, 2, 4), (60.0, 3, 5)))
    assert summary(best).priority_down_s < summary(two_queries("blocking")).priority_down_s
    assert running(simulated(best)) == {2: 64.0, 3: 64.0}
