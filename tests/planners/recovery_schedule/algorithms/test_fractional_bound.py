"""The fractional bound: above every choice, and what it leaves out."""

from __future__ import annotations

import pytest
from hypothesis import given

from ftplan.planners.recovery_schedule.algorithms.knapsack.bounds import fractional_bound
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from tests.planners.recovery_schedule.algorithms.instances import brute_force, knapsack_of, knapsacks


@given(knapsacks())
def test_no_choice_is_above_it(knapsack: SetUnionKnapsack) -> None:
    bound = fractional_bound(knapsack)
    assert brute_force(knapsack) <= bound * (1.0 + 1e-12)
    assert bound <= knapsack.priority.sum() * (1.0 + 1e-12)


def test_the_last_query_counts_in_part() -> None:
    """Densities 2.5 and 0.75: the first whole and half of the second."""
    knapsack = knapsack_of([{0}, {1}], [1.0, 2.0], [2.5, 1.5], 2.0)
    assert fractional_bound(knapsack) == pytest.approx(3.25)


def test_whole_priorities_have_a_whole_bound() -> None:
    knapsack = knapsack_of([{0}, {1}], [1.0, 2.0], [3.0, 1.0], 2.0)
    assert fractional_bound(knapsack) == 3.0


def test_a_query_that_does_not_fit_alone_shares_nothing() -> None:
    """Shared by two, bundle 0 would cost each only half, and the bound would be 5."""
    knapsack = knapsack_of([{0}, {1}, {0, 2}], [2.0, 2.0, 9.0], [2.5, 2.5, 2.5], 3.0)
    assert fractional_bound(knapsack) == pytest.approx(3.75)
