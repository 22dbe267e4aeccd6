"""Queries of less priority give way where that loses less, as brute force says, and never where it loses more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ftplan.model.failure import FailureEvent
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair import pausing
from ftplan.planners.recovery_schedule.algorithms.repair.instance import instance_of, value
from ftplan.planners.recovery_schedule.algorithms.repair.pausing import PausingRepair, as_if_paused, plan_with_pauses
from ftplan.planners.recovery_schedule.algorithms.repair.policy import RepairPlan, WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.repair.repair_bound import (
    all_stopped,
    loss_with_pauses,
    repair_bound,
)
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import StepState
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import at_failure
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.planners.recovery_schedule.algorithms.cases import graph, problem
from tests.planners.recovery_schedule.algorithms.pausing_cases import losses, optimum, running_repair

OPTIONS = RecoveryOptions(objective="priority-time", time_limit_s=1e9)


def planned(state: StepState, *, prefetch: bool = True) -> RepairPlan:
    return plan_with_pauses(state, optimum, optimum, prefetch, Budget(1e9, None), 0)


@pytest.mark.parametrize("prefetch", [True, False])
def test_who_gives_way_loses_least_of_all(prefetch: bool) -> None:
    gains = 0
    for seed in range(60):
        state = at_failure(running_repair(seed))
        plan = planned(state, prefetch=prefetch)
        least, reached = min(losses(state, prefetch)), value(plan.instance, plan.placement)
        assert reached == pytest.approx(least, rel=1e-9, abs=1e-9), seed
        without = instance_of(state, prefetch)
        gains += reached < value(without, optimum(without)) - 1e-9
    assert gains >= 10  # the cases are tight


@pytest.mark.parametrize("restart_s", [0.0, 1.5])
def test_what_never_stopped_bounds_every_choice(restart_s: float) -> None:
    for seed in range(100, 140):
        state = at_failure(running_repair(seed, restart_s=restart_s))
        relaxed = as_if_paused(state)
        least = min(losses(state, True))
        bound = value(relaxed, optimum(relaxed))
        assert bound <= least + 1e-9, seed
        if restart_s == 0.0:
            assert bound == pytest.approx(least, rel=1e-9, abs=1e-9), seed


def test_a_schedule_with_pauses_loses_what_was_planned() -> None:
    for seed in range(200, 240):
        problem = running_repair(seed, restart_s=1.5)
        plan = planned(at_failure(problem))
        reached = value(plan.instance, plan.placement)
        result = construct_schedule(problem, OPTIONS, PausingRepair(optimum, optimum))
        plain = construct_schedule(problem, OPTIONS, WholeRepairPolicy(optimum))
        if result.answer is None:
            assert plain.answer is None
            continue
        assert priority_time_of(result.answer, problem) == pytest.approx(reached), seed
        paused = tuple(item.task for item in result.answer.steps[0].pause if not item.replica)
        assert paused == plan.pause
        if plain.answer is not None:
            assert priority_time_of(result.answer, problem) <= priority_time_of(plain.answer, problem) + 1e-9


def test_without_all_sets_it_is_still_no_worse_than_without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pausing, "FEW_QUERIES", 0)
    reached = 0
    for seed in range(300, 340):
        state = at_failure(running_repair(seed))
        plan, without = planned(state), instance_of(state)
        loss = value(plan.instance, plan.placement)
        assert loss <= value(without, optimum(without)) + 1e-9
        reached += loss <= min(losses(state, True)) + 1e-9
    assert reached >= 36


def test_nobody_gives_way_unless_asked() -> None:
    for seed in range(10):
        problem = replace(running_repair(seed), may_pause=False)
        result = construct_schedule(problem, OPTIONS, PausingRepair(optimum, optimum))
        assert result.answer is None or not any(step.pause for step in result.answer.steps)


def test_no_schedule_with_pauses_loses_less_than_the_bound() -> None:
    for seed in range(400, 430):
        problem = running_repair(seed, restart_s=1.5 if seed % 2 else 0.0)
        bound = loss_with_pauses(problem, Budget(1e9, None))
        least = min(losses(at_failure(problem), True))
        assert bound is not None
        assert bound <= least + 1e-9
        if seed % 2 == 0:
            assert bound == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("detection_s", [0.0, 2.0])
def test_bounds_of_repairs_hold_for_every_choice_of_pauses(detection_s: float) -> None:
    tight, stronger, capped = 0, 0, 0
    for seed in range(400, 440):
        problem = running_repair(seed)
        problem = replace(problem, delays=problem.delays._replace(detection_s=detection_s))
        least = min(losses(at_failure(problem), True))
        weak, bound = (repair_bound(asked, Budget(1e9, 20)).value for asked in (problem, all_stopped(problem)))
        assert max(weak, bound) <= least + 1e-6 * max(1.0, least), seed
        tight += bound >= least * (1.0 - 1e-3)
        stronger += bound > weak + 1e-6 * max(1.0, bound)
        capped += problem.capacity is not None
    assert (tight >= 20, stronger >= 5, capped >= 5) == (True, detection_s == 0.0, True), (tight, stronger, capped)


def test_nothing_has_stopped_where_others_may_give_way_later() -> None:
    problem = running_repair(7)
    problem = replace(problem, delays=problem.delays._replace(detection_s=0.0))
    assert not all_stopped(problem).may_pause
    late = replace(problem, delays=problem.delays._replace(restart_s=1.0))
    struck = replace(problem, failures=(FailureEvent(5.0, "task", frozenset(), np.zeros(1, dtype=np.int64)),))
    for other in (replace(problem, rolls_back=True), late, struck):
        assert all_stopped(other) is other


def test_what_runs_on_a_node_that_is_too_full_may_stay_there() -> None:
    """One query runs beside the lost one, on a node that already runs more than it may; both want the empty node."""
    tasks = graph([{"id": "a", "parallelism": 2, "cpu": [1.0, 0.5], "priority": [8.0, 2.0]}], [])
    asked = problem(tasks, ["a/0"], {"n1": 0.0, "n2": 1.0}, [], homes={"a/1": "n1"})
    full = replace(asked.hosts[0], overload=0.25)
    asked = replace(asked, hosts=(full, *asked.hosts[1:]), may_pause=True)
    assert at_failure(asked).may_pause.any()
    assert loss_with_pauses(asked, Budget(1e9, 20)) == 0.0
    for bounded in (asked, all_stopped(asked)):
        assert repair_bound(bounded, Budget(1e9, 20)).value == pytest.approx(0.0, abs=1e-6)
