"""Branch and bound on shared elements: against all choices, however early it ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.exact import exact_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.bounds import best_price
from ftplan.planners.recovery_schedule.algorithms.knapsack.branching import branch, search_tree
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.knapsack.integer_model import common_unit
from tests.planners.recovery_schedule.algorithms.instances import brute_force, knapsack_of, knapsacks

TIME_S = 60.0


def weakly_skewed(queries: int, seed: int) -> SetUnionKnapsack:
    """Return as many tasks as queries, drawn evenly, with 30 % of all cores."""
    rng = np.random.default_rng(seed)
    needs = [set(rng.choice(queries, rng.integers(3, 9), replace=False).tolist()) for _ in range(queries)]
    weight = rng.integers(1, 11, queries).astype(np.float64)
    used = float(weight[sorted(set().union(*needs))].sum())
    return knapsack_of(needs, weight.tolist(), rng.integers(1, 101, queries).tolist(), 0.3 * used)


@settings(deadline=None, max_examples=150)
@given(knapsacks(), st.sampled_from([None, 0, 1, 3]))
def test_the_bound_is_no_less_than_the_best_of_all_choices(knapsack: SetUnionKnapsack, iterations: int | None) -> None:
    best, nothing = brute_force(knapsack), np.zeros(knapsack.queries, dtype=np.bool_)
    tree = search_tree(knapsack, nothing, common_unit(knapsack.priority), Budget(TIME_S))
    branch(tree, Budget(TIME_S, iterations))
    assert knapsack.fits(tree.queries)
    assert tree.value == pytest.approx(knapsack.value(tree.queries))
    assert tree.bound >= best * (1 - 1e-8)
    if iterations is None:
        assert tree.value == pytest.approx(best, rel=1e-8)


@settings(deadline=None, max_examples=60)
@given(knapsacks())
def test_a_tree_without_time_still_bounds(knapsack: SetUnionKnapsack) -> None:
    nothing = np.zeros(knapsack.queries, dtype=np.bool_)
    tree = search_tree(knapsack, nothing, common_unit(knapsack.priority), Budget(0.0))
    branch(tree, Budget(0.0))
    assert tree.bound >= brute_force(knapsack) * (1 - 1e-8)


@settings(deadline=None, max_examples=60)
@given(knapsacks(), st.floats(0.0, 50.0))
def test_any_first_price_ends_at_the_same_bound(knapsack: SetUnionKnapsack, price: float) -> None:
    plain, begun = best_price(knapsack, Budget(TIME_S)), best_price(knapsack, Budget(TIME_S), price)
    assert begun.bound == pytest.approx(plain.bound, rel=1e-6, abs=1e-6)
    assert knapsack.fits(begun.below)


def test_branches_lower_the_bound_of_minimum_cuts() -> None:
    knapsack = weakly_skewed(120, 2)
    tree = search_tree(knapsack, np.zeros(knapsack.queries, dtype=np.bool_), 1.0, Budget(TIME_S))
    before = tree.bound
    branch(tree, Budget(TIME_S, 20))
    assert tree.value <= tree.bound < before


def test_bounded_work_gives_the_same_bytes_with_a_tree() -> None:
    knapsack = weakly_skewed(105, 2)
    first, second = (exact_step(knapsack, Budget(TIME_S, 1), seed=7) for _ in range(2))
    assert first.queries.tobytes() == second.queries.tobytes()
    assert (first.bound, first.optimal, first.note) == (second.bound, second.optimal, second.note)
