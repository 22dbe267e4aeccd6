"""Local search of one recovery step: against brute force, and what every step solver must keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.local_search import local_search_step
from tests.planners.recovery_schedule.algorithms.instances import brute_force, knapsack_of

WEIGHTS = (0.0, 0.1, 0.25, 0.3, 1.0, 2.0, 7.0)


@st.composite
def knapsacks(draw: st.DrawFn, most: int = 8) -> SetUnionKnapsack:
    elements = draw(st.integers(1, 8))
    rows = draw(st.lists(st.sets(st.integers(0, elements - 1), max_size=5), max_size=most))
    weight = draw(st.lists(st.sampled_from(WEIGHTS), min_size=elements, max_size=elements))
    priority = draw(st.lists(st.sampled_from((0.5, 1.0, 3.0, 10.0)), min_size=len(rows), max_size=len(rows)))
    return knapsack_of(rows, weight, priority, draw(st.sampled_from((0.0, 0.3, 1.0, 2.5, 6.0, 100.0))))


def rounds(number: int) -> Budget:
    return Budget(60.0, number)


def random_knapsack(seed: int, queries: int = 60, elements: int = 50) -> SetUnionKnapsack:
    random = np.random.default_rng(seed)
    rows = [set(np.flatnonzero(random.random(elements) < 0.15).tolist()) for _ in range(queries)]
    weight = (random.integers(1, 40, elements) * 0.1).tolist()
    return knapsack_of(rows, weight, random.integers(1, 11, queries).tolist(), 0.5 * sum(weight))


@given(knapsacks())
@settings(max_examples=150, deadline=None)
def test_equals_brute_force_on_tiny_cases(knapsack: SetUnionKnapsack) -> None:
    choice = local_search_step(knapsack, rounds(60))
    assert knapsack.fits(choice.queries)
    assert knapsack.value(choice.queries) == pytest.approx(brute_force(knapsack))
    assert (knapsack.whole(choice.queries) == choice.queries).all()


@given(knapsacks(), st.integers(0, 2**8 - 1))
@settings(max_examples=60, deadline=None)
def test_never_worse_than_a_hint_that_fits(knapsack: SetUnionKnapsack, bits: int) -> None:
    hint: BoolArray = (bits >> np.arange(knapsack.queries)) % 2 == 1
    if knapsack.fits(hint):
        choice = local_search_step(knapsack, rounds(1), hint=hint)
        assert knapsack.fits(choice.queries)
        assert knapsack.value(choice.queries) >= knapsack.value(hint)


@given(knapsacks(most=12), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_order_of_elements_does_not_matter(knapsack: SetUnionKnapsack, seed: int) -> None:
    turned = knapsack.elements - 1 - knapsack.member
    member = [np.sort(part) for part in np.split(turned, knapsack.start[1:-1])] if knapsack.queries else [turned]
    other = SetUnionKnapsack(
        knapsack.priority, knapsack.weight[::-1].copy(), knapsack.start, np.concatenate(member), knapsack.capacity
    )
    values = [k.value(local_search_step(k, rounds(60), seed).queries) for k in (knapsack, other)]
    assert values[0] == values[1]


@pytest.mark.parametrize("seed", range(3))
def test_same_seed_and_rounds_give_the_same_choice(seed: int) -> None:
    knapsack = random_knapsack(seed)
    first, second = (local_search_step(knapsack, rounds(30), seed) for _ in range(2))
    assert (first.queries == second.queries).all()
    assert knapsack.fits(first.queries)


def test_bounded_rounds_are_not_cut_by_the_clock() -> None:
    budget = rounds(5)
    local_search_step(random_knapsack(1), budget)
    assert not budget.cut


def test_the_clock_ends_a_search_without_bounds_and_is_noted() -> None:
    budget = Budget(0.02)
    knapsack = random_knapsack(1, queries=400, elements=400)
    assert knapsack.fits(local_search_step(knapsack, budget).queries)
    assert budget.cut


def test_more_rounds_are_never_worse() -> None:
    knapsack = random_knapsack(7, queries=150, elements=120)
    values = [knapsack.value(local_search_step(knapsack, rounds(number)).queries) for number in (1, 10, 100)]
    assert values == sorted(values)


def test_small_search_ends_by_itself() -> None:
    budget = Budget(3600.0)
    local_search_step(random_knapsack(3, queries=10), budget)
    assert not budget.cut


def test_everything_fits_is_proved() -> None:
    knapsack = knapsack_of([{0}, {0, 1}, set()], [1.0, 2.0], [1.0, 5.0, 2.0], 3.0)
    choice = local_search_step(knapsack, Budget(1.0))
    assert choice.optimal
    assert choice.bound == 8.0
    assert choice.queries.all()


def test_nothing_fits_takes_the_free_queries() -> None:
    knapsack = knapsack_of([{0}, {1}, set()], [1.0, 0.0], [1.0, 5.0, 2.0], 0.0)
    assert local_search_step(knapsack, Budget(1.0)).queries.tolist() == [False, True, True]


def test_no_queries() -> None:
    choice = local_search_step(knapsack_of([], [1.0], [], 3.0), Budget(1.0))
    assert choice.queries.shape == (0,)
    assert choice.optimal
