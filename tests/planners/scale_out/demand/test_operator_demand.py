"""What operators are offered, whatever reaches them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.measured_tasks import measured_groups, measured_tasks
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, FloatArray, Substreams, Topology
from ftplan.planners.scale_out.demand.operator_demand import (
    demand_statistic,
    look_back,
    measured_flows,
    operator_demand,
    steady,
)
from tests.effort import examples
from tests.model.measures.measured_cases import WINDOW_S, measured, tables
from tests.topologies import operator

NAN = math.nan


def _job(*ids: str, edges: Sequence[str] | None = None, **fields: dict[str, Any]) -> TaskGraph:
    """Return operators of one task whose edges join them in a row, or as listed (``ab``)."""
    pairs = pairwise(ids) if edges is None else edges
    at = {name: i for i, name in enumerate(ids)}
    return TaskGraph(
        Topology(
            tuple(operator(name, 1, **fields.get(name, {})) for name in ids),
            tuple(Edge(at[pair[0]], at[pair[1]], "full") for pair in pairs),
        )
    )


def _demand(graph: TaskGraph, statistics: dict[str, Any], window: slice = slice(0, 10**6)) -> FloatArray:
    """Return the demand in records per window."""
    stats = tables(statistics)
    found = measured_tasks(graph, stats, measured_groups(graph, stats))
    flows = measured_flows(graph, stats, found, window)
    return operator_demand(graph, found, flows.flows, stats.manifest.window_s) * WINDOW_S


@settings(max_examples=examples(60))
@given(
    offered=st.lists(st.integers(1_000, 10**6), min_size=1, max_size=6),
    selectivities=st.lists(st.sampled_from([0.1, 0.5, 1.0, 2.0, 7.0]), min_size=1, max_size=4),
    speeds=st.lists(st.sampled_from([0.05, 0.25, 0.5, 0.9, 1.0]), min_size=5, max_size=5),
)
def test_demand_below_a_throttled_operator_is_what_the_sources_offer(
    offered: list[int], selectivities: list[float], speeds: list[float]
) -> None:
    """Each operator processes only a part of what reaches it, the source too; what it does not read waits."""
    ids = [f"o{i}" for i in range(len(selectivities) + 1)]
    rows: list[tuple[Any, ...]] = []
    lag = 0.0
    for window, rate in enumerate(offered):
        passed = rate * speeds[0]
        lag += rate - passed
        rows.append(("o0", 0, window, 0.0, passed, None, None, None, lag))
        for i, selectivity in enumerate(selectivities):
            processed = passed * speeds[i + 1]
            passed = processed * selectivity
            rows.append((f"o{i + 1}", 0, window, processed, passed))
    demand = _demand(_job(*ids), measured(ids, tasks=rows, windows=len(offered)))
    expected = np.array([offered[0] * speeds[0], *offered[1:]])  # how long the queue was before is not known
    for i in range(len(ids)):
        assert demand[i] == pytest.approx(expected * math.prod(selectivities[: max(0, i - 1)]))


def test_selectivities_come_from_substreams_then_counters_then_the_topology() -> None:
    """Operator ``b`` reads 100 records and writes 30, of which substreams carry 20 to ``c``, and ``d`` reads 55.

    What it writes is no measure of either edge, as engines count it over both.
    """
    graph = _job("a", "b", "c", "d", edges=["ab", "bc", "bd"], b={"selectivity": 9.0})
    rows = [("a", 0, 0, 0.0, 100.0), ("b", 0, 0, 100.0, 30.0), ("c", 0, 0, 25.0), ("d", 0, 0, 55.0)]
    carried = [("b", 0, "c", 0, 0, 20.0)]
    every = measured("abcd", tasks=rows, substreams=carried, windows=1)
    assert _demand(graph, every).ravel().tolist() == pytest.approx([100, 100, 20, 55])
    assert _demand(graph, measured("abcd", tasks=rows, windows=1)).ravel().tolist() == pytest.approx([100, 100, 25, 55])
    chain = _job("a", "b", "c", edges=["ab", "bc"])
    assert _demand(chain, measured("abc", tasks=rows[:3], windows=1)).ravel().tolist() == pytest.approx([100, 100, 30])
    silent = [rows[0], ("b", 0, 0, 100.0), *rows[2:]]
    for left, expected in (
        (silent, [100, 100, 25, 55]),
        (silent[:2], [100, 100, 900, 900]),
    ):
        assert _demand(graph, measured("abcd", tasks=left, windows=1)).ravel().tolist() == pytest.approx(expected)


def test_an_output_that_is_counted_edge_by_edge_divides_as_it_came() -> None:
    """``b`` counts 100 written records: 90 to ``c``, a fifth of which still waits there, and 10 to ``d``."""
    graph = _job("b", "c", "d", edges=["bc", "bd"], b={"rate_out": 1.0})
    rows = [("b", 0, w, 0.0, 100.0) for w in (0, 1)]
    rows += [("c", 0, w, 72.0, None, None, None, None, 18.0 * w) for w in (0, 1)] + [("d", 0, w, 10.0) for w in (0, 1)]
    demand = _demand(graph, measured("bcd", tasks=rows), slice(1, 2))
    assert demand[:, 1].tolist() == pytest.approx([100.0, 90.0, 10.0])
    one = np.zeros(1, dtype=np.int64)
    stated = replace(graph.topology.edges[1], substreams=Substreams(one, one, np.full(1, 0.2)))
    known = Topology(graph.topology.operators, (graph.topology.edges[0], stated))
    alone = _demand(TaskGraph(known), measured("bcd", tasks=rows[:2]))
    assert alone[:, 1].tolist() == pytest.approx([100.0, 100.0, 20.0])


def test_a_join_whose_counters_do_not_tell_them_apart_takes_the_topology() -> None:
    graph = _job("a", "b", "j", edges=["aj", "bj"])
    rows = [("a", 0, 0, 40.0), ("b", 0, 0, 10.0), ("j", 0, 0, 25.0)]
    assert _demand(graph, measured("abj", tasks=rows, windows=1)).ravel().tolist() == pytest.approx([40, 10, 50])


def test_records_of_an_operator_stand_in_where_nothing_is_known_before_it() -> None:
    graph = _job("a", "b", "c", "d", edges=["ab", "bc", "dc"], b={"key_groups": 2}, d={"rate_out": 5.0})
    groups = [("b", 0, 0, 60.0), ("b", 1, 0, 30.0), ("b", 1, 1, 10.0)]
    rows = [("c", 0, 0, 45.0, 1.0, None, None, None, 100.0), ("c", 0, 1, 5.0, 1.0, None, None, None, 180.0)]
    demand = _demand(graph, measured("abcd", tasks=rows, key_groups=groups))
    assert np.isnan(demand[0]).all()
    assert demand[1].tolist() == pytest.approx([90.0, 10.0])
    assert demand[2].tolist() == pytest.approx([45.0, 5.0 + 80.0])  # nothing is known of d but what it states
    assert demand[3].tolist() == pytest.approx([5.0 * WINDOW_S] * 2)


def test_selectivities_reach_over_operators_without_statistics() -> None:
    """Nothing is known of ``b`` but that ``c`` after it gets, or keeps waiting, two records for each of ``a``."""
    rows = [("a", 0, w, 0.0, 100.0 * (w + 1)) for w in range(3)]
    rows += [("c", 0, w, 100.0 * (w + 1), None, None, None, None, 50.0 * (w + 1) * (w + 2)) for w in range(3)]
    demand = _demand(_job("a", "b", "c"), measured("abc", tasks=rows, windows=3), slice(1, 3))
    assert demand[:, 1:].tolist() == [pytest.approx([200.0, 300.0])] * 2 + [pytest.approx([400.0, 600.0])]


def test_selectivities_are_those_of_the_look_back() -> None:
    rows = [("a", 0, w, 0.0, 10.0) for w in range(4)] + [("b", 0, w, 10.0, 5.0 * (w + 1)) for w in range(4)]
    graph = _job("a", "b", "c")
    demand = _demand(graph, measured("abc", tasks=rows, windows=4), slice(2, 4))
    assert demand[2].tolist() == pytest.approx([17.5] * 4)


@pytest.mark.parametrize("window_s", [7.0, 10.0, 25.0, 60.0, 3600.0])
def test_bursts_below_a_minute_are_evened_out(window_s: float) -> None:
    demand = np.array([np.random.default_rng(1).uniform(0, 1e4, 30), np.full(30, NAN)])
    count = math.ceil(60.0 / window_s)
    expected = [demand[0, max(0, w + 1 - count) : w + 1].mean() for w in range(30)]
    ours, unknown = steady(demand, window_s)
    assert ours == pytest.approx(expected)
    assert np.isnan(unknown).all()


def test_statistics_of_demand() -> None:
    demand = np.array([[9.0, 1.0, 2.0, 3.0, 4.0], [NAN] * 5])
    for which, expected in {"peak": 4.0, "mean": 2.5, "p0": 1.0, "p50": 2.5, "p100": 4.0}.items():
        value, unknown = demand_statistic(demand, which, slice(1, 5)).tolist()
        assert value == pytest.approx(expected)
        assert math.isnan(unknown)


@pytest.mark.parametrize(
    ("windows", "seconds", "expected"),
    [(10, 0.0, 1), (10, 60.0, 1), (10, 61.0, 2), (10, 120.0, 2), (10, 1e9, 10), (1, 86_400.0, 1)],
)
def test_look_back_in_windows(windows: int, seconds: float, expected: int) -> None:
    part = look_back(windows, 60.0, seconds)
    assert (part.stop, part.stop - part.start) == (windows, expected)
