"""Key-aligned fidelity: the example, its relation to output fidelity, and what always holds."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.metrics.fidelity import fidelity_model
from ftplan.metrics.key_aligned_fidelity import key_aligned_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Partitioning, Topology
from tests.topologies import operator, topologies


def diamond(tasks: int, sink: int) -> TaskGraph:
    """A feeds B and C one-to-one; D joins them."""
    made = [operator(name, tasks) for name in "abc"] + [operator("d", sink, inputs="correlated", output=True)]
    last: Partitioning = "one-to-one" if sink == tasks else "merge"
    edges = (Edge(0, 1, "one-to-one"), Edge(0, 2, "one-to-one"), Edge(1, 3, last), Edge(2, 3, last))
    return TaskGraph(Topology(tuple(made), edges))


def test_half_of_a_shared_source_is_lost_once() -> None:
    graph = diamond(2, 1)
    live = np.array([False] + [True] * 6)
    assert fidelity_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 4)
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 2)


def test_streams_that_lack_different_keys_have_none_in_common() -> None:
    """The one way to lie below output fidelity."""
    graph = diamond(2, 1)
    live = np.array([True, True, False, True, True, False, True])
    assert fidelity_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 4)
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == 0.0


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_equals_a_walk_over_keys(tasks: int, sink: int, data: st.DataObject) -> None:
    """One key for each slice: a join has it if both sides do."""
    sink = min(tasks, sink)
    graph = diamond(tasks, sink)
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    a, b, c, d = live[:tasks], live[tasks : 2 * tasks], live[2 * tasks : 3 * tasks], live[3 * tasks :]
    kept = sum(bool(a[k] and b[k] and c[k] and d[k * sink // tasks]) for k in range(tasks))
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(kept / tasks)


@given(topologies(), st.data())
def test_in_range_monotone_and_whole(topology: Topology, data: st.DataObject) -> None:
    graph = TaskGraph(topology)
    model = key_aligned_model(graph, rates(graph))
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    more = live | np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    assert -1e-12 <= model.fidelity(live) <= model.fidelity(more) + 1e-9
    assert model.fidelity(np.ones(graph.tasks, dtype=np.bool_)) == pytest.approx(1.0)


@given(topologies(), st.data())
def test_equals_output_fidelity_without_joins(topology: Topology, data: st.DataObject) -> None:
    graph = TaskGraph(Topology(tuple(replace(o, inputs="independent") for o in topology.operators), topology.edges))
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    expected = fidelity_model(graph, rates(graph)).fidelity(live)
    assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 6), st.data())
def test_above_output_fidelity_where_only_the_shared_source_fails(tasks: int, data: st.DataObject) -> None:
    graph = diamond(tasks, 1)
    live = np.ones(graph.tasks, dtype=np.bool_)
    live[:tasks] = [data.draw(st.booleans()) for _ in range(tasks)]
    assert key_aligned_model(graph, rates(graph)).fidelity(live) >= fidelity_model(graph, rates(graph)).fidelity(live)


def test_ten_thousand_tasks() -> None:
    graph = diamond(3_000, 1_000)
    live = np.ones(graph.tasks, dtype=np.bool_)
    live[:1_500] = False
    tracemalloc.start()
    try:
        assert key_aligned_model(graph, rates(graph)).fidelity(live) == pytest.approx(1 / 2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3_000**2  # less than a byte for each pair of tasks
