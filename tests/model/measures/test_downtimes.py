"""Metrics of a whole repair on cases that can be added up by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.model.measures.downtimes import Downtimes, fidelity_time
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from tests.topologies import operator


def outages(*rows: tuple[int, float, float, float]) -> Downtimes:
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return Downtimes(columns[0].astype(np.int64), columns[1], columns[2], columns[3])


def test_a_query_that_fails_twice_counts_twice() -> None:
    found = outages((1, 2.0, 0.0, 10.0), (1, 2.0, 30.0, 45.0), (2, 1.0, 0.0, 20.0))
    assert found.priority_time(100.0) == 2 * 10 + 2 * 15 + 20
    assert found.queries_back(100.0) == 2
    assert found.first_back_s(100.0) == 10.0
    assert found.last_back_s(100.0) == 45.0


def test_times_are_cut_at_the_horizon() -> None:
    found = outages((1, 3.0, 0.0, np.inf), (2, 1.0, 0.0, 80.0), (3, 1.0, 60.0, 90.0), (4, 1.0, 0.0, 5.0))
    assert found.priority_time(50.0) == 3 * 50 + 50 + 0 + 5
    assert found.queries_back(50.0) == 2
    assert found.last_back_s(50.0) is None
    assert outages().priority_time(50.0) == 0.0
    assert outages().last_back_s(50.0) is None


def test_outages_as_arrays() -> None:
    """The priority of each is that of its task; what does not come back is back at no time."""
    found = Downtimes.of([(2, 0.0, 10.0), (0, 5.0, None)], np.array([1.0, 2.0, 3.0]))
    assert found.priority.tolist() == [3.0, 1.0]
    assert found.back_s.tolist() == [10.0, np.inf]
    assert found.down_at(5.0).tolist() == [True, True]
    assert found.down_at(10.0).tolist() == [False, True]
    assert len(Downtimes.of([], np.ones(3)).query) == 0


def test_fidelity_counts_partly_whole_queries() -> None:
    """Two sources of rate 1 and 3 feed one output; it loses what its dead source would send."""
    graph = TaskGraph(
        Topology((operator("a", 2, rate_out=[1.0, 3.0]), operator("b", 1, output=True)), (Edge(0, 1, "full"),))
    )
    model = fidelity_model(graph, rates(graph))
    live = np.zeros(3, dtype=np.bool_)
    changes = {
        (30.0, True): [graph.number("a", 0)],
        (10.0, True): [graph.number("a", 1)],
        (20.0, True): [graph.number("b", 0)],
        (40.0, False): [graph.number("a", 1)],
        (90.0, True): [graph.number("a", 1)],
    }
    assert fidelity_time(model, live, changes, 50.0) == pytest.approx(10 * 0.75 + 10 * 1.0 + 10 * 0.25)
    assert not live.any()


def test_many_times_are_rounded_up() -> None:
    graph = TaskGraph(Topology((operator("a", 5000, output=True),), ()))
    model = fidelity_model(graph, rates(graph))
    changes = {(i / 50, True): [i] for i in range(5000)}
    exact = sum(100 - i / 50 for i in range(5000)) / 5000
    found = fidelity_time(model, np.zeros(5000, dtype=np.bool_), changes, 100.0)
    assert exact - 0.1 <= found <= exact
