"""A schedule that is read back as a placement is worth what it was, or more where tasks begin earlier."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.repair.instance import value
from ftplan.planners.recovery_schedule.algorithms.repair.placements import placement_of_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import random_order
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.repair_cases import random_repair
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first


@pytest.mark.parametrize("prefetch", [True, False])
@pytest.mark.parametrize("seed", range(examples(40)))
def test_a_schedule_is_worth_no_less_as_a_placement(seed: int, prefetch: bool) -> None:
    problem = random_repair(seed)
    instance = at_first(problem, prefetch=prefetch)
    for policy in (by_queries(best_density_step), random_order):
        made = construct_schedule(problem, RecoveryOptions(prefetch=prefetch, seed=seed), policy).answer
        if made is None:
            continue
        placement = placement_of_schedule(made, instance)
        assert placement is not None
        worth, was = value(instance, placement), priority_time_of(made, problem)
        assert worth <= was + 1e-9
        assert prefetch or worth == pytest.approx(was)


def test_parts_of_tasks_are_no_placement() -> None:
    problem = random_repair(3)
    made = construct_schedule(problem, RecoveryOptions(), by_queries(best_density_step)).answer
    assert made is not None
    steps = [
        replace(step, recover=tuple(replace(item, key_groups=(0, 1)) for item in step.recover)) for step in made.steps
    ]
    assert placement_of_schedule(replace(made, steps=tuple(steps)), at_first(problem, prefetch=True)) is None
