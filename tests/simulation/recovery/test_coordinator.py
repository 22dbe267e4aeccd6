"""The coordinator: what starts are worth, further failures, complete failure, replicas, refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ftplan.errors import FtplanError
from ftplan.simulation.recovery.hosts import Hosts, busy_cores
from ftplan.simulation.recovery.run import caught_up, run_recovery
from ftplan.simulation.recovery.series import query_series
from ftplan.simulation.recovery.setting import RecoverySetting
from tests.simulation.recovery.cases import (
    chain,
    diamond,
    events,
    failure,
    fork,
    observed,
    running,
    setting,
    simulated,
    starts,
    summary,
    times,
    timing,
)


def test_the_failure_strikes_when_the_last_punctuation_has_its_age() -> None:
    made = setting("incremental", chain(), [failure([2])])
    assert made.begin_s == -25.0
    assert replace(made, checkpoint_age_s=9.0, warm_up_s=30.0).begin_s == -39.0
    assert replace(made, checkpoint_age_s=0.0, warm_up_s=0.0).begin_s == -10.0
    assert replace(made, checkpoint_s=np.inf).begin_s == -25.0
    trace = simulated(replace(made, until_s=5.0))
    assert trace.observed.start_s == -25.0
    assert [item.batch for item in trace.observed.checkpoints] == [20, 40]
    assert trace.observed.checkpoints[1].at_s == pytest.approx(-5.0 + 0.75, abs=0.1)


def test_a_start_waits_for_node_and_detection_and_is_skipped_where_it_cannot_be() -> None:
    plan = starts((0.0, 3, 4), (1.0, 2, 5), (10.0, 1, 4), (20.0, 2, 5), (30.0, 3, 5))
    made = setting(
        "standby", fork(), [failure([2, 3]), failure([5], at_s=16.0)], (1.0, 15.0), starts=plan, until_s=60.0
    )
    trace = simulated(made)
    assert running(trace) == {3: 5.0}  # detected at 2 s
    assert [(e.at_s, e.tasks[0], e.node) for e in events(trace, "started")] == [(2.0, 3, 4), (15.0, 2, 5)]
    # 1 is not down; node 5 is lost when 2 starts again, and 3 is not down.
    assert [(e.at_s, e.tasks[0], e.node) for e in events(trace, "skipped")] == [
        (10.0, 1, 4),
        (20.0, 2, 5),
        (30.0, 3, 5),
    ]
    assert np.isinf(trace.caught_up_s[2])


def test_what_is_struck_again_waits_for_the_next_start_that_names_it() -> None:
    """Task 2 fails again while it loads; its second start comes before this failure is detected."""
    plan = starts((5.0, 2, 4), (11.0, 2, 5), (50.0, 2, 5))
    failures = [failure([2]), failure([4], at_s=7.0), failure([], at_s=10.5, tasks=[2])]
    trace = simulated(setting("standby", fork(), failures, (-1.0, -1.0), starts=plan, until_s=60.0))
    assert times(trace, "failure") == [0.0, 7.0]  # at 10.5 s it is down
    assert times(trace, "detected") == [2.0, 9.0]
    assert [(e.at_s, e.node) for e in events(trace, "started")] == [(5.0, 4), (11.0, 5)]
    assert running(trace) == {2: 14.0}


def test_a_start_before_the_detection_of_a_later_failure_waits_for_it() -> None:
    trace = simulated(
        setting("standby", fork(), [failure([2]), failure([4], at_s=10.0)], (-1.0, -1.0),
                starts=starts((3.0, 2, 4), (10.5, 2, 5)), until_s=40.0)
    )  # fmt: skip
    assert [(e.at_s, e.node) for e in events(trace, "started")] == [(3.0, 4), (12.0, 5)]


def test_blocking_waits_for_what_is_to_come_and_no_longer() -> None:
    """The node of a task that waits for the others fails: it waits for its next start; 3 is never started."""
    plan = starts((10.0, 1, 4), (20.0, 2, 5), (30.0, 1, 6))
    made = setting("blocking", fork(), [failure([1, 2, 3]), failure([4], at_s=15.0)], (5.0, 6.0, 7.0), starts=plan)
    trace = simulated(replace(made, until_s=60.0))
    assert [(e.at_s, e.tasks[0], e.node) for e in events(trace, "started")] == [(30.0, 2, 5), (30.0, 1, 6)]
    assert [(e.at_s, e.tasks[0], e.node) for e in events(trace, "skipped")] == [(15.0, 1, 4)]
    assert np.isinf(trace.caught_up_s[3])


def test_a_failure_while_the_job_blocks_takes_it_back_again() -> None:
    plan = starts((20.0, 2, 4), (60.0, 1, 5))
    made = setting("blocking", fork(), [failure([2]), failure([1], at_s=22.0)], (5.0, 60.0), starts=plan)
    trace = simulated(replace(made, until_s=90.0))
    assert times(trace, "rolled-back") == [20.0, 60.0]
    assert running(trace) == {2: 24.0, 1: 64.0}


def test_nothing_is_noticed_before_the_first_node_is_there() -> None:
    plan = starts((0.0, 0, 3), (0.0, 1, 3), (0.0, 2, 4))
    trace = simulated(setting("incremental", chain(), [failure([0, 1, 2])], (50.0, 70.0), starts=plan))
    assert times(trace, "detected") == [50.0]
    assert running(trace) == {0: 54.0, 1: 55.0, 2: 74.0}


# Replicas


def replicated(*tasks: int, **other: Any) -> RecoverySetting:
    """The fork whose nodes of tasks 2 and 3 fail; replicas stand on nodes 4 and 5, room for starts on 6 and 7."""
    replica = np.full(4, -1)
    replica[list(tasks)] = [task + 2 for task in tasks]
    plan = starts((20.0, 2, 6), (20.0, 3, 7))
    made = setting("incremental", fork(), [failure([2, 3])], (-99.0, -99.0, 20.0, 20.0), starts=plan, replica=replica)
    return timing(replace(made, **other), takeover_s=1.0, replica_lag_s=2.0)


def test_a_replica_takes_over_and_nobody_goes_back() -> None:
    trace = simulated(replicated(2, 3, until_s=60.0))
    assert times(trace, "stalled") == [0.0]
    assert [(e.at_s, e.tasks, e.node) for e in events(trace, "taken-over")] == [(3.0, (2,), 4), (3.0, (3,), 5)]
    assert times(trace, "rolled-back") == times(trace, "detected") == []
    assert len(events(trace, "skipped")) == 2
    assert trace.caught_up_s[2:].tolist() == [3.0, 3.0]
    assert not trace.observed.duplicates.any()  # output tasks send nothing


def test_what_a_replica_sends_again_counts_as_duplicates() -> None:
    replica = np.array([-1, 4, -1, -1])
    made = setting("incremental", fork(), [failure([1])], (-99.0,), replica=replica, until_s=20.0)
    duplicates = simulated(timing(made, takeover_s=1.0, replica_lag_s=2.0)).observed.duplicates
    assert duplicates.sum(axis=0).tolist() == [0.0, 0.0, 40.0, 40.0]  # 2 s of 20 records/s on each stream
    assert np.flatnonzero(duplicates.any(axis=1)).tolist() == [28]  # 3 s after the failure, 28 s after the begin


def test_replicas_help() -> None:
    none, half, full = summary(replicated()), summary(replicated(2)), summary(replicated(2, 3))
    assert full.priority_down_s < half.priority_down_s < none.priority_down_s
    assert full.priority_down_s < 0.2 * none.priority_down_s


@pytest.mark.parametrize(("nodes", "at_s"), [([4], 0.0), ([4], 1.5), ([2], 0.0)])
def test_a_task_fails_like_others_where_its_replica_is_gone(nodes: list[int], at_s: float) -> None:
    failures = [failure([2]), failure(nodes, at_s)] if at_s else [failure([2, *nodes])]
    made = replicated(2) if nodes == [4] else replicated()
    trace = simulated(timing(replace(made, failures=tuple(failures), until_s=60.0), correlated_failures=1))
    assert times(trace, "taken-over") == []
    assert times(trace, "detected") == times(trace, "rolled-back") == [at_s + 2.0]
    assert running(trace) == {2: 24.0}


def test_a_replica_that_took_over_can_fail() -> None:
    made = replicated(2, failures=(failure([2]), failure([4], 10.0)), until_s=60.0)
    trace = simulated(timing(made, correlated_failures=1))
    assert times(trace, "taken-over") == [3.0]
    assert times(trace, "detected") == [12.0]
    assert running(trace) == {2: 24.0}


# Refusals, and the parts


def test_a_job_that_cannot_keep_up_is_refused() -> None:
    slow = chain([0.5, 1.2, 0.5])  # type: ignore[arg-type]
    made = setting("incremental", slow, [failure([2])])
    with pytest.raises(FtplanError, match="task 1 is busy 120% of its time before anything fails"):
        run_recovery(made)
    with pytest.raises(FtplanError, match="task parser/0 is busy"):
        run_recovery(replace(made, names=("log/0", "parser/0", "out/0")))
    full = replace(setting("incremental", chain(0.7), [failure([2])]), home=np.zeros(3, dtype=np.int64))
    with pytest.raises(FtplanError, match="node n0 is busy 105% of its time"):
        run_recovery(full)


def test_a_query_without_output_before_the_failure_is_told() -> None:
    made = setting("incremental", chain(), [failure([2])], until_s=3.0)
    trace = simulated(replace(made, warm_up_s=0.0, checkpoint_s=0.5, checkpoint_age_s=0.5))
    with pytest.raises(FtplanError, match="task 2 has no output in the"):
        query_series(trace)


def test_busy_cores_are_rates_times_times() -> None:
    assert busy_cores(diamond(0.3)) == pytest.approx(np.full(4, 0.3))


def test_restores_of_a_node_go_one_after_another() -> None:
    made = timing(setting("blocking", fork(), [failure([3])], (5.0,)), transfer_delay_s=0.5)
    hosts = Hosts(made)
    assert hosts.restore(0, 10.0, 1e6) == 11.5
    assert hosts.restore(0, 10.0, 2e6) == 14.0
    assert hosts.restore(0, 10.0, 0.0) == 10.0
    assert hosts.restore(1, 10.0, 1e6) == 11.5
    assert hosts.next_arrival_s() == 5.0
    assert hosts.fail([0, 4]) == [0]
    hosts.arrive(4)
    assert hosts.next_arrival_s() == np.inf


def test_the_emptiest_node_counts_the_task_in() -> None:
    hosts = Hosts(setting("eager", chain(), [failure([2])], (-99.0,)))
    cores = np.array([0.9, 0.5, 0.4])
    assert hosts.emptiest([0, 1, 2], np.full(3, -1), cores) == {0: 0, 1: 1, 2: 2}
    hosts.fail([2, 3])
    assert hosts.emptiest([0, 1, 2], np.full(3, -1), cores) == {0: 0, 1: 1, 2: 1}
    assert hosts.emptiest([1, 2], np.array([0, -1, -1]), cores) == {1: 1, 2: 1}
    hosts.fail([0, 1])
    assert hosts.emptiest([1], np.full(3, -1), cores) == {}


def test_progress_within_a_bin_is_even() -> None:
    processed = np.array([[4, 4, 4], [-1, -1, 4], [-1, 2, 4], [4, 4, 4], [8, 4, 4]])
    seen = observed(processed)
    again = np.array([2.5, 1.5, np.nan])
    back = caught_up(seen, np.array([6, 5, -1]), again, np.array([2, 1, 0]))
    assert back[0] == 4.5  # 4 batches by 4 s, 8 by 5 s
    assert np.isinf(back[1])
    assert np.isnan(back[2])
    assert caught_up(seen, np.array([3, 0, -1]), again, np.array([2, 1, 0])).tolist()[:2] == [3.25, 1.5]
