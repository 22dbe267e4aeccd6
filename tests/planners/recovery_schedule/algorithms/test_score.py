"""A schedule's tasks start and stop when its steps and the failures say so."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.score import changes, fidelity_time_of, priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.planners.recovery_schedule.algorithms.cases import graph, problem


def test_a_task_that_fails_while_it_is_restored_never_started() -> None:
    tasks = graph([{"id": "a", "parallelism": 2}], [])
    case = problem(
        tasks,
        ["a/0", "a/1"],
        rooms={"n1": 1.0, "n2": 1.0},
        failures=[(10.0, "node:n1", ["n1"], []), (50.0, "task:a/1", [], ["a/1"])],
        state_bytes=np.array([30.0, 20.0]),
        bandwidth_bytes_s=1.0,
        horizon_s=100.0,
    )
    result = construct_schedule(case, RecoveryOptions(), by_queries(best_density_step))
    assert result.answer is not None
    found = [(at_s, sorted(tasks), up) for (at_s, up), tasks in sorted(changes(result.answer, case).items())]
    on_n1 = next(r.task for r in result.answer.steps[0].recover if r.host == 0)
    assert on_n1 not in [task for at_s, named, live in found if live and at_s <= 30.0 for task in named]
    model = fidelity_model(tasks, rates(tasks))
    whole = fidelity_time_of(result.answer, case, model)
    # without shared inputs a query's fidelity is whether it is back
    assert whole == pytest.approx((200.0 - priority_time_of(result.answer, case)) / 2)


def test_a_task_that_fails_as_it_catches_up_never_worked() -> None:
    tasks = graph([{"id": "a"}], [])
    case = problem(
        tasks,
        ["a/0"],
        rooms={"n1": 1.0},
        failures=[(30.0, "task:a/0", [], ["a/0"])],
        state_bytes=np.array([30.0]),
        bandwidth_bytes_s=1.0,
        horizon_s=100.0,
    )
    result = construct_schedule(case, RecoveryOptions(), by_queries(best_density_step))
    assert result.answer is not None
    model = fidelity_model(tasks, rates(tasks))
    assert fidelity_time_of(result.answer, case, model) == pytest.approx(100.0 - 60.0)
