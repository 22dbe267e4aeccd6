"""Traffic between zones: pair by pair of key groups and tasks, on small jobs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.measures.zone_traffic import key_group_shares, zone_traffic
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, IntArray, Substreams, Topology
from tests.topologies import operator

MB = 2**20
ZONE = np.array([0, 0, 1, 2])  # of four nodes
BYTES = {"a": 100.0, "b": 200.0, "c": 1000.0}


class Job(NamedTuple):
    """A chain of three operators, where its tasks and key groups are, and records of each key group."""

    graph: TaskGraph
    task_node: IntArray
    home: IntArray
    records: Any


def edge(source: int, target: int, *streams: tuple[int, int, float]) -> Edge:
    """Return an edge with measured substreams."""
    senders, receivers, rates = zip(*streams, strict=True) if streams else ((), (), ())
    ends = (np.array(ends, dtype=np.int64) for ends in (senders, receivers))
    return Edge(source, target, "full", Substreams(*ends, np.array(rates, dtype=np.float64)))


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """Draw chains whose operators have key groups or none."""
    sizes = [draw(st.integers(1, 3)) for _ in "abc"]
    groups = [draw(st.none() | st.integers(1, 5)) for _ in "abc"]
    operators = tuple(
        operator(name, size, key_groups=count) for name, size, count in zip("abc", sizes, groups, strict=True)
    )
    edges = []
    for source, target in ((0, 1), (1, 2), (0, 2)):
        pairs = [(i, j) for i in range(sizes[source]) for j in range(sizes[target])]
        streams = draw(st.lists(st.sampled_from(pairs), unique=True))
        edges.append(edge(source, target, *((i, j, draw(st.floats(0.0, 1e4))) for i, j in streams)))
    graph, total = TaskGraph(Topology(operators, tuple(edges))), sum(count or 0 for count in groups)
    nodes = st.integers(0, len(ZONE) - 1)
    return Job(
        graph,
        np.array([draw(nodes) for _ in range(graph.tasks)], dtype=np.int64),
        np.array([draw(nodes) for _ in range(total)], dtype=np.int64),
        np.array([draw(st.sampled_from([0.0, 1.0, 7.5])) for _ in range(total)], dtype=np.float64),
    )


def parts(job: Job) -> dict[tuple[str, int], list[tuple[int | None, float, int]]]:
    """Return (key group or None, share, zone) of the parts of each task."""
    held: dict[tuple[str, int], list[tuple[int | None, float, int]]] = {}
    first = 0
    for item in job.graph.topology.keyed_operators:
        owners = [g * item.parallelism // (item.key_groups or 1) for g in range(item.key_groups or 0)]
        for task in set(owners):
            mine = [first + g for g, owner in enumerate(owners) if owner == task]
            total = sum(job.records[g] for g in mine)
            held[item.id, task] = [
                (g, job.records[g] / total if total else 1 / len(mine), int(ZONE[job.home[g]])) for g in mine
            ]
        first += len(owners)
    for item in job.graph.topology.operators:
        for task in range(item.parallelism):
            here = int(ZONE[job.task_node[job.graph.number(item.id, task)]])
            held.setdefault((item.id, task), [(None, 1.0, here)])
    return held


def brute_force(job: Job, group: int, zone: int) -> float:
    """Return what crosses zones with a key group moved to a zone and nothing else."""
    total, of_task, operators = 0.0, parts(job), job.graph.topology.operators
    for item in job.graph.topology.edges:
        source, target = operators[item.source].id, operators[item.target].id
        assert item.substreams is not None
        streams = (
            part.tolist() for part in (item.substreams.from_index, item.substreams.to_index, item.substreams.rate)
        )
        for i, j, rate in zip(*streams, strict=True):
            for sender, sent, from_zone in of_task[source, int(i)]:
                for receiver, taken, to_zone in of_task[target, int(j)]:
                    if group in (sender, receiver):
                        other = to_zone if sender == group else from_zone
                        total += rate * sent * taken * BYTES[target] / MB * (other != zone)
    return total


@given(jobs())
def test_it_is_what_every_pair_exchanges(job: Job) -> None:
    shares = key_group_shares(job.graph, job.home, job.records)
    traffic = zone_traffic(job.graph, shares, job.task_node, ZONE, BYTES)
    expected = [[brute_force(job, group, zone) for zone in range(3)] for group in range(len(job.home))]
    assert traffic.left_out == ()
    assert traffic.mb_s == pytest.approx(np.array(expected, dtype=float).reshape(len(job.home), 3), abs=1e-9)


def test_by_hand() -> None:
    """a/0 in zone 0 sends 3 MB/s to b/0, whose groups 0 and 1, in zones 1 and 2, have 1/3 and 2/3 of its records."""
    operators = (operator("a", 1), operator("b", 1, key_groups=2), operator("c", 1))
    graph = TaskGraph(Topology(operators, (edge(0, 1, (0, 0, 3 * MB)), edge(1, 2, (0, 0, 6 * MB)))))
    shares = key_group_shares(graph, np.array([2, 3]), np.array([1.0, 2.0]))
    traffic = zone_traffic(graph, shares, np.array([0, 0, 3]), ZONE, {"b": 1.0, "c": 1.0})
    # from a: 1 and 2 MB/s, but in zone 0; to c in zone 2: 2 and 4 MB/s, but there
    assert traffic.mb_s.tolist() == pytest.approx(np.array([[2.0, 3.0, 1.0], [4.0, 6.0, 2.0]]))


def test_edges_that_nobody_measured_sized_or_placed_do_not_count() -> None:
    operators = (operator("a", 2), operator("b", 1, key_groups=2), operator("c", 1), operator("d", 1))
    edges = (Edge(0, 1, "full"), edge(1, 2, (0, 0, 5.0)), edge(1, 3, (0, 0, 5.0)), Edge(0, 2, "full"))
    graph = TaskGraph(Topology(operators, edges))
    shares = key_group_shares(graph, np.array([2, 3]), np.array([1.0, 2.0]))
    traffic = zone_traffic(graph, shares, np.array([0, 0, 0, 1, -1]), ZONE, {"b": 1.0, "d": 1.0})
    # that of tasks without key groups is none of theirs
    assert traffic.left_out == edges[:3]
    assert not traffic.mb_s.any()
