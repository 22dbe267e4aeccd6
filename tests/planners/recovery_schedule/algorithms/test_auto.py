"""The default of a recovery step: as good as the best of its solvers, with the least of their bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms import auto, dynamic_programming
from ftplan.planners.recovery_schedule.algorithms.auto import auto_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, StepChoice
from tests.planners.recovery_schedule.algorithms.instances import brute_force, figure_2, knapsack_of, knapsacks

ROUGH = knapsack_of([{0}, {1}, {2}], [2.0, 2.0, 3.0], [2.0, 2.0, 5.0], 4.0)


@pytest.fixture(params=["sets where few", "never"], autouse=True)
def _sets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test with small steps planned outright, and without."""
    if request.param == "never":
        monkeypatch.setattr(dynamic_programming, "FEW_SETS", 0)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(knapsacks(), st.sampled_from([None, 0, 1]))
def test_value_and_bound_enclose_the_optimum(knapsack: SetUnionKnapsack, iterations: int | None) -> None:
    choice, optimum = auto_step(knapsack, Budget(60.0, iterations)), brute_force(knapsack)
    assert knapsack.fits(choice.queries)
    assert choice.bound is not None
    assert knapsack.value(choice.queries) <= optimum * (1.0 + 1e-9)
    assert optimum <= choice.bound * (1.0 + 1e-9)
    if iterations is None:
        assert choice.optimal
        assert knapsack.value(choice.queries) == pytest.approx(optimum, rel=1e-8)


def test_a_hint_is_never_made_worse() -> None:
    knapsack = figure_2(6.0)
    hint = np.array([False, False, True, True])
    choice = auto_step(knapsack, Budget(0.0), hint=hint)
    assert knapsack.value(choice.queries) >= knapsack.value(hint)


def test_it_keeps_the_best_choice_and_the_least_bound_of_its_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first solver has the better bound, the second the better choice, which the third sees and cannot beat."""
    seen: list[list[bool]] = []

    def answers(chosen: list[bool], bound: float | None) -> auto.StepSolver:
        def solver(
            knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None
        ) -> StepChoice:
            assert hint is not None
            seen.append(hint.tolist())
            return StepChoice(np.array(chosen), bound)

        return solver

    first, best, none = [True, True, False], [False, False, True], [False, False, False]
    solvers = ((answers(first, 6.0), 0.5), (answers(best, 9.0), 0.5), (answers(none, None), 1.0))
    monkeypatch.setattr(auto, "SOLVERS", solvers)
    monkeypatch.setattr(auto, "NEAR", ())
    monkeypatch.setattr(auto, "FAR", ())
    monkeypatch.setattr(auto, "optimum_where_few", lambda knapsack: None)
    choice = auto_step(ROUGH, Budget(60.0))
    assert seen == [none, first, best]
    assert choice.queries.tolist() == best
    assert choice.bound == 6.0
    assert not choice.optimal


def test_without_time_it_answers_and_says_so() -> None:
    budget = Budget(0.0)
    needs = [{q, (q + 1) % 40} for q in range(40)]  # more than are planned outright
    knapsack = knapsack_of(needs, [1.0 + q % 3 for q in range(40)], [1.0 + q % 5 for q in range(40)], 20.0)
    choice = auto_step(knapsack, budget)
    assert knapsack.fits(choice.queries)
    assert choice.queries.any()
    assert budget.cut


def test_the_time_goes_where_the_gap_is() -> None:
    chosen = np.array([False, False, True])  # a value of 5
    assert auto._by_gap(ROUGH, StepChoice(chosen, 6.0)) is auto.NEAR
    assert auto._by_gap(ROUGH, StepChoice(chosen, 9.0)) is auto.FAR
    assert auto._by_gap(ROUGH, StepChoice(chosen)) is auto.FAR
