"""What knobs of a topology ask for is there; networkx is the judge of shapes."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.topology import topology
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology

SHAPES = ("tree", "chain", "diamond", "layers", "dag")


def made(**knobs: Any) -> Topology:
    return topology(TopologyKnobs(**knobs))


def graph_of(made: Topology) -> nx.DiGraph[int]:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(made.operators)))
    graph.add_edges_from((edge.source, edge.target) for edge in made.edges)
    assert graph.number_of_edges() == len(made.edges)
    return graph


@given(
    shape=st.sampled_from(SHAPES),
    operators=st.integers(3, 30),
    outputs=st.integers(1, 4),
    width=st.integers(1, 5),
    fan_in=st.tuples(st.integers(1, 3), st.integers(3, 6)),
    seed=st.integers(0, 1000),
)
@settings(max_examples=150, deadline=None)
def test_shapes(shape: str, operators: int, outputs: int, width: int, fan_in: tuple[int, int], seed: int) -> None:
    assume(outputs < operators and (outputs == 1 or shape in ("tree", "layers", "dag")))
    topology = made(shape=shape, operators=(operators,) * 2, outputs=outputs, width=width, fan_in=fan_in, seed=seed)
    graph = graph_of(topology)
    assert len(topology.operators) == operators
    assert nx.is_directed_acyclic_graph(graph)
    ends = {i for i in graph if graph.out_degree(i) == 0}
    assert ends == {i for i, operator in enumerate(topology.operators) if operator.output}
    assert len(ends) == outputs
    if shape == "tree":
        assert all(graph.out_degree(i) <= 1 for i in graph)
        assert nx.number_weakly_connected_components(graph) == outputs
    elif shape == "chain":
        assert nx.is_path(graph, range(operators))
    elif shape == "diamond":
        arms = range(1, operators - 1)
        assert set(graph.edges) == {(0, i) for i in arms} | {(i, operators - 1) for i in arms}
    elif shape == "dag":
        inner = operators - outputs
        assert all(graph.in_degree(i) >= min(fan_in[0], i, inner) for i in graph)
    else:
        assert nx.dag_longest_path_length(graph) == -(-(operators - outputs) // width)


@given(st.integers(0, 10_000), st.sampled_from(SHAPES))
@settings(max_examples=80, deadline=None)
def test_parallelism_and_partitioning(seed: int, shape: str) -> None:
    topology = made(seed=seed, shape=shape, operators=(5, 12), parallelism=(2, 7), full=0.5)
    assert 5 <= len(topology.operators) <= 12
    assert all(2 <= operator.parallelism <= 7 for operator in topology.operators)
    structured = {edge.partitioning for edge in made(seed=seed, shape=shape, parallelism=(2, 7)).edges}
    assert "full" not in structured
    assert {edge.partitioning for edge in made(seed=seed, shape=shape, full=1.0).edges} <= {"full"}


def test_shares_are_met_on_average() -> None:
    """400 topologies: the shares that knobs ask for, within four standard errors."""
    topologies = [made(seed=seed, operators=(10, 10), joins=0.3, full=0.4, stateful=0.7) for seed in range(400)]
    operators = [operator for item in topologies for operator in item.operators]
    edges = [edge for item in topologies for edge in item.edges]
    for got, asked, count in (
        (np.mean([o.inputs == "correlated" for o in operators]), 0.3, len(operators)),
        (np.mean([o.state_bytes.any() for o in operators]), 0.7, len(operators)),
        (np.mean([e.partitioning == "full" for e in edges]), 0.4, len(edges)),
    ):
        assert abs(got - asked) <= 4.0 * np.sqrt(asked * (1.0 - asked) / count)


@pytest.mark.parametrize("zipf", [0.0, 0.1, 0.5, 1.0, 2.0])
def test_the_skew_is_recovered(zipf: float) -> None:
    """The slope of loads over ranks, on logarithmic scales, is the exponent."""
    topology = made(shape="chain", tasks=(50, 50), zipf=zipf)
    for load in (topology.operators[0].rate_out, topology.operators[1].input_share):
        assert load is not None
        slope = np.polyfit(np.log(np.arange(1, 51)), np.log(np.sort(load)[::-1]), 1)[0]
        assert slope == pytest.approx(-zipf, abs=1e-9)


def test_costs_follow_the_load_or_are_alike() -> None:
    by_load, alike = (made(shape="chain", tasks=(20, 20), zipf=0.8, costs=costs) for costs in ("load", "operator"))
    for operator in by_load.operators:
        load = operator.rate_out if operator.rate_out is not None else operator.input_share
        assert load is not None
        assert np.allclose(operator.cpu / operator.cpu.mean(), load / load.mean(), rtol=1e-3)
        assert np.corrcoef(operator.state_bytes, load)[0, 1] > 0.999
    for operator in alike.operators:
        assert len(set(operator.cpu.tolist())) == len(set(operator.state_bytes.tolist())) == 1
        assert 0.1 <= operator.cpu[0] <= 0.5
        assert 1e6 <= operator.state_bytes[0] <= 1e8


@given(st.integers(0, 1000), st.sampled_from(("layers", "dag", "diamond")), st.floats(0.5, 2.0))
@settings(max_examples=60, deadline=None)
def test_no_shape_multiplies_records(seed: int, shape: str, selectivity: float) -> None:
    """What the outputs receive is what the sources read, by the selectivities on the way."""
    topology = made(seed=seed, shape=shape, selectivity=(selectivity, selectivity), width=1, fan_in=(1, 1))
    graph = TaskGraph(topology)
    flows = rates(graph)
    leaving = np.bincount([edge.source for edge in topology.edges], minlength=len(topology.operators))
    sources = [(o.rate_out, leaving[i]) for i, o in enumerate(topology.operators) if o.rate_out is not None]
    read = sum(load.sum() * max(1, edges) for load, edges in sources)
    depth = max(graph.depth)
    low, high = sorted((selectivity**depth, 1.0))
    assert 0.99 * low * read <= flows.into[graph.output].sum() <= 1.01 * high * read


@pytest.mark.parametrize("rule", ["one", "uniform", "zipf", "load"])
def test_priorities(rule: str) -> None:
    topology = made(parallelism=(10, 10), priority=rule, priorities=(2.0, 8.0), zipf=1.0, seed=4)
    for operator in topology.operators:
        if not operator.output or rule == "one":
            assert (operator.priority == 1.0).all()
            continue
        assert ((operator.priority >= 2.0) & (operator.priority <= 8.0)).all()
        if rule == "zipf":
            ranked = np.maximum(2.0, 8.0 / np.arange(1, 11))
            assert np.sort(operator.priority)[::-1] == pytest.approx(ranked)
        if rule == "load":
            assert operator.input_share is not None
            assert np.corrcoef(operator.priority, operator.input_share)[0, 1] == pytest.approx(1.0)
        if rule == "uniform":
            assert (operator.priority % 1.0 == 0.0).all()


def test_more_operators_keep_the_first() -> None:
    """A tree of more operators begins with the tree of fewer: sizes extend an experiment, and do not replace it."""
    small, large = (made(operators=(n, n), same_parallelism=0.0) for n in (10, 40))
    assert [(e.source, e.target) for e in large.edges][:9] == [(e.source, e.target) for e in small.edges]
    assert large.task_count > 2 * small.task_count


def test_queries_share_tasks_as_asked() -> None:
    topology = made(shape="queries", queries=30, query_tasks=(6, 9), largest_share=4, seed=2)
    graph = TaskGraph(topology)
    queries = np.flatnonzero(graph.output)
    assert len(queries) == 30
    members = np.array([graph.upstream(np.arange(graph.tasks) == query) for query in queries])
    assert 6 <= members.sum(axis=1).min() <= members.sum(axis=1).max() <= 9
    assert members.sum(axis=0).max() <= 4


@pytest.mark.parametrize("zipf", [0.0, 0.8])
def test_tasks_are_shared_by_rank(zipf: float) -> None:
    topology = made(shape="shared-tasks", queries=4000, pool=200, query_tasks=(4, 4), share_zipf=zipf, cpu=(1.0, 1.0))
    stream = topology.edges[0].substreams
    assert stream is not None
    assert len(stream.rate) == 4 * 4000
    share = np.sort(np.bincount(stream.from_index, minlength=200))[::-1]
    slope = np.polyfit(np.log(np.arange(5, 101)), np.log(share[4:100]), 1)[0]
    assert slope == pytest.approx(-zipf, abs=0.15)
