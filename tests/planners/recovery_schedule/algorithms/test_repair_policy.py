"""A plan is made anew where a failure takes what it counted on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.failure import FailureEvent
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement
from ftplan.planners.recovery_schedule.algorithms.repair.policy import WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.problem import Host, RecoveryOptions, RecoveryProblem
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.pausing_cases import optimum
from tests.planners.recovery_schedule.algorithms.repair_cases import random_repair

OPTIONS = RecoveryOptions(objective="priority-time", time_limit_s=1e9)


def failing_again(problem: RecoveryProblem, host: int, at_s: float) -> RecoveryProblem:
    event = FailureEvent(
        at_s=at_s, selector=f"node:n{host}", nodes=frozenset({f"n{host}"}), tasks=np.zeros(0, dtype=np.int64)
    )
    return replace(problem, failures=(event,), capacity=None)


def test_what_was_started_and_fails_again_is_started_anew() -> None:
    again = 0
    for seed in range(examples(60)):
        problem = random_repair(seed)
        roomy = tuple(Host(host.id, 9.0) for host in problem.hosts)
        if problem.live_hosts < 2:
            continue
        result = construct_schedule(
            failing_again(replace(problem, hosts=roomy, horizon_s=1000.0), 0, 25.0), OPTIONS, WholeRepairPolicy(optimum)
        )
        assert result.answer is not None
        assert all(outage.back_s is not None for outage in result.answer.downtimes)
        started = [item.task for step in result.answer.steps for item in step.recover]
        again += len(started) > len(set(started))
    assert again >= 5


def test_nothing_is_started_on_a_host_that_is_gone() -> None:
    calls = []

    def later(instance: RepairInstance, budget: Budget, seed: int) -> RepairPlacement:
        calls.append(instance.at_s)
        placement = optimum(instance)
        return replace(placement, step_s=np.where(placement.host >= 0, instance.steps[-1], np.inf))

    for seed in range(examples(60)):
        problem = random_repair(seed)
        if problem.live_hosts < 2 or not problem.arrivals:
            continue
        calls.clear()
        result = construct_schedule(failing_again(problem, 0, 3.0), OPTIONS, WholeRepairPolicy(later))
        assert calls == [0.0, 3.0]
        if result.answer is not None:
            assert all(item.host != 0 for step in result.answer.steps if step.at_s >= 3.0 for item in step.recover)
