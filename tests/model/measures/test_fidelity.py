"""Output fidelity against the paper's example and against the rules taken word by word."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from tests.model.measures.slow_fidelity import slow_fidelity, slow_losses, slow_rates
from tests.topologies import operator, topologies


@pytest.mark.parametrize(("inputs", "loss"), [("correlated", 2 / 5), ("independent", 1 / 4)])
def test_figure_2(inputs: str, loss: float) -> None:
    """Two upstream operators with rates 1, 2 and 3, 2; the second task of the second one fails."""
    topology = Topology(
        (
            operator("a", 2, rate_out=[1.0, 2.0]),
            operator("b", 2, rate_out=[3.0, 2.0]),
            operator("c", 1, inputs=inputs, output=True),
        ),
        (Edge(0, 2, "full"), Edge(1, 2, "full")),
    )
    graph = TaskGraph(topology)
    live = np.ones(5, dtype=np.bool_)
    live[graph.number("b", 1)] = False
    model = fidelity_model(graph, rates(graph))
    assert 1 - model.intact(live)[graph.number("c", 0)] == pytest.approx(loss)
    assert model.fidelity(live) == pytest.approx(1 - loss)


@given(topologies())
def test_rates_follow_the_rules(topology: Topology) -> None:
    graph = TaskGraph(topology)
    found = rates(graph)
    out, into, _ = slow_rates(topology)
    for i, o in enumerate(topology.operators):
        for k in range(o.parallelism):
            assert found.out[graph.number(o.id, k)] == pytest.approx(out[i, k])
            assert found.into[graph.number(o.id, k)] == pytest.approx(into[i, k])


@given(topologies(), st.data())
def test_losses_follow_the_rules(topology: Topology, data: st.DataObject) -> None:
    graph = TaskGraph(topology)
    live = {(i, k): data.draw(st.booleans()) for i, o in enumerate(topology.operators) for k in range(o.parallelism)}
    flags = np.zeros(graph.tasks, dtype=np.bool_)
    for (i, k), alive in live.items():
        flags[graph.offset[i] + k] = alive
    model = fidelity_model(graph, rates(graph))
    losses = 1 - model.intact(flags)
    for (i, k), loss in slow_losses(topology, live).items():
        assert losses[graph.offset[i] + k] == pytest.approx(loss, abs=1e-12)
    assert model.fidelity(flags) == pytest.approx(slow_fidelity(topology, live), abs=1e-12)


@given(topologies())
def test_nothing_is_lost_while_all_live(topology: Topology) -> None:
    graph = TaskGraph(topology)
    assert fidelity_model(graph, rates(graph)).fidelity(np.ones(graph.tasks, dtype=np.bool_)) == pytest.approx(1.0)


def test_hundred_thousand_tasks_behind_full_edges() -> None:
    """Full edges between 20,000 and 20,000 tasks are never written out."""
    operators = tuple(operator(f"o{i}", 20_000, output=i == 4) for i in range(5))
    graph = TaskGraph(Topology(operators, tuple(Edge(i, i + 1, "full") for i in range(4))))
    live = np.ones(graph.tasks, dtype=np.bool_)
    live[::10] = False
    tracemalloc.start()
    try:
        fidelity = fidelity_model(graph, rates(graph)).fidelity(live)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000**2 / 4  # a byte for each pair of tasks of one edge would be four times as much
    assert fidelity == pytest.approx(0.9**5)


@given(topologies(), st.data())
def test_the_slope_is_what_one_failure_costs(topology: Topology, data: st.DataObject) -> None:
    """Without joins output fidelity is linear in each single task."""
    plain = Topology(tuple(replace(o, inputs="independent") for o in topology.operators), topology.edges)
    graph = TaskGraph(plain)
    model = fidelity_model(graph, rates(graph))
    live = np.array([data.draw(st.booleans()) for _ in range(graph.tasks)])
    intact = model.intact(live)
    slope = model.slope(live, intact)
    for task in np.flatnonzero(live).tolist():
        without = live.copy()
        without[task] = False
        assert model.fidelity(live) - model.fidelity(without) == pytest.approx(slope[task] * intact[task], abs=1e-9)


def test_the_slope_of_a_join_looks_at_its_other_streams() -> None:
    operators = (operator("a", 1), operator("b", 1), operator("c", 1, inputs="correlated", output=True))
    graph = TaskGraph(Topology(operators, (Edge(0, 2, "full"), Edge(1, 2, "full"))))
    model = fidelity_model(graph, rates(graph))
    live = np.array([False, True, True])
    assert model.slope(live, model.intact(live)).tolist() == [1.0, 0.0, 1.0]
