"""A bound that is none is an error wherever it comes from: each source is made to tell one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms import by_objective, exact
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.exact import exact_step
from ftplan.planners.recovery_schedule.algorithms.horizon import priority_time
from ftplan.planners.recovery_schedule.algorithms.horizon.priority_time import plan_horizon
from ftplan.planners.recovery_schedule.algorithms.knapsack.deep_tree import DeepTree
from ftplan.planners.recovery_schedule.algorithms.repair import interval_model, objectives
from ftplan.planners.recovery_schedule.algorithms.repair.interval_model import solve_intervals
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Limit, Method, Solved
from ftplan.planners.recovery_schedule.algorithms.repair.search.list_schedule import list_schedule
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from tests.planners.recovery_schedule.algorithms.instances import knapsack_of
from tests.planners.recovery_schedule.algorithms.repair_cases import random_repair
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first
from tests.planners.recovery_schedule.algorithms.time_indexed_cases import shared_repair

FALSE = "reported as proven"


def overlapping(queries: int = 60) -> Any:
    """Return a step whose first choices fall short of its bounds."""
    rng = np.random.default_rng(1)
    needs = [set(rng.choice(queries, 4, replace=False).tolist()) for _ in range(queries)]
    return knapsack_of(needs, rng.integers(1, 9, queries).tolist(), rng.integers(1, 11, queries).tolist(), 60.0)


def test_a_step_by_shares_of_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "fractional_bound", lambda knapsack: 3.0)
    with pytest.raises(RuntimeError, match=FALSE):
        exact_step(overlapping(), Budget(60.0, 5))


def test_a_step_by_minimum_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    real = exact.around_capacity

    def low(*given: Any) -> Any:
        best, around = real(*given)
        return replace(best, price=0.0, profit=0.5), around

    monkeypatch.setattr(exact, "around_capacity", low)
    with pytest.raises(RuntimeError, match=FALSE):
        exact_step(overlapping(), Budget(60.0, 5))


def test_a_step_by_all_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that the best of all is nothing; the hint is better."""
    small = knapsack_of([{0}, {1}], [1.0, 2.0], [3.0, 4.0], 2.0)
    real = exact.optimum_where_few
    monkeypatch.setattr(exact, "optimum_where_few", lambda knapsack: replace(real(knapsack), queries=np.zeros(2, bool)))
    with pytest.raises(RuntimeError, match=FALSE):
        exact_step(small, Budget(60.0), hint=np.array([False, True]))


def test_a_step_by_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree forgets what it was given, and calls nothing the best."""
    monkeypatch.setattr(DeepTree, "offer", lambda self, queries: None)
    monkeypatch.setattr(DeepTree, "most_open", property(lambda self: -np.inf))
    with pytest.raises(RuntimeError, match=FALSE):
        exact_step(overlapping(), Budget(60.0, 5))


@pytest.mark.parametrize("source", ["step_bounds", "single_step_bounds", "solve_time_indexed"])
def test_a_horizon(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    real: Callable[..., Any] = getattr(priority_time, source)

    def low(*given: Any) -> Any:
        found = real(*given)
        return (found[0], 0.5, False) if source == "solve_time_indexed" else 0.5 * found

    monkeypatch.setattr(priority_time, source, low)
    with pytest.raises(RuntimeError, match=FALSE):
        plan_horizon(shared_repair(1, 60, 20), best_density_step, Budget(600.0, 2), 0)


def test_a_repair_by_the_interval_model(monkeypatch: pytest.MonkeyPatch) -> None:
    real = interval_model.solve_sat

    def high(*given: Any, **more: Any) -> Any:
        answer = real(*given, **more)
        return replace(answer, bound=2 * answer.bound + 1)

    monkeypatch.setattr(interval_model, "solve_sat", high)
    instance = at_first(random_repair(0, 8, 3))
    with pytest.raises(RuntimeError, match=FALSE):
        solve_intervals(instance, list_schedule(instance), Budget(600.0, 5), 0)


@pytest.mark.parametrize("objective", ["priority-time", "fidelity-time"])
@pytest.mark.parametrize("source", ["limit", "modelled"])
def test_a_whole_repair(monkeypatch: pytest.MonkeyPatch, objective: str, source: str) -> None:
    """Nothing is lost, or gained, says the bound."""
    owner = objectives.PriorityTime if objective == "priority-time" else objectives.FidelityTime
    if source == "limit":
        monkeypatch.setattr(owner, "limit", lambda *given, **more: Limit(-1e9 if objective == "priority-time" else 0.0))
    else:
        none = -1e9 if objective == "priority-time" else 0.0
        monkeypatch.setattr(owner, "modelled", lambda self, instance, start, *rest: Solved(start, none))
    options = RecoveryOptions(objective=objective, iterations=2)  # type: ignore[arg-type]
    method = Method(best_density_step, search=True, model=True)
    with pytest.raises(RuntimeError, match=FALSE):
        by_objective.by_objective(random_repair(3, 8, 3), options, method)
