"""What statistics say at a glance, and how far to trust them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftplan
from ftplan.model.measures.key_group_series import key_group_series
from ftplan.model.measures.stats_summary import gini, summarise, trust_warnings
from tests.planners.plan_cases import SMALL


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8))
def test_gini_is_the_mean_difference(loads: list[int]) -> None:
    """Half the mean absolute difference of all pairs, relative to the mean."""
    values = np.array(loads, dtype=np.float64)
    pairs = np.abs(values[:, None] - values[None, :]).mean()
    expected = pairs / (2 * values.mean()) if values.any() else 0.0
    assert gini(values) == pytest.approx(expected)


def test_gini_of_nothing() -> None:
    assert gini(np.zeros(0)) == 0.0


def test_the_summary_adds_up() -> None:
    stats = ftplan.load(topology=SMALL / "topology.yaml", stats=SMALL / "stats").stats
    assert stats is not None
    series = key_group_series(stats, "records")
    summary = summarise(series, stats.manifest, top=3)
    assert summary.overall["key_groups"] == 12 == sum(item["key_groups"] for item in summary.operators)
    assert sum(item["share"] for item in summary.operators) == pytest.approx(1.0)
    loads = [item["mean_load"] for item in summary.heaviest]
    assert loads == sorted(series.mean_load.tolist(), reverse=True)[:3]
    assert [len(pairs) for pairs in (summary.negative, summary.positive)] == [3, 3]
    document = summary.to_dict()
    assert document["heaviest_key_groups"] == summary.heaviest
    assert document["warnings"] == [] == list(summary.warnings)


def test_what_is_not_to_be_trusted() -> None:
    stats = ftplan.load(topology=SMALL / "topology.yaml", stats=SMALL / "stats").stats
    assert stats is not None
    series = key_group_series(stats, "records")
    few = replace(stats.manifest, coverage=0.25, end=stats.manifest.start + timedelta(hours=10))
    spread = replace(series, estimated=np.arange(len(series.estimated)) < 2)
    none = replace(series, estimated=series.estimated[:0])
    assert [w.code for w in trust_warnings(few, spread)] == [
        "SHORT_TRACE", "FEW_WINDOWS", "LOW_COVERAGE", "ESTIMATED_STATISTICS",
    ]  # fmt: skip
    assert [w.code for w in trust_warnings(stats.manifest, none)] == ["NO_KEY_GROUPS"]
    assert trust_warnings(stats.manifest) == []
