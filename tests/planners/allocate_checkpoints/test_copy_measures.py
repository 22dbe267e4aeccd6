"""Node loads, overload and usable copies against loops that follow the definitions word by word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.cluster import Cluster, Node
from ftplan.model.measures.correlation import adjusted, node_sums
from ftplan.model.measures.node_load import NodeLoad, capacity_of, node_load
from ftplan.model.statistics import KeyGroupSeries
from ftplan.planners.allocate_checkpoints.copy_measures import overloaded_windows, usable_windows


def random_case(seed: int) -> tuple[np.ndarray, np.ndarray, NodeLoad]:
    rng = np.random.default_rng(seed)
    windows, groups, nodes = rng.integers(1, 6), rng.integers(1, 7), rng.integers(1, 5)
    loads = rng.integers(0, 10, (windows, groups)).astype(float)
    home = rng.integers(0, nodes, groups)
    capacity = rng.integers(1, 25, nodes).astype(float)
    return loads, home, NodeLoad(node_sums(loads, home, nodes), capacity, 0.75)


@given(st.integers(0, 2**32 - 1))
def test_usable_windows_are_what_the_definition_says(seed: int) -> None:
    loads, home, nodes = random_case(seed)
    found = usable_windows(loads, home, nodes)
    for g in range(loads.shape[1]):
        for i in range(nodes.load.shape[1]):
            count = 0
            for w in range(loads.shape[0]):
                totals = [
                    sum(loads[w, h] for h in range(loads.shape[1]) if home[h] == n) for n in range(len(nodes.capacity))
                ]
                hot = totals[home[g]] > 0.75 * nodes.capacity[home[g]]
                count += bool(hot and i != home[g] and totals[i] + loads[w, g] <= 0.75 * nodes.capacity[i])
            assert found[g, i] == count
            assert found[g, i] <= overloaded_windows(home, nodes)[g]


def test_usable_windows_counts_beyond_a_byte() -> None:
    """One node is overloaded in all of 700 windows, the other never, and has room in all but 90 of them."""
    loads = np.ones((700, 3))
    loads[:, 2] = np.where(np.arange(700) < 90, 5.0, 0.0)
    nodes = NodeLoad(node_sums(loads, np.array([0, 0, 1]), 2), np.array([1.0, 4.0]), 1.0)
    assert usable_windows(loads, np.array([0, 0, 1]), nodes).tolist() == [[0, 610], [0, 610], [0, 0]]


def test_default_capacity_means_seventy_percent() -> None:
    loads = np.array([[6.0, 2.0], [2.0, 4.0]])
    series = KeyGroupSeries(
        ("a",), np.zeros(2, np.int64), np.arange(2), loads, "records", 10.0, np.full(2, np.nan), np.zeros(2, bool)
    )
    cluster = Cluster((Node("n1", 1.0), Node("n2", 3.0)))
    found = node_load(loads, 10.0, np.array([0, 1]), cluster, capacity_of(series, cluster), 0.85)
    assert found.load.sum() / 2 / found.capacity.sum() == pytest.approx(0.7)
    assert found.capacity[1] == pytest.approx(3 * found.capacity[0])
    by_core = node_load(loads, 10.0, np.array([0, 1]), cluster, 0.5, 0.85)
    assert by_core.capacity.tolist() == [5.0, 15.0]
    assert by_core.overloaded.tolist() == [[True, False], [False, False]]


def test_shares_sum_to_one_and_residuals_to_zero() -> None:
    rng = np.random.default_rng(1)
    loads = rng.integers(0, 9, (72, 5)).astype(float)
    loads[3] = 0
    shares = adjusted(loads, 3600.0, "share")
    assert np.allclose(shares.sum(axis=1)[loads.sum(axis=1) > 0], 1)
    assert not shares[3].any()
    rest = adjusted(loads, 3600.0, "residual")
    assert np.allclose(rest.reshape(3, 24, 5).sum(axis=0), 0)
    assert adjusted(loads, 3600.0, "raw") is loads
    daily = np.tile(rng.random((24, 2)), (3, 1))
    assert not adjusted(daily, 3600.0, "residual").any()
