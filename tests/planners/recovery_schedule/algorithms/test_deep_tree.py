"""The compiled tree over shared elements: against brute force, with bounds that hold wherever it stops."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack import (
    residual_flow,
    residual_nodes,
)
from ftplan.planners.recovery_schedule.algorithms.knapsack.deep_tree import DeepTree, deepen
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.instances import brute_force, knapsack_of


def tight(seed: int, queries: int = 12) -> SetUnionKnapsack:
    """Return a knapsack of a few shared elements, of which about half fit: weights are whole, tenths or anything."""
    random = np.random.default_rng(seed)
    elements = int(random.integers(5, 14))
    rows = [set(random.choice(elements, random.integers(1, 5), replace=False).tolist()) for _ in range(queries)]
    whole = random.integers(1, 12, elements)
    weight = [whole * 1.0, whole * 0.1, random.random(elements) + 0.01][seed % 3]
    share = random.uniform(0.2, 0.8)
    priority = random.integers(1, 11, queries) * (1.0 if seed % 2 else 0.5)
    return knapsack_of(rows, weight.tolist(), priority.tolist(), share * float(weight.sum()))


@cache
def most(seed: int) -> float:
    """Return what the best choice of :func:`tight` is worth."""
    return brute_force(tight(seed))


def tree_of(knapsack: SetUnionKnapsack, price: float = 1.0, unit: float = 0.5) -> DeepTree:
    return DeepTree(knapsack, unit, np.zeros(knapsack.queries, dtype=np.bool_), price)


@pytest.mark.parametrize("seed", range(examples(200)))
def test_equals_brute_force(seed: int) -> None:
    knapsack = tight(seed)
    tree = tree_of(knapsack, price=(0.0, 0.3, 50.0)[seed % 3])
    deepen(tree, Budget(60.0))
    assert not tree.nodes
    assert knapsack.fits(tree.queries)
    assert tree.value == pytest.approx(most(seed))
    assert tree.bound == tree.value


@pytest.mark.parametrize("nodes", [0, 1, 2, 5])
def test_the_bound_holds_wherever_it_stops(nodes: int) -> None:
    for seed in range(examples(40)):
        tree = tree_of(tight(seed))
        deepen(tree, Budget(60.0, nodes))
        assert tree.bound >= most(seed) - 1e-9


def test_more_nodes_never_raise_the_bound_or_lower_the_value() -> None:
    knapsack = tight(5, queries=60)
    tree = tree_of(knapsack)
    bounds, values = [], []
    for _ in range(8):
        deepen(tree, Budget(60.0, 3))
        bounds.append(tree.bound)
        values.append(tree.value)
    assert bounds == sorted(bounds, reverse=True)
    assert values == sorted(values)


def test_a_wrong_bound_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    settle = residual_nodes.settle

    def too_small(*given: object) -> float:
        return float(0.8 * settle(*given))

    monkeypatch.setattr(residual_nodes, "settle", too_small)
    wrong = 0
    for seed in range(examples(40)):
        tree = tree_of(tight(seed))
        deepen(tree, Budget(60.0, 0))
        wrong += tree.bound < most(seed) - 1e-9
    assert wrong > 0


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_to_run_decide_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fast, plain = tree_of(tight(seed, queries=20)), tree_of(tight(seed, queries=20))
    deepen(fast, Budget(60.0, 6))
    for module, name in ((residual_nodes, "expand"), (residual_nodes, "settle"), (residual_flow, "set_price")):
        monkeypatch.setattr(module, name, getattr(module, name).plain)
    deepen(plain, Budget(60.0, 6))
    assert (fast.bound, fast.value, fast.made) == (plain.bound, plain.value, plain.made)
    assert (fast.queries == plain.queries).all()


def test_stopping_and_going_on_gives_the_same_tree() -> None:
    knapsack = tight(8, queries=60)
    once, twice = tree_of(knapsack), tree_of(knapsack)
    deepen(once, Budget(60.0, 20))
    deepen(twice, Budget(60.0, 20))
    assert (once.bound, once.value, once.made) == (twice.bound, twice.value, twice.made)
    assert (once.queries == twice.queries).all()


def test_a_capacity_that_holds_nothing_or_everything() -> None:
    for capacity, value in ((0.0, 0.0), (100.0, 6.0)):
        knapsack = knapsack_of([{0}, {0, 1}, {2}], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], capacity)
        tree = tree_of(knapsack)
        deepen(tree, Budget(60.0))
        assert tree.bound == tree.value == value
