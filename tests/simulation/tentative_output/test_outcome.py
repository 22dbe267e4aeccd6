"""Which records still arrive, what accuracy is, and how measures are ranked: against counting by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.simulation.tentative_output.outcome import MeasurePrediction, QueryShape, accuracy, best_by, prediction

JOIN = QueryShape(
    {"speeds": 4, "incidents": 2, "jams": 2, "report": 1},
    {"locations": ("speeds", "jams", "report"), "reports": ("incidents", "jams", "report")},
    4,
)


@given(st.data())
def test_a_lane_lives_where_every_task_on_its_way_does(data: st.DataObject) -> None:
    lanes = data.draw(st.integers(1, 12))
    operators = {name: data.draw(st.integers(1, lanes), label=name) for name in "abc"}
    streams = {"left": ("a", "c"), "right": ("b", "c")}
    replicated = {
        name: np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
        for name, count in operators.items()
    }
    live = QueryShape(operators, streams, lanes).live(replicated)
    for stream, way in streams.items():
        for lane in range(lanes):
            assert live[stream][lane] == all(replicated[o][lane * operators[o] // lanes] for o in way)


def test_a_join_loses_a_lane_of_one_stream_only() -> None:
    replicated = {name: np.ones(count, dtype=np.bool_) for name, count in JOIN.operators.items()}
    replicated["speeds"][1] = False
    live = JOIN.live(replicated)
    assert live["locations"].tolist() == [True, False, True, True]
    assert live["reports"].all()


def test_accuracy_is_of_all_windows_together() -> None:
    assert accuracy(np.array([[3, 0], [4, 1], [0, 0]]), np.array([4, 1])).tolist() == [0.6, 1.0, 0.0]
    assert accuracy(np.array([[0, 0]]), np.array([0, 0])).tolist() == [1.0]


def _tau_b(x: list[float], y: list[float]) -> float:
    """Kendall's tau-b by its definition, over all pairs."""
    pairs = list(itertools.combinations(range(len(x)), 2))
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in pairs]
    unlike = [sum(1 for s in signs if s[side] != 0) for side in (0, 1)]
    return float(sum(a * b for a, b in signs) / math.sqrt(unlike[0] * unlike[1]))


def _rho(x: list[float], y: list[float]) -> float:
    """Spearman's rho: Pearson's correlation of mean ranks."""
    ranks = [[sum(v < w for v in side) + (side.count(w) + 1) / 2 for w in side] for side in (x, y)]
    return float(np.corrcoef(*ranks)[0, 1])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
def test_rank_correlations_follow_their_definitions(points: list[tuple[int, int]]) -> None:
    x, y = [p[0] / 5 for p in points], [p[1] / 5 for p in points]
    stated = prediction("output_fidelity", x, y)
    assert stated.error == pytest.approx(sum(abs(a - b) for a, b in zip(x, y, strict=True)) / len(x))
    assert stated.bias == pytest.approx((sum(x) - sum(y)) / len(x), abs=1e-12)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert stated.spearman is None
        assert stated.kendall is None
    else:
        assert stated.spearman == pytest.approx(_rho(x, y))
        assert stated.kendall == pytest.approx(_tau_b(x, y))


def test_rounding_errors_are_no_ranks() -> None:
    stated = prediction("output_fidelity", [0.3, 0.1 + 0.2, 0.5], [0.2, 0.2, 0.4])
    assert (stated.spearman, stated.kendall) == (pytest.approx(1.0), pytest.approx(1.0))


def test_of_two_sets_no_rank_is_told() -> None:
    assert prediction("output_fidelity", [0.1, 0.9], [0.2, 0.8]).spearman is None


def test_the_best_measures_may_tie_and_unknown_ones_are_left_out() -> None:
    stated = [
        MeasurePrediction("a", 0.9, 0.7, 0.1, 0.0),
        MeasurePrediction("b", 0.9, 0.8, 0.2, 0.0),
        MeasurePrediction("c", None, None, 0.1, 0),
    ]
    assert best_by(stated, "spearman") == ("a", "b")
    assert best_by(stated, "kendall") == ("b",)
    assert best_by(stated, "error") == ("a", "c")
    assert best_by(stated[2:], "kendall") == ()
