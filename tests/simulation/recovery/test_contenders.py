"""What is random in a simulated recovery: by run and name, and as plans expect it on average."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from ftplan.model.cluster import Node
from ftplan.model.failure import Arrival, planned_times
from ftplan.simulation.recovery.contenders import arrival_times, checkpoint_age_s, uniform

ALIKE = tuple(Arrival((120.0, 360.0), Node(f"r{i}", 4.0)) for i in (10, 2, 1))


def test_numbers_are_uniform_and_independent_by_name() -> None:
    drawn = {name: [uniform(7, run, name) for run in range(4000)] for name in ("a", "b")}
    for values in drawn.values():
        assert kstest(values, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(drawn["a"], drawn["b"])[0, 1]) < 0.05
    assert uniform(7, 3, "a") == drawn["a"][3] != uniform(8, 3, "a")


def test_alike_nodes_come_in_the_order_of_their_ids_and_on_average_when_plans_expect_them() -> None:
    drawn = np.array([arrival_times(ALIKE, 0, run) for run in range(4000)])
    assert (drawn[:, 2] <= drawn[:, 1]).all()
    assert (drawn[:, 1] <= drawn[:, 0]).all()
    assert drawn.mean(axis=0) == pytest.approx(planned_times(ALIKE), rel=0.01)
    assert kstest((drawn.ravel() - 120.0) / 240.0, "uniform").pvalue > 0.01
    assert arrival_times(ALIKE, 0, None) == planned_times(ALIKE)


@given(st.integers(0, 5), st.integers(0, 50), st.permutations(range(4)))
def test_a_node_draws_the_same_whatever_else_arrives(seed: int, run: int, order: Any) -> None:
    """Sizes differ, so that nobody is alike: then each time depends on seed, run and id alone."""
    arrivals = [Arrival((10.0 * i, 10.0 * i + 100.0), Node(f"r{i}", 1.0 + i)) for i in range(4)]
    alone = [arrival_times([item], seed, run)[0] for item in arrivals]
    assert arrival_times([arrivals[i] for i in order], seed, run) == [alone[i] for i in order]
    for time, item in zip(alone, arrivals, strict=True):
        assert item.at_s[0] <= time <= item.at_s[1]


def test_the_age_of_a_checkpoint() -> None:
    assert checkpoint_age_s(10.0, 0.5, 0.1, 0, None) == pytest.approx(5.0)
    ages = np.array([checkpoint_age_s(10.0, 0.5, 0.001, 0, run) for run in range(4000)])
    assert kstest(ages / 10.0, "uniform").pvalue > 0.01
    for share in (0.0, 0.3, 0.85, 1.0):
        assert checkpoint_age_s(10.0, share, 0.001, 0, None) == pytest.approx(10.0 * share)
        drawn = np.array([checkpoint_age_s(10.0, share, 0.001, 0, run) for run in range(4000)])
        assert drawn.mean() == pytest.approx(10.0 * share, abs=0.1)
        assert 0.0 <= drawn.min() <= drawn.max() <= 10.0
    coarse = checkpoint_age_s(10.0, 0.5, 0.4, 0, 3) / 0.4
    assert coarse == pytest.approx(round(coarse))
