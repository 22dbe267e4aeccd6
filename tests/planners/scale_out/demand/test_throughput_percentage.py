"""Effective throughput percentages, by hand after Stela's definition, and by networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from ftplan.planners.scale_out.demand.operator_demand import throughput_percentages
from tests.effort import examples
from tests.topologies import operator, topologies


def test_by_hand() -> None:
    """Three sinks put out 100, 300 and 600 records/s; ``b`` and ``e`` are congested.

    ``a`` reaches ``s1`` by ``c``, but ``s2`` and ``s3`` only through ``b`` and ``e``; ``b`` reaches ``s2`` by ``d``,
    and ``s3`` only through ``e``; ``e`` itself lets through to ``s3``. Two ways from ``a`` to ``s1`` count once.
    """
    ids = ["a", "b", "c", "d", "e", "s1", "s2", "s3"]
    edges = ["ab", "ac", "bd", "be", ("c", "s1"), ("a", "s1"), ("d", "s2"), ("e", "s3")]
    at = {name: i for i, name in enumerate(ids)}
    flows = dict.fromkeys(ids, 0.0) | {"s1": 100.0, "s2": 300.0, "s3": 600.0, "a": 5_000.0}
    graph = TaskGraph(
        Topology(
            tuple(operator(name, 1, output=name.startswith("s")) for name in ids),
            tuple(Edge(at[source], at[target], "full") for source, target in edges),
        )
    )
    congested = np.array([name in "be" for name in ids])
    percentages = throughput_percentages(graph, congested, np.array(list(flows.values())))
    expected = {"a": 0.1, "b": 0.3, "c": 0.1, "d": 0.3, "e": 0.6, "s1": 0.1, "s2": 0.3, "s3": 0.6}
    assert dict(zip(ids, percentages.tolist(), strict=True)) == pytest.approx(expected)
    assert not throughput_percentages(graph, congested, np.zeros(8)).any()


@settings(max_examples=examples(100))
@given(topologies(operators=7), st.data())
def test_sinks_are_those_that_networkx_reaches_without_congestion(topology: Topology, data: st.DataObject) -> None:
    count = len(topology.operators)
    congested = np.array([data.draw(st.booleans()) for _ in range(count)])
    throughput = np.array([data.draw(st.sampled_from([0.0, 1.0, 10.0, 100.0])) for _ in range(count)])
    known = nx.DiGraph()
    known.add_nodes_from(range(count))
    known.add_edges_from((edge.source, edge.target) for edge in topology.edges)
    sinks = {i for i in range(count) if topology.operators[i].output}
    total = sum(throughput[i] for i in sinks)
    percentages = throughput_percentages(TaskGraph(topology), congested, throughput)
    for i in range(count):
        clear = known.subgraph([j for j in range(count) if j == i or not congested[j]])
        reached = sinks & (nx.descendants(clear, i) | {i})
        assert percentages[i] == pytest.approx(sum(throughput[j] for j in reached) / total if total else 0.0)
