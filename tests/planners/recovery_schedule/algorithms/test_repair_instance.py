"""A placement is worth what the schedule made of it is."""

from __future__ import annotations

import pytest

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement, value
from ftplan.planners.recovery_schedule.algorithms.repair.policy import WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.repair_cases import random_repair, scattered


@pytest.mark.parametrize("seed", range(examples(60)))
def test_a_placement_is_worth_what_its_schedule_is(seed: int) -> None:
    problem = random_repair(seed)
    values = []

    def solver(instance: RepairInstance, budget: Budget, seed: int) -> RepairPlacement:
        placement = scattered(instance, budget, seed)
        assert instance.fits(placement.host)
        values.append(value(instance, placement))
        return placement

    options = RecoveryOptions(objective="priority-time", seed=seed, time_limit_s=600.0)
    result = construct_schedule(problem, options, WholeRepairPolicy(solver))
    if result.answer is None:
        assert values[0] == pytest.approx(
            float(problem.graph.per_task("priority")[problem.graph.output].sum()) * problem.horizon_s
        )
        return
    assert priority_time_of(result.answer, problem) == pytest.approx(values[0])
