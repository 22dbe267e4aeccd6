"""No schedule is better than the bound of a whole repair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.repair import clairvoyant, host_groups
from ftplan.planners.recovery_schedule.algorithms.repair.repair_bound import repair_bound
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.burst_cases import least_at_random, random_burst
from tests.planners.recovery_schedule.algorithms.cases import graph, problem
from tests.planners.recovery_schedule.algorithms.repair_cases import least_loss, random_repair
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first


def bound_of(asked: RecoveryProblem, **more: bool) -> float:
    return repair_bound(asked, Budget(1e6, iterations=20), **more).value


@pytest.mark.parametrize("seed", range(examples(16)))
def test_nothing_loses_less_than_the_bound(seed: int) -> None:
    asked = random_repair(seed)
    least = least_loss(at_first(asked))
    assert bound_of(asked) <= least * (1.0 + 1e-9) + 1e-6
    assert bound_of(asked, parallel=True) <= least * (1.0 + 1e-9) + 1e-6


@pytest.mark.parametrize("seed", range(examples(14)))
def test_no_schedule_loses_less_where_more_fails_later(seed: int) -> None:
    asked = random_burst(seed)
    assert bound_of(asked) <= least_at_random(asked, 12) * (1.0 + 1e-9) + 1e-6


@pytest.mark.parametrize("seed", range(examples(14)))
def test_no_schedule_loses_less_where_failures_send_all_tasks_back(seed: int) -> None:
    asked = replace(random_burst(seed), rolls_back=True)
    assert bound_of(asked) <= least_at_random(asked, 12) * (1.0 + 1e-9) + 1e-6


@pytest.mark.parametrize("first_s", [0.0, 30.0])
@pytest.mark.parametrize("catch_up", [1.0, 20.0])
def test_what_goes_back_catches_up_since_the_incident_began(first_s: float, catch_up: float) -> None:
    """Two queries of a task each; one fails, then the other, and both go back; there is one way to recover.

    Slowly catching up, the first is not back when the second fails, and both go back to before the first failure.
    """
    nodes: list[str] = []
    failures = [(first_s, "task:one/0", nodes, ["one/0"]), (100.0, "task:other/0", nodes, ["other/0"])]
    asked = problem(
        graph([{"id": "one"}, {"id": "other"}], []),
        [] if first_s else ["one/0"],
        {"a": 0.0 if first_s else 1.0, "b": 0.0},
        homes={"other/0": "b", **({"one/0": "a"} if first_s else {})},
        failures=failures if first_s else failures[1:],
        horizon_s=5000.0,
        delays=RecoveryDelays(restart_s=5.0, catch_up=catch_up),
        rolls_back=True,
    )
    made = construct_schedule(asked, RecoveryOptions(), by_queries(best_density_step)).answer
    assert made is not None
    assert bound_of(asked) == pytest.approx(priority_time_of(made, asked), rel=1e-5)


@pytest.mark.parametrize("seed", range(examples(12)))
def test_what_is_too_large_to_look_at_in_pairs_is_bounded_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clairvoyant, "MOST_CELLS", 0)
    asked = random_repair(seed)
    assert bound_of(asked) <= least_loss(at_first(asked)) * (1.0 + 1e-9) + 1e-6


@pytest.mark.parametrize("seed", range(examples(12)))
def test_hosts_in_groups_are_bounded_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_groups, "MOST_PAIRS", 0)
    asked = random_repair(seed)
    assert bound_of(asked) <= least_loss(at_first(asked)) * (1.0 + 1e-9) + 1e-6
    burst = random_burst(seed)
    assert bound_of(burst) <= least_at_random(burst, 10) * (1.0 + 1e-9) + 1e-6


def test_work_that_is_bounded_gives_the_same_again() -> None:
    asked = random_burst(3)
    assert bound_of(asked) == bound_of(asked)
    assert repair_bound(asked, Budget(1e6, iterations=0)).value <= bound_of(asked)


@pytest.mark.parametrize("seed", range(8))
def test_splitting_tasks_does_not_beat_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tasks = graph(
        [
            {"id": "a", "parallelism": 2, "cpu": [1.0, 0.5], "key_groups": 8, "state_bytes": [60, 20]},
            {"id": "b", "parallelism": 2, "cpu": [1.0, 0.75], "priority": [2.0, 3.0], "state_bytes": 30},
        ],
        [{"from": "a", "to": "b", "partitioning": "one-to-one"}],
    )
    rooms = {f"n{k}": float(rng.choice([0.25, 0.5])) for k in range(2)}
    later = [(20.0 * k, f"m{k}", float(rng.choice([0.5, 0.75, 1.5]))) for k in (1, 2)] + [(60.0, "m3", 1.5)]
    asked = problem(
        tasks,
        ["a/0", "a/1", "b/0", "b/1"],
        rooms,
        later,
        state_bytes=tasks.per_task("state_bytes"),
        bandwidth_bytes_s=float(rng.choice([1.0, 5.0])),
        horizon_s=200.0,
    )
    options = RecoveryOptions(objective="priority-time", parallel_recovery=True, time_limit_s=60.0)
    result = construct_schedule(asked, options, by_queries(best_density_step))
    assert result.answer is not None
    assert bound_of(asked, parallel=True) <= priority_time_of(result.answer, asked) * (1.0 + 1e-9) + 1e-6


def test_stairs_and_value_say_the_same() -> None:
    asked = random_burst(7)
    found = repair_bound(asked, Budget(1e6, iterations=20))
    lasts_s = np.diff(np.append(found.at_s, asked.horizon_s))
    assert found.at_s[0] == 0.0
    assert np.all(found.most <= found.asked)
    assert found.value >= float((found.asked - found.most) @ lasts_s) - 1e-9


def test_a_restore_alone_is_known() -> None:
    """75 bytes at 3 a second: the query is down for 25 s, as the plan will say."""
    tasks = graph([{"id": "a", "state_bytes": 75}], [])
    asked = problem(tasks, ["a/0"], {"n1": 1.0}, state_bytes=tasks.per_task("state_bytes"), bandwidth_bytes_s=3.0)
    assert bound_of(asked) == pytest.approx(25.0)


def test_restores_on_one_node_wait_for_each_other() -> None:
    """Three of 30 s each, 30 + 60 + 90; side by side 90 s each."""
    tasks = graph([{"id": "a", "parallelism": 3, "cpu": 0.1, "state_bytes": 30}], [])
    asked = problem(
        tasks, ["a/0", "a/1", "a/2"], {"n1": 1.0}, state_bytes=tasks.per_task("state_bytes"), bandwidth_bytes_s=1.0
    )
    assert 0.95 * 180.0 <= bound_of(asked) <= 180.0
    assert bound_of(replace(asked, restores_at_once=3)) == pytest.approx(270.0)


def test_outages_that_begin_later_count() -> None:
    """The only other node comes at 50 s: what fails at 20 s is down for 30 s."""
    tasks = graph([{"id": "a", "parallelism": 2, "cpu": 1.0, "priority": [1.0, 3.0]}], [])
    asked = problem(
        tasks,
        ["a/0"],
        {"n1": 0.0},
        [(50.0, "n2", 2.0)],
        homes={"a/1": "n1"},
        failures=[(20.0, "node:n1", ["n1"], [])],
    )
    assert bound_of(asked) == pytest.approx(50.0 + 3.0 * 30.0)


def test_what_fails_at_the_horizon_is_down_no_time() -> None:
    """Of two failed tasks on one node, the second waits for a node that comes at 20 s; a third fails at the end."""
    tasks = graph([{"id": "a", "parallelism": 3, "cpu": 1.0, "priority": [1.0, 3.0, 50.0]}], [])
    asked = problem(
        tasks,
        ["a/0", "a/1"],
        {"n1": 1.0, "n2": 0.0},
        [(20.0, "n3", 2.0)],
        homes={"a/2": "n2"},
        failures=[(60.0, "node:n2", ["n2"], [])],
    )
    asked = replace(asked, horizon_s=60.0)
    assert bound_of(asked) == pytest.approx(20.0)
    assert bound_of(replace(asked, horizon_s=50.0)) == pytest.approx(20.0)


def test_a_standby_takes_over() -> None:
    """Then nothing of it is down."""
    tasks = graph([{"id": "a", "cpu": 1.0}], [])
    asked = problem(
        tasks,
        [],
        {"n1": 0.0, "n2": 0.0},
        homes={"a/0": "n1"},
        standby={"a/0": "n2"},
        failures=[(20.0, "node:n1", ["n1"], [])],
    )
    assert bound_of(asked) == 0.0


def test_what_fails_on_a_host_that_fails_starts_again() -> None:
    """The only host is gone from 20 s to the end."""
    tasks = graph([{"id": "a", "cpu": 1.0}], [])
    asked = problem(tasks, ["a/0"], {"n1": 1.0}, failures=[(20.0, "node:n1", ["n1"], [])], horizon_s=100.0)
    assert bound_of(asked) == pytest.approx(80.0)


def test_running_queries_may_give_way() -> None:
    """One core in use by a query of priority 1 that can serve one of priority 5 instead: 1 a second is down."""
    tasks = graph([{"id": "a", "parallelism": 2, "cpu": 1.0, "priority": [1.0, 5.0]}], [])
    asked = problem(tasks, ["a/1"], {"n1": 0.0}, homes={"a/0": "n1"}, horizon_s=100.0)
    assert bound_of(asked) == pytest.approx(500.0)
    assert bound_of(replace(asked, may_pause=True)) == pytest.approx(100.0)
