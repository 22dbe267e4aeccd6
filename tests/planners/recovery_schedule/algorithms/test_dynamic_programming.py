"""Dynamic programming: equal to brute force, and the faults of the paper's listing stay mended."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.dynamic_programming import dynamic_programming_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from tests.planners.recovery_schedule.algorithms.instances import brute_force, figure_2, knapsack_of, knapsacks


@given(knapsacks())
def test_equals_brute_force(knapsack: SetUnionKnapsack) -> None:
    choice = dynamic_programming_step(knapsack, Budget(60.0))
    value = knapsack.value(choice.queries)
    assert knapsack.fits(choice.queries)
    assert value == pytest.approx(brute_force(knapsack))
    assert choice.optimal
    assert choice.bound == value


@given(knapsacks(), st.data())
def test_a_hint_does_not_change_the_answer(knapsack: SetUnionKnapsack, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.booleans(), min_size=knapsack.queries, max_size=knapsack.queries))
    hint = np.array(drawn, dtype=np.bool_)
    without = dynamic_programming_step(knapsack, Budget(60.0))
    np.testing.assert_array_equal(dynamic_programming_step(knapsack, Budget(60.0), hint=hint).queries, without.queries)


@pytest.mark.parametrize(("cores", "whole"), [(2, 0), (4, 1), (6, 2), (8, 2), (10, 4)])
def test_figure_2(cores: int, whole: int) -> None:
    knapsack = figure_2(cores)
    assert dynamic_programming_step(knapsack, Budget(60.0)).queries.sum() == whole


def test_costs_need_not_be_whole() -> None:
    """The listing raises the usage by 1 and misses a query of 0.25 cores."""
    knapsack = knapsack_of([{0}, {1}], [0.25, 3.0], [1.0, 5.0], 0.5)
    assert dynamic_programming_step(knapsack, Budget(60.0)).queries.tolist() == [True, False]


def test_room_for_everything() -> None:
    """The listing ends without any plan when the capacity exceeds all costs."""
    knapsack = knapsack_of([{0}], [2.0], [1.0], 10.0)
    assert dynamic_programming_step(knapsack, Budget(60.0)).queries.tolist() == [True]


def test_equal_plans_end_at_the_cheaper_one() -> None:
    knapsack = knapsack_of([{0}, {1}], [3.0, 2.0], [1.0, 1.0], 4.0)
    assert dynamic_programming_step(knapsack, Budget(60.0)).queries.tolist() == [False, True]


def test_equal_queries_count_once() -> None:
    """Thirty queries of three kinds are three queries for the limit."""
    knapsack = knapsack_of([{q % 3} for q in range(30)], [1.0, 2.0, 4.0], [1.0] * 30, 5.0)
    choice = dynamic_programming_step(knapsack, Budget(60.0), limit=3)
    assert knapsack.value(choice.queries) == 20.0


def test_refuses_too_many_queries() -> None:
    knapsack = knapsack_of([{q} for q in range(40)], [1.0] * 40, [1.0] * 40, 3.0)
    with pytest.raises(FtplanError, match="up to 30 failed queries, there are 40 different ones: use exact"):
        dynamic_programming_step(knapsack, Budget(60.0))
    assert dynamic_programming_step(knapsack, Budget(60.0), limit=40).queries.sum() == 3


def test_refuses_too_many_plans() -> None:
    knapsack = knapsack_of([{q} for q in range(20)], [1.0] * 20, [1.0] * 20, 10.0)
    with pytest.raises(FtplanError, match=r"holds up to 100 plans, after .* of 20 different failed queries"):
        dynamic_programming_step(knapsack, Budget(60.0), most=100)


def test_the_clock_leaves_a_plan_and_a_bound() -> None:
    knapsack = knapsack_of([{q} for q in range(10)], [1.0] * 10, [1.0] * 10, 5.0)
    hint = np.arange(10) < 3
    budget = Budget(0.0, started=now() - 1.0)
    choice = dynamic_programming_step(knapsack, budget, hint=hint)
    assert knapsack.value(choice.queries) >= 3.0
    assert choice.bound == 5.0
    assert not choice.optimal
    assert budget.cut
    assert choice.note is not None
