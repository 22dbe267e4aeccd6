"""Cycles of a job: found, told and cut."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from ftplan.model.names import NaturalKey, natural_key

Pair = tuple[str, str]
#: Weight of an edge that is cut: one edge, 1 if it leads away from the sources, its records/s.
Weight = tuple[int, int, float]

#: Operators of a strongly connected component whose fewest cuts are found exactly: 2^12 subsets.
_EXACT = 12
#: Operators of one whose shortest cycle is looked for; of a larger one any cycle is told.
_SEARCHED = 300
_SHOWN = 8


def cycles(pairs: Sequence[Pair]) -> list[list[str]]:
    """Return a shortest cycle of each strongly connected component, as a path whose last operator is its first.

    Paths begin with the operator that is first in natural order; components follow in the order of these.
    """
    graph = _graph(pairs)
    return sorted((_shortest(graph.subgraph(part)) for part in _cyclic(graph)), key=lambda path: natural_key(path[0]))


def feedback(pairs: Sequence[Pair], rate: Mapping[Pair, float]) -> list[Pair]:
    """Return edges without which there is no cycle, in natural order.

    They are the fewest where a component has at most 12 operators; of equally many those that lead back towards the
    sources, then those that carry least, then by name as text. In larger components operators are put in a line by the
    greedy rule of Eades, Lin and Smyth, with the distance from the sources for its ties, and edges that lead back are
    cut.
    """
    graph = _graph(pairs)
    depth = _depths(graph)
    cut: list[Pair] = [pair for pair in graph.edges if pair[0] == pair[1]]
    for part in _cyclic(graph):
        names = sorted(part)
        weight: dict[Pair, Weight] = {
            (a, b): (1, int(depth[b] > depth[a]), rate.get((a, b), 0.0))
            for a, b in graph.subgraph(part).edges
            if a != b
        }
        line = _least(names, weight) if len(names) <= _EXACT else _greedy(names, weight, depth)
        place = {name: i for i, name in enumerate(line)}
        cut += [pair for pair in weight if place[pair[0]] > place[pair[1]]]
    return sorted(cut, key=_order)


def shown(path: Sequence[str]) -> str:
    """Return a path in a message, its middle left out where it is long."""
    if len(path) > _SHOWN + 2:
        path = [*path[: _SHOWN - 1], f"… {len(path) - _SHOWN} more …", path[-1]]
    return " -> ".join(path)


def _order(pair: Sequence[Any]) -> tuple[NaturalKey, NaturalKey]:
    return natural_key(pair[0]), natural_key(pair[1])


def _graph(pairs: Sequence[Pair]) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from(sorted(set(pairs), key=_order))
    return graph


def _cyclic(graph: nx.DiGraph[str]) -> list[set[str]]:
    """Return the strongly connected components that hold a cycle, in natural order of their first operators."""
    parts = [
        part for part in nx.strongly_connected_components(graph) if len(part) > 1 or graph.has_edge(*(2 * [*part]))
    ]
    return sorted(parts, key=lambda part: min(map(natural_key, part)))


def _shortest(graph: nx.DiGraph[str]) -> list[str]:
    best: list[str] | None = None
    if len(graph) > _SEARCHED:
        edges = [source for source, _ in nx.find_cycle(graph)]
        start = min(range(len(edges)), key=lambda i: natural_key(edges[i]))
        return [*edges[start:], *edges[: start + 1]]
    for name in sorted(graph, key=natural_key):
        if graph.has_edge(name, name):
            return [name, name]
        for successor in sorted(graph.successors(name), key=natural_key):
            path = [name, *nx.shortest_path(graph, successor, name)]
            if best is None or len(path) < len(best):
                best = path
        if best is not None and len(best) == 3:
            break
    assert best is not None
    return best


def _depths(graph: nx.DiGraph[str]) -> dict[str, int]:
    """Return the least number of edges from an operator without inputs; where none leads there, more than any."""
    sources = [name for name, count in graph.in_degree() if count == 0]
    depth = dict.fromkeys(graph, len(graph))
    for level, layer in enumerate(nx.bfs_layers(graph, sources)):
        depth.update(dict.fromkeys(layer, level))
    return depth


def _least(names: Sequence[str], weight: Mapping[Pair, Weight]) -> list[str]:
    """Return an order in which the edges that lead back weigh least, of equal ones the first by names.

    Dynamic programming over the sets of operators that stand before, 2^n steps of n each.
    """
    place = {name: i for i, name in enumerate(names)}
    back: list[list[tuple[int, Weight]]] = [[] for _ in names]
    for (a, b), value in weight.items():
        back[place[a]].append((1 << place[b], value))
    whole = (1 << len(names)) - 1
    rest: list[Weight] = [(0, 0, 0.0)] * (whole + 1)
    first = [0] * (whole + 1)
    for before in range(whole - 1, -1, -1):
        best: Weight | None = None
        for k in range(len(names)):
            if before >> k & 1:
                continue
            total = rest[before | 1 << k]
            for mask, value in back[k]:
                if before & mask:
                    total = (total[0] + value[0], total[1] + value[1], total[2] + value[2])
            if best is None or total < best:
                best, first[before] = total, k
        assert best is not None
        rest[before] = best
    line, before = [], 0
    while before != whole:
        line.append(names[first[before]])
        before |= 1 << first[before]
    return line


def _greedy(names: Sequence[str], weight: Mapping[Pair, Weight], depth: Mapping[str, int]) -> list[str]:
    """Return an order of operators: those that only send to the left, those that only receive to the right.

    O(E log E), with a heap in which old entries of an operator stay until they come up.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(weight)
    place = {name: i for i, name in enumerate(names)}

    def rank(name: str) -> tuple[bool, bool, int, int, int]:
        """Sinks first, then sources, then what sends most beyond what it receives, then what is nearest to a source."""
        sends, receives = graph.out_degree(name), graph.in_degree(name)
        return sends > 0, receives > 0, receives - sends, depth[name], place[name]

    heap = [rank(name) for name in names]
    heapq.heapify(heap)
    left: list[str] = []
    right: list[str] = []
    while heap:
        entry = heapq.heappop(heap)
        name = names[entry[-1]]
        if name not in graph or entry != rank(name):
            continue
        (left if entry[0] else right).append(name)
        near = {*graph.predecessors(name), *graph.successors(name)}
        graph.remove_node(name)
        for other in near:
            heapq.heappush(heap, rank(other))
    return left + right[::-1]
