"""Fairness degrees: by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.planners.scale_out.metrics import fairness_degree, mean_fairness, needed_cores


def test_needed_cores_are_those_of_whole_tasks() -> None:
    use = np.array([0.0, 0.7, 0.71, 2.1, np.nan])
    assert needed_cores(use, 0.7, 2.0).tolist()[:4] == [2.0, 2.0, 4.0, 6.0]
    assert np.isnan(needed_cores(use, 0.7, 2.0)[4])


def test_integrals_by_hand() -> None:
    """Demand doubles twice; the operator keeps its 2 cores: 6 of the 2 + 4 + 8 that it needed."""
    needed = np.array([2.0, 4.0, 8.0])
    assert fairness_degree(2.0, needed) == pytest.approx(6 / 14)
    assert fairness_degree(np.array([2.0, 4.0, 4.0]), needed) == pytest.approx(10 / 14)
    assert fairness_degree(8.0, needed) == 1.0
    assert fairness_degree(2.0, np.array([2.0, np.nan, 6.0])) == 0.5
    assert fairness_degree(2.0, np.array([np.nan])) is None


def test_mean_over_bottlenecks() -> None:
    assert mean_fairness([0.5, None, 1.0]) == 0.75
    assert mean_fairness([None]) is None


@given(st.lists(st.floats(0.1, 100.0), min_size=1, max_size=8), st.integers(1, 9), st.integers(0, 9))
def test_more_tasks_are_never_less_fair(use: list[float], tasks: int, more: int) -> None:
    needed = needed_cores(np.array(use), 0.7, 0.5)
    before, after = fairness_degree(tasks * 0.5, needed), fairness_degree((tasks + more) * 0.5, needed)
    assert before is not None
    assert after is not None
    assert 0.0 < before <= after <= 1.0
