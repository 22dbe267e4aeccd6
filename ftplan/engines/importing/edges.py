"""The edges of a draft as a topology may have them: one between two operators, partitionings that fit, no cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import networkx as nx

from ftplan.engines.importing.cycles import Pair, cycles, feedback, shown
from ftplan.engines.importing.draft import Draft, DraftEdge, ImportOptions, Partitioning
from ftplan.errors import FtplanError
from ftplan.model.defaults import MAX_SUBSTREAMS
from ftplan.model.names import listed

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
