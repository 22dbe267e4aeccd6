"""The edges of a draft as a topology may have them: one between two operators, partitionings that fit, no cycle."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import networkx as nx

from ftplan.engines.importing.draft import Draft, DraftEdge, ImportOptions, Partitioning
from ftplan.errors import FtplanError
from ftplan.model.defaults import MAX_SUBSTREAMS
from ftplan.model.names import NaturalKey, listed, natural_key

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


#: Share by which an edge's measured rate and its sender's output may differ and still count as equal.
DIFFERS = 0.01


def merged(draft: Draft, ids: Mapping[str, str]) -> dict[Pair, DraftEdge]:
    """Return one edge for each two operators, with a partitioning that their parallelism allows."""
    tasks = {operator.key: operator.parallelism for operator in draft.operators}
    changed: dict[tuple[Partitioning, Partitioning], list[Pair]] = {}
    by_pair: dict[Pair, DraftEdge] = {}
    for edge in draft.edges:
        pair = edge.source, edge.target
        if edge.substreams is None and (rule := _valid(edge.partitioning, *(tasks[key] for key in pair))):
            changed.setdefault((edge.partitioning, rule), []).append(pair)
            edge = replace(edge, partitioning=rule)
        by_pair[pair] = _both(by_pair[pair], edge) if pair in by_pair else edge
    for (was, rule), pairs in changed.items():
        source, target = min(pairs)
        more = f" and {len(pairs) - 1} more" if len(pairs) > 1 else ""
        text = f"{ids[source]} -> {ids[target]}{more}: {was} does not fit the parallelism, {rule} is taken"
        draft.assume("PARTITIONING_CHANGED", text)
    return by_pair


def _valid(rule: Partitioning, upstream: int, downstream: int) -> Partitioning | None:
    """Return what an edge has to be instead, None where it may stay."""
    if rule == "full":
        return None
    if rule == "one-to-one":
        return None if upstream == downstream else "full"
    fits: Partitioning = "one-to-one" if upstream == downstream else "split" if upstream < downstream else "merge"
    return None if rule == fits else fits


def _both(one: DraftEdge, other: DraftEdge) -> DraftEdge:
    """Return two streams between the same operators as one."""
    if one.substreams is not None and other.substreams is not None:
        rate: dict[tuple[int, int], float] = {}
        for source, target, records in (*one.substreams, *other.substreams):
            rate[source, target] = rate.get((source, target), 0.0) + records
        return replace(one, substreams=[(a, b, rate[a, b]) for a, b in sorted(rate)])
    full = one.partitioning != other.partitioning or one.partitioning == "full"
    return replace(one, substreams=None, partitioning="full" if full else one.partitioning)


def acyclic(
    edges: dict[Pair, DraftEdge], draft: Draft, ids: Mapping[str, str], options: ImportOptions
) -> dict[Pair, DraftEdge]:
    """Return the edges without those that close a cycle.

    Raises FtplanError with the path if there is one and it may not be cut.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_edges_from(edges)  # given to DiGraph(...), they make networkx load pandas to see whether they are its
    if nx.is_directed_acyclic_graph(graph):
        return edges
    name = {ids[key]: key for key in ids}
    pairs = [(ids[source], ids[target]) for source, target in edges]
    paths = cycles(pairs)
    if not options.break_cycles:
        more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        raise FtplanError(
            f"{draft.name}: cycle: {shown(paths[0])}{more}; plans need a graph without cycles: --break-cycles cuts them"
        )
    carried = {(ids[a], ids[b]): sum(s[2] for s in edge.substreams or ()) for (a, b), edge in edges.items()}
    cut = feedback(pairs, carried)
    for source, target in cut:
        draft.note("CYCLE_CUT", f"the edge {source} -> {target} closes a cycle and is left out, as asked")
    gone = {(name[source], name[target]) for source, target in cut}
    return {pair: edge for pair, edge in edges.items() if pair not in gone}


def spread(draft: Draft, rate: Mapping[Pair, float]) -> None:
    """Give edges that carry other than the whole output of their sender substreams, from a rate for the whole edge.

    Rates are records/s by pair. Senders divide as their ``rate_out``, receivers as their ``input_share``, which is an
    estimate; edges within 1 % of the whole output, and those with too many substreams, stay as they are.
    """
    operators = {operator.key: operator for operator in draft.operators}
    streams = Counter((edge.source, edge.target) for edge in draft.edges)
    changed = []
    for i, edge in enumerate(draft.edges):
        source, target = operators[edge.source], operators[edge.target]
        whole, share = source.rate_out, target.input_share
        pair = edge.source, edge.target
        if pair not in rate or not isinstance(whole, list) or edge.partitioning != "full":
            continue
        total = sum(whole)
        few = source.parallelism * target.parallelism <= MAX_SUBSTREAMS
        if not total or abs(rate[pair] - total) <= DIFFERS * total or streams[pair] > 1 or not few:
            continue
        weights = list(share) if share is not None and any(share) else [1.0] * target.parallelism
        every = sum(weights)
        rows = [
            (a, b, rate[pair] * (sent / total) * (weight / every))
            for a, sent in enumerate(whole)
            for b, weight in enumerate(weights)
            if weight
        ]
        draft.edges[i] = replace(edge, substreams=rows)
        changed.append(f"{edge.source} -> {edge.target}")
    if changed:
        text = "measured for the whole edge, divided over its tasks as they send and receive"
        draft.assume("SUBSTREAMS_SPREAD", f"{listed(changed)}: {text}")
