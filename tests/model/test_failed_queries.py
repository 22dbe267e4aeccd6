"""Which failed tasks each query waits for, against networkx on the graph with every task written out."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.measures.downtimes import whole_from
from ftplan.model.names import Selector
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, Edge, Topology
from tests.topologies import topologies

Task = tuple[str, int]


def pairs(edge: Edge, senders: int, receivers: int) -> Iterator[tuple[int, int]]:
    """The substreams of an edge, from the words of the file format."""
    if edge.partitioning == "full":
        yield from ((i, j) for i in range(senders) for j in range(receivers))
    elif edge.substreams is not None:
        yield from zip(edge.substreams.from_index.tolist(), edge.substreams.to_index.tolist(), strict=True)
    elif senders >= receivers:
        yield from ((i, i * receivers // senders) for i in range(senders))
    else:
        yield from ((j * senders // receivers, j) for j in range(receivers))


def written_out(topology: Topology) -> nx.DiGraph:
    """The graph of all tasks."""
    found: nx.DiGraph = nx.DiGraph()
    for operator in topology.operators:
        found.add_nodes_from((operator.id, i) for i in range(operator.parallelism))
    for edge in topology.edges:
        source, target = topology.operators[edge.source], topology.operators[edge.target]
        for i, j in pairs(edge, source.parallelism, target.parallelism):
            found.add_edge((source.id, i), (target.id, j))
    return found


def needs(topology: Topology, failed: set[Task]) -> dict[Task, set[Task]]:
    """The failed tasks of each failed query."""
    graph = written_out(topology)
    found = {}
    for operator in topology.operators:
        for task in ((operator.id, i) for i in range(operator.parallelism) if operator.output):
            missing = (nx.ancestors(graph, task) | {task}) & failed
            if missing:
                found[task] = missing
    return found


@st.composite
def failures(draw: st.DrawFn) -> tuple[Topology, set[Task]]:
    topology = draw(topologies())
    tasks = [(o.id, i) for o in topology.operators for i in range(o.parallelism)]
    return topology, {task for task in tasks if draw(st.booleans())}


def failed_tasks(graph: TaskGraph, failed: set[Task]) -> BoolArray:
    flags = np.zeros(graph.tasks, dtype=np.bool_)
    for operator, index in failed:
        flags[graph.number(operator, index)] = True
    return flags


def by_name(graph: TaskGraph, found: FailedQueries) -> dict[Task, set[Task]]:
    """The same as :func:`needs`, out of what was traced."""
    answer: dict[Task, set[Task]] = {}
    for row, query in enumerate(found.query.tolist()):
        bundles = np.zeros(found.bundles, dtype=np.bool_)
        bundles[found.members(row)] = True
        answer[graph.name(query)] = set(graph.names(found.tasks_of(bundles)))
    return answer


@given(failures())
def test_each_query_waits_for_its_failed_ancestors(case: tuple[Topology, set[Task]]) -> None:
    topology, failed = case
    graph = TaskGraph(topology)
    found = failed_queries(graph, failed_tasks(graph, failed))
    expected = needs(topology, failed)
    assert by_name(graph, found) == expected
    needed = set[Task]().union(*expected.values())
    assert set(graph.names(found.task)) == needed
    assert set(graph.names(found.needless)) == failed - needed


@given(failures())
def test_bundles_are_the_tasks_with_the_same_queries(case: tuple[Topology, set[Task]]) -> None:
    topology, failed = case
    graph = TaskGraph(topology)
    found = failed_queries(graph, failed_tasks(graph, failed))
    groups: dict[frozenset[Task], set[Task]] = {}
    expected = needs(topology, failed)
    for task in set[Task]().union(*expected.values()):
        groups.setdefault(frozenset(query for query, tasks in expected.items() if task in tasks), set()).add(task)
    bundles = [found.tasks_of(np.arange(found.bundles) == b) for b in range(found.bundles)]
    assert sorted(sorted(graph.names(tasks)) for tasks in bundles) == sorted(map(sorted, groups.values()))
    sharing = {frozenset(graph.names(tasks)): int(found.sharing[b]) for b, tasks in enumerate(bundles)}
    assert sharing == {frozenset(tasks): len(queries) for queries, tasks in groups.items()}
    cost = graph.per_task("cpu")
    assert np.allclose(found.weight(cost), [cost[tasks].sum() for tasks in bundles])


@given(failures(), st.randoms(use_true_random=False))
def test_the_order_of_the_file_does_not_count(case: tuple[Topology, set[Task]], random: st.DataObject) -> None:
    topology, failed = case
    order = list(range(len(topology.operators)))
    random.shuffle(order)  # type: ignore[attr-defined]
    place = {old: new for new, old in enumerate(order)}
    edges = [Edge(place[e.source], place[e.target], e.partitioning, e.substreams) for e in topology.edges]
    random.shuffle(edges)  # type: ignore[attr-defined]
    shuffled = TaskGraph(Topology(tuple(topology.operators[i] for i in order), tuple(edges)))
    graph = TaskGraph(topology)
    a = failed_queries(graph, failed_tasks(graph, failed))
    b = failed_queries(shuffled, failed_tasks(shuffled, failed))
    for field in ("task", "bundle", "query", "start", "member", "needless"):
        assert getattr(a, field).tolist() == getattr(b, field).tolist()
    assert graph.topological_rank.tolist() == shuffled.topological_rank.tolist()


@given(failures(), failures())
def test_what_is_left_is_traced_anew(case: tuple[Topology, set[Task]], other: tuple[Topology, set[Task]]) -> None:
    """``without`` is the trace of the tasks that are still down, but for the division into bundles."""
    topology, failed = case
    graph = TaskGraph(topology)
    back = failed_tasks(graph, {task for i, task in enumerate(sorted(failed)) if (i + len(other[1])) % 2})
    flags = failed_tasks(graph, failed)
    left = failed_queries(graph, flags).without(back)
    again = failed_queries(graph, flags & ~back)
    assert by_name(graph, left) == by_name(graph, again)
    assert left.needless.tolist() == again.needless.tolist()
    assert left.task.tolist() == again.task.tolist()


@given(failures())
def test_a_query_is_whole_when_nothing_upstream_is_down(case: tuple[Topology, set[Task]]) -> None:
    """The checker passes times down the streams instead of tracing queries up: both agree."""
    topology, failed = case
    graph = TaskGraph(topology)
    flags = failed_tasks(graph, failed)
    latest = whole_from(graph, np.where(flags, np.inf, 0.0))
    down = {graph.name(task) for task in np.flatnonzero(graph.output & np.isinf(latest)).tolist()}
    assert down == set(needs(topology, failed))
    times = np.arange(graph.tasks, dtype=np.float64)
    latest = whole_from(graph, times)
    out = written_out(topology)
    for task in range(graph.tasks):
        upstream = nx.ancestors(out, graph.name(task)) | {graph.name(task)}
        assert latest[task] == max(graph.number(*name) for name in upstream)


@given(topologies())
def test_a_query_selects_its_task_and_all_upstream(topology: Topology) -> None:
    graph, out = TaskGraph(topology), written_out(topology)
    for task in range(graph.tasks):
        operator, index = graph.name(task)
        chosen = set(graph.names(np.flatnonzero(graph.selected(Selector("query", operator, index)))))
        assert chosen == nx.ancestors(out, (operator, index)) | {(operator, index)}


@given(topologies())
def test_operators_stand_behind_what_feeds_them(topology: Topology) -> None:
    graph = TaskGraph(topology)
    ids: nx.DiGraph = nx.DiGraph()
    ids.add_nodes_from(o.id for o in topology.operators)
    ids.add_edges_from((topology.operators[e.source].id, topology.operators[e.target].id) for e in topology.edges)
    expected = [id for generation in nx.topological_generations(ids) for id in sorted(generation)]
    assert [topology.operators[i].id for i in graph.order] == expected
    assert sorted(graph.topological_rank.tolist()) == list(range(graph.tasks))


def test_more_queries_than_are_traced_at_a_time() -> None:
    """Sets of queries span several parts; here three, with a boundary within an operator."""
    from ftplan.model import failed_queries as module
    from tests.topologies import operator

    topology = Topology(
        (operator("a", 2), operator("b", 130, output=True), operator("c", 70, output=True)),
        (Edge(0, 1, "split"), Edge(0, 2, "full")),
    )
    graph = TaskGraph(topology)
    flags = np.ones(graph.tasks, dtype=np.bool_)
    whole = failed_queries(graph, flags)
    before, module.QUERIES_AT_A_TIME = module.QUERIES_AT_A_TIME, 64
    try:
        parts = failed_queries(graph, flags)
    finally:
        module.QUERIES_AT_A_TIME = before
    assert by_name(graph, parts) == by_name(graph, whole)
    assert whole.sharing.max() == 65 + 70
