"""No answer is worse than what it is held against: step by step, blocking recovery, each random order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.failure import FailureEvent
from ftplan.planners import registry
from ftplan.planners.recovery_schedule.algorithms.by_objective import restored
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import objective_of
from ftplan.planners.recovery_schedule.problem import RecoveryObjective, RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result
from tests.planners.recovery_schedule.algorithms.repair_cases import random_repair

ROWS = registry.rows("recovery-schedule")
OBJECTIVES: tuple[RecoveryObjective, ...] = ("priority", "priority-time", "fidelity-time")
#: The operator-centric order is what it is.
PAIRS = [(row, name) for row in ROWS for name in OBJECTIVES if row.name != "operator-centric"]


def repair(seed: int) -> RecoveryProblem:
    """Return a tight repair with restores, arrivals and lanes; every other one loses a node or a task on the way."""
    case = random_repair(seed)
    rng = np.random.default_rng(seed)
    if seed % 2 or not case.hosts:
        return case
    host = case.hosts[int(rng.integers(len(case.hosts)))]
    assert host.id is not None
    node = FailureEvent(25.0, f"node:{host.id}", frozenset({host.id}), np.zeros(0, dtype=np.int64))
    task = FailureEvent(25.0, "task", frozenset(), rng.integers(case.graph.tasks, size=1))
    return replace(case, failures=(node if rng.random() < 0.7 else task,))


def planned(
    row: registry.Row, case: RecoveryProblem, objective: RecoveryObjective, iterations: int = 3
) -> Result[Schedule]:
    options = RecoveryOptions(objective=objective, time_limit_s=600.0, iterations=iterations)
    result: Result[Schedule] = registry.load(row)(case, options)
    return result


@pytest.mark.usefixtures("few_random_orders")
@pytest.mark.parametrize(("row", "objective"), PAIRS, ids=lambda item: getattr(item, "name", item))
@given(st.integers(0, 100_000))
@settings(deadline=None, max_examples=12)
def test_no_answer_is_worse_than_what_stands_beside_it(
    row: registry.Row, objective: RecoveryObjective, seed: int
) -> None:
    case = repair(seed)
    result = planned(row, case, objective)
    if result.answer is None:
        assert result.status == "infeasible"
        return
    score = restored if objective == "priority" else objective_of(case, objective).of_schedule
    beside = result.answer.beside
    assert beside is not None
    assert len(beside.random) == beside.orders > 0
    assert len(beside.blocking) == 1
    mine = score(result.answer)
    for other in (beside.step_by_step, *beside.blocking, *beside.random):
        assert other is None or mine >= score(other) - 1e-9 * max(1.0, abs(mine))
    if result.bound is not None:
        value = abs(mine)
        slack = 1e-7 * max(1.0, value)
        assert result.bound <= value + slack if objective == "priority-time" else result.bound >= value - slack
