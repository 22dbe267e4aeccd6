"""Fidelity over time as a repair of sets of tasks is what the metric makes of the schedule."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.instance import fidelity_repair
from ftplan.planners.recovery_schedule.algorithms.repair.instance import instance_of
from ftplan.planners.recovery_schedule.algorithms.repair.policy import due
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import StepAssignment
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, StepState
from ftplan.planners.recovery_schedule.algorithms.schedule.score import fidelity_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.fidelity_cases import random_job
from tests.planners.recovery_schedule.algorithms.repair_cases import scattered


@pytest.mark.parametrize("seed", range(examples(80)))
def test_a_placement_gains_what_its_schedule_does(seed: int) -> None:
    problem = random_job(seed)
    model = fidelity_model(problem.graph, rates(problem.graph))
    gained = []

    def policy(state: StepState, budget: Budget, seed: int) -> Decision:
        if state.step > 0:
            now = tuple(item for at_s, item in later if at_s == state.at_s)
            return Decision(np.zeros(0, dtype=np.int64), placed=now)
        repair = fidelity_repair(instance_of(state), problem.graph, model, Budget(3600))
        assert repair is not None
        placement = repair.of_all(repair.only_kept(scattered(repair.whole, budget, seed)))
        assert repair.whole.fits(placement.host)
        gained.append(repair.gained(placement))
        later.extend(due(repair.whole, placement))
        return Decision(np.zeros(0, dtype=np.int64), placed=tuple(i for at_s, i in later if at_s <= state.at_s))

    later: list[tuple[float, StepAssignment]] = []
    result = construct_schedule(problem, RecoveryOptions(objective="fidelity-time", seed=seed), policy)
    if result.answer is not None and gained:
        assert fidelity_time_of(result.answer, problem, model) == pytest.approx(gained[0])
