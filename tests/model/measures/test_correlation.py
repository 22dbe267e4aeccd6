"""Correlations, costs and the objective against numpy's own correlation matrix."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Node
from ftplan.model.measures import correlation
from ftplan.model.measures.correlation import expected_random, standardised, strongest_pairs
from ftplan.model.statistics import KeyGroupSeries
from ftplan.planners.allocate_checkpoints.copy_measures import checkpoint_balance
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective, objective_costs, objective_value
from ftplan.planners.allocate_checkpoints.rules import fair_shares


def series_of(loads: np.ndarray) -> KeyGroupSeries:
    groups = loads.shape[1]
    return KeyGroupSeries(
        ("agg",),
        np.zeros(groups, dtype=np.int64),
        np.arange(groups),
        loads,
        "records",
        60.0,
        np.full(groups, np.nan),
        np.zeros(groups, dtype=bool),
    )


def nodes(count: int) -> Cluster:
    return Cluster(tuple(Node(f"n{i}", 1.0) for i in range(count)))


def cost_matrix(loads: np.ndarray, home: np.ndarray, count: int) -> np.ndarray:
    return objective_costs(CheckpointObjective(), loads, 60.0, home, nodes(count))


def objective(plan: list[dict[str, Any]], series: KeyGroupSeries) -> float:
    return objective_value(CheckpointObjective(), plan, series, nodes(4))


def correlations(loads: np.ndarray) -> np.ndarray:
    """Pearson's matrix by numpy, 0 where a series is constant."""
    constant = loads.max(axis=0) == loads.min(axis=0)
    with np.errstate(all="ignore"):
        matrix = np.atleast_2d(np.corrcoef(loads.T))
    matrix[constant, :] = 0
    matrix[:, constant] = 0
    return matrix


tables = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, 5, size=(6, 7)).astype(float)
)


@settings(max_examples=100, deadline=None)
@given(tables)
def test_cost_is_the_definition(loads: np.ndarray) -> None:
    home = np.array([0, 1, 2, 0, 1, 2, 2])
    expected = np.zeros((7, 4))
    matrix = correlations(loads)
    for g, h in itertools.product(range(7), repeat=2):
        expected[g, home[h]] += loads[:, g].mean() * matrix[g, h]
    cost = cost_matrix(loads, home, 4)
    assert cost == pytest.approx(expected, abs=1e-9)
    assert np.all(cost[:, 3] == 0)

    copies = [(g, node) for g in range(7) for node in range(4) if node != home[g]][::2]
    plan = [
        {
            "operator": "agg",
            "key_group": g,
            "primary": f"n{home[g]}",
            "checkpoints": [f"n{node}" for h, node in copies if h == g],
        }
        for g in range(7)
    ]
    value = objective(plan, series_of(loads))
    assert value == pytest.approx(sum(expected[g, node] for g, node in copies), abs=1e-9)
    assert objective(plan[::-1], series_of(loads)) == value


def test_constant_is_decided_by_max_and_min_not_by_rounding_noise() -> None:
    """0.1 summed ten times has a variance of rounding noise: still no correlation."""
    loads = np.column_stack([np.full(10, 0.1), np.arange(10.0), -2.0 * np.arange(10.0) + 40])
    z = standardised(loads)
    assert np.all(z[:, 0] == 0)
    assert z[:, 1] @ z[:, 2] == pytest.approx(-1)
    huge = standardised(np.column_stack([np.arange(5.0) * 1e200, np.arange(5.0) * 1e-200]))
    assert huge[:, 0] @ huge[:, 1] == pytest.approx(1)


def test_no_windows() -> None:
    assert cost_matrix(np.zeros((0, 3)), np.array([0, 0, 1]), 2).tolist() == [[0, 0]] * 3
    assert objective([], series_of(np.zeros((0, 3)))) == 0


def test_expected_random_is_the_mean_over_all_plans() -> None:
    loads = np.random.default_rng(3).gamma(2, 3, size=(8, 3))
    home, accepts = np.array([0, 1, 3]), np.array([True, True, True, False])
    cost = cost_matrix(loads, home, 4)
    for copies in (1, 2):
        choices = [[s for s in itertools.combinations(range(3), copies) if home[g] not in s] for g in range(3)]
        values = [sum(cost[g, i] for g, s in enumerate(plan) for i in s) for plan in itertools.product(*choices)]
        assert expected_random(cost, home, accepts, copies) == pytest.approx(np.mean(values))


@pytest.mark.parametrize("block", [8, 1 << 22])
@pytest.mark.parametrize("k", [0, 1, 5, 100])
def test_strongest_pairs(monkeypatch: pytest.MonkeyPatch, block: int, k: int) -> None:
    """The same pairs as from the whole matrix, whatever the block; ties by name."""
    monkeypatch.setattr(correlation, "BLOCK", block)
    loads = np.random.default_rng(5).integers(0, 3, size=(4, 12)).astype(float)
    matrix = np.round(correlations(loads), 12)
    pairs = sorted((matrix[g, h], g, h) for g, h in itertools.combinations(range(12), 2))
    negative, positive = strongest_pairs(series_of(loads), k)
    expected = [p for p in pairs if p[0] < 0][:k]
    assert [(p.first[1], p.second[1]) for p in negative] == [(g, h) for _, g, h in expected]
    assert [p.correlation for p in negative] == pytest.approx([c for c, _, _ in expected])
    expected = sorted((-c, g, h) for c, g, h in pairs if c > 0)[:k]
    assert [(p.first[1], p.second[1]) for p in positive] == [(g, h) for _, g, h in expected]


def test_a_malformed_plan_is_the_users_mistake() -> None:
    with pytest.raises(FtplanError, match=r"plan\.assignments\[0\]"):
        objective([{"operator": "agg"}], series_of(np.ones((2, 2))))


def test_balance() -> None:
    cluster = Cluster((Node("n1", 1.0), Node("n2", 3.0), Node("n3", 4.0, accepts=frozenset(("tasks",)))))
    assert fair_shares(cluster).tolist() == [0.25, 0.75, 0]
    plan = [
        {"operator": "agg", "key_group": 0, "primary": "n1", "checkpoints": ["n2"]},
        {"operator": "agg", "key_group": 1, "primary": "n2", "checkpoints": ["n1"]},
    ]
    found = checkpoint_balance(plan, cluster, series_of(np.array([[1.0, 2.0], [3.0, 2.0]])))
    assert found.load.tolist() == [2, 2, 0]
    assert found.count.tolist() == [1, 1, 0]
    assert found.fair_load.tolist() == [1, 3, 0]
    assert found.largest_deviation == 1.0
