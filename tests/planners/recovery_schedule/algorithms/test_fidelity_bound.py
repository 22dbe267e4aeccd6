"""No schedule is better over time than its bound says: every placement, and anything with later failures and pauses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.bound import fidelity_repair_bound
from ftplan.planners.recovery_schedule.algorithms.repair.instance import instance_of
from ftplan.planners.recovery_schedule.algorithms.repair.repair_bound import all_stopped, repair_bound
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import StepAssignment
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, StepState
from ftplan.planners.recovery_schedule.algorithms.schedule.score import fidelity_time_of, priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.fidelity_cases import most_fidelity, random_job, with_failures
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first


def test_no_placement_exceeds_the_bound_and_most_come_near() -> None:
    near = []
    for seed in range(examples(25)):
        problem = random_job(seed, 4)
        model = fidelity_model(problem.graph, rates(problem.graph))
        bound = fidelity_repair_bound(problem, model, Budget(3600))
        assert np.all(np.diff(bound.most) >= -1e-12)
        best = most_fidelity(problem, at_first(problem), model)
        assert best <= bound.value + 1e-7
        near.append(bound.value <= 1.1 * best + 1e-6)
    assert np.mean(near) >= 0.85


class Anything:
    """Starts what is down anywhere, or not, and lets tasks give way where they may."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def __call__(self, state: StepState, budget: Budget, seed: int) -> Decision:
        """Return tasks on nodes with room, in any order."""
        may_pause = np.flatnonzero(state.may_pause & (self._rng.random(len(state.down)) < 0.3)).tolist()
        drop = np.flatnonzero(state.may_drop & (self._rng.random(len(state.down)) < 0.3)).tolist()
        pause = tuple(may_pause)
        if pause or drop:
            state = state.after_pause(pause, tuple(drop))
        instance = instance_of(state)
        room, pool, placed = instance.room.copy(), instance.pool, []
        start = float(self._rng.choice([1.0, 0.8]))
        for task in self._rng.permutation(len(instance.task)).tolist():
            for host in self._rng.permutation(len(room)).tolist():
                pooled = host < instance.pooled
                cost = float(instance.cost[task])
                if instance.there_s[host] > state.at_s or cost > room[host] or (pooled and cost > pool):
                    continue
                if self._rng.random() < start:
                    room[host] -= cost
                    pool -= cost if pooled else 0.0
                    placed.append(StepAssignment(int(instance.task[task]), int(instance.host[host]), cost))
                    break
        return Decision(np.zeros(0, dtype=np.int64), placed=tuple(placed), pause=pause, pause_standby=tuple(drop))


@pytest.mark.parametrize("seed", range(examples(25)))
def test_nothing_that_is_done_exceeds_the_bound_of_later_failures(seed: int) -> None:
    problem = with_failures(seed)
    model = fidelity_model(problem.graph, rates(problem.graph))
    bound = fidelity_repair_bound(problem, model, Budget(3600))
    rng = np.random.default_rng(seed)
    for _ in range(8):
        result = construct_schedule(problem, RecoveryOptions(objective="fidelity-time"), Anything(rng))
        if result.answer is not None:
            assert fidelity_time_of(result.answer, problem, model) <= bound.value + 1e-7


@pytest.mark.parametrize("seed", [85, 199, *range(examples(10))])
def test_nothing_that_gives_way_loses_less_than_the_bound(seed: int) -> None:
    """Standbys without a node take over (199), and what gives way need not be restarted (85)."""
    problem = replace(with_failures(seed), may_pause=True)
    bound = repair_bound(all_stopped(problem), Budget(3600, 2))
    rng = np.random.default_rng(seed)
    for _ in range(8):
        result = construct_schedule(problem, RecoveryOptions(objective="priority-time"), Anything(rng))
        if result.answer is not None:
            assert priority_time_of(result.answer, problem) >= bound.value * (1.0 - 1e-9) - 1e-7
