"""Sub-topologies, full or structured, and the units of the structured ones ([SuZhou2016], section IV-C)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, Edge


@dataclass(frozen=True, slots=True)
class TopologyPart:
    """Operators, by position in the topology, that are planned by one of the paper's algorithms."""

    operators: tuple[int, ...]
    full: bool


def decompose(graph: TaskGraph) -> tuple[TopologyPart, ...]:
    """Return the sub-topologies, in the order of their first operator by id; neighbours meet at full edges only.

    All full edges are cut. What still hangs together by an edge is structured; operators left alone that touch each
    other by full edges are full together.
    """
    # Departure: the paper walks depth first from the sink and takes the type of the first operator it meets. That can
    # separate neighbours at an edge that is not full (A one-to-one B full C full D gives {A} and {B, C, D}).
    edges = graph.topology.edges
    structured = _connected(graph, [edge for edge in edges if edge.partitioning != "full"])
    alone = {part[0] for part in structured if len(part) == 1}
    between = [edge for edge in edges if edge.source in alone and edge.target in alone]
    full = [part for part in _connected(graph, between) if part[0] in alone]
    parts = [TopologyPart(part, False) for part in structured if len(part) > 1] + [TopologyPart(p, True) for p in full]
    return tuple(sorted(parts, key=lambda part: int(graph.offset[part.operators[0]])))


def units(graph: TaskGraph, part: TopologyPart) -> tuple[tuple[int, ...], ...]:
    """Return the units of a structured sub-topology: within one, MC-trees ("segments") do not multiply.

    A merge is cut where a split can be reached from it inside the sub-topology, or where it enters a join.
    """
    # Departure: the paper cuts a merge only where its operator's own output is a split, and so misses a merge, a
    # one-to-one and a split in a row: from 4 over 2 and 2 to 4 tasks, 8 trees instead of 4.
    members = set(part.operators)
    inner = [e for e in graph.topology.edges if e.partitioning != "full" and {e.source, e.target} <= members]
    splits = dict.fromkeys(members, False)
    for i in reversed(graph.order):
        if i in members:
            splits[i] = any(_widens(graph, e) or splits[e.target] for e in graph.out_edges[i] if e in inner)
    joins = {i for i in members if graph.topology.operators[i].inputs == "correlated"}
    kept = [e for e in inner if not (_narrows(graph, e) and (splits[e.target] or e.target in joins))]
    return tuple(unit for unit in _connected(graph, kept) if unit[0] in members)


def anchors(graph: TaskGraph) -> BoolArray:
    """Return the tasks that name a segment, shape (tasks,): every segment of every unit has one.

    In a unit that is a chain of splits, then merges, entered at its first operator and left at its last, each segment
    passes one task of the widest operator. Elsewhere, and in full sub-topologies, every task names the best segment
    through it.
    """
    named = np.zeros(graph.tasks, dtype=np.bool_)
    for part in decompose(graph):
        for unit in [part.operators] if part.full else units(graph, part):
            chain = not part.full and _is_chain(graph, unit)
            for i in [_widest(graph, unit)] if chain else unit:
                named[graph.slice_of(i)] = True
    return named


def _widest(graph: TaskGraph, unit: Iterable[int]) -> int:
    return max(unit, key=lambda i: (graph.topology.operators[i].parallelism, -int(graph.offset[i])))


def _is_chain(graph: TaskGraph, unit: tuple[int, ...]) -> bool:
    """Return whether plain partitionings lead through the unit one way only, from its first to its last operator."""
    inside = [e for e in graph.topology.edges if e.source in unit and e.target in unit]
    if any(e.substreams is not None or e.partitioning == "full" for e in inside) or len(inside) != len(unit) - 1:
        return False
    ends = [e.source for e in inside], [e.target for e in inside]
    if any(len(set(end)) < len(end) for end in ends):
        return False
    entered = [i for i in unit if len(graph.in_edges[i]) > (i in ends[1])]
    left = [i for i in unit if graph.topology.operators[i].output or len(graph.out_edges[i]) > (i in ends[0])]
    return not set(entered) & set(ends[1]) and not set(left) & set(ends[0])


def _narrows(graph: TaskGraph, edge: Edge) -> bool:
    """Return whether some task gets several substreams of an edge."""
    return _repeats(graph, edge, 1)


def _widens(graph: TaskGraph, edge: Edge) -> bool:
    """Return whether some task sends several substreams on an edge."""
    return _repeats(graph, edge, 0)


def _repeats(graph: TaskGraph, edge: Edge, end: int) -> bool:
    pairs = graph.pairs(edge)
    return pairs is None or (len(pairs[end]) > 0 and int(np.bincount(pairs[end]).max()) > 1)


def _connected(graph: TaskGraph, edges: Iterable[Edge]) -> list[tuple[int, ...]]:
    """Return the operators grouped by these edges, each group and all groups by operator id."""
    root = list(range(len(graph.topology.operators)))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for edge in edges:
        root[find(edge.source)] = find(edge.target)
    groups: dict[int, list[int]] = defaultdict(list)
    for i in graph.by_id:
        groups[find(i)].append(i)
    return [tuple(group) for group in groups.values()]
