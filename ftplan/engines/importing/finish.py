"""From what an importer learnt to a topology and a cluster that the readers of :mod:`ftplan.io` accept.

Ids are slugs of the engine's names, which ``name`` keeps, and the engine's own key stands in the label ``engine_id``.
Operators stand in topological order, ties and nodes in natural order, whatever the order in which the engine named
them. Streams between the same two operators become one edge: ``full`` where any of them is, measured substreams added
up where all are measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import networkx as nx

from ftplan.engines.importing.draft import Draft, DraftEdge, DraftOperator, Imported, ImportOptions, counts
from ftplan.engines.importing.edges import Pair, acyclic, merged
from ftplan.engines.importing.hosts import cluster_of, zone_map
from ftplan.errors import FtplanError, suggestion
from ftplan.io.cluster_file import load_cluster
from ftplan.io.model_entries import topology_entry
from ftplan.io.topology_file import load_topology
from ftplan.model import ranges
from ftplan.model.names import listed, natural_key, slugs


def finish(draft: Draft, options: ImportOptions) -> Imported:
    """Return the documents of a draft, which their readers have accepted.

    Raises FtplanError if the draft has no operators, a cycle without ``--break-cycles``, or numbers that a file may not
    hold; if an option names an operator that there is not; with ``--strict`` for the first assumption, with their
    number.
    """
    _check(draft)
    ids = slugs({operator.key: operator.name for operator in draft.operators})
    _correct(draft, options, ids)
    edges = acyclic(merged(draft, ids), draft, ids, options)
    _tell_defaults(draft, ids, edges)
    zones = zone_map(options.zone_map)
    with _within_limits(draft):
        read = load_topology(_topology(draft, options, ids, edges))
        notes, cluster = read.warnings, None
        if draft.nodes:
            cluster = cluster_of(draft, zones, options.cores, ids)
            notes = (*notes, *load_cluster(cluster, read.value).warnings)
    if options.strict and draft.warnings:
        first, count = draft.warnings[0], len(draft.warnings)
        more = "1 assumption" if count == 1 else f"{count} assumptions, the first"
        raise FtplanError(f"{draft.name}: --strict: {more}: {first.message} [{first.code}]")
    return Imported(topology_entry(read.value), cluster, tuple(draft.warnings), (*draft.notes, *notes))


def _check(draft: Draft) -> None:
    """Refuse a draft without operators, with one that stands twice, or with a stream to nowhere."""
    if not draft.operators:
        raise FtplanError(f"{draft.name}: the job has no operators")
    keys: set[str] = set()
    for operator in draft.operators:
        if operator.key in keys:
            raise FtplanError(f"{draft.name}: {operator.key!r} stands twice among the operators")
        keys.add(operator.key)
    for edge in draft.edges:
        for key in (edge.source, edge.target):
            if key not in keys:
                known = suggestion(key, keys)
                raise FtplanError(f"{draft.name}: a stream names {key!r}, which is none of the operators{known}")


@contextmanager
def _within_limits(draft: Draft) -> Iterator[None]:
    """Say of what a reader refuses that it came from the engine."""
    try:
        yield
    except FtplanError as error:
        raise FtplanError(f"{draft.name}: the job goes beyond what a file may hold: {error}") from None


def _correct(draft: Draft, options: ImportOptions, ids: Mapping[str, str]) -> None:
    """Carry out what the options say of operators, by id, engine's key or name."""
    unique = {name: operator for operator in draft.operators for name in (operator.key, ids[operator.key])}
    called: dict[str, list[DraftOperator]] = {}
    for operator in draft.operators:
        called.setdefault(operator.name, []).append(operator)

    def named(name: str, option: str) -> DraftOperator:
        if name in unique:
            return unique[name]
        if name not in called:
            near = suggestion(name, (*unique, *called)) or f": one of {listed([*ids.values()])}"
            raise FtplanError(f"{option}: there is no operator {name!r}{near}")
        if len(called[name]) > 1:
            several = listed([ids[operator.key] for operator in called[name]])
            raise FtplanError(
                f"{option}: {len(called[name])} operators are called {name!r}: say which by id: {several}"
            )
        return called[name][0]

    joins = [named(name, "--correlated") for name in options.correlated]
    for operator in joins:
        operator.correlated = True
    for name in options.independent:
        operator = named(name, "--independent")
        if any(operator is join for join in joins):
            raise FtplanError(f"--independent: {name!r} is given with --correlated too")
        operator.correlated = False
    every, each = counts(options.parallelism, "--parallelism")
    for name, number in each.items():
        operator = named(name, "--parallelism")
        if operator.parallelism not in (0, number) and _measured(operator, draft):
            text = f"the engine measured {operator.parallelism} tasks of {name!r}"
            raise FtplanError(f"--parallelism: {text}, so that it cannot have {number}")
        operator.parallelism = number
    unknown = [operator for operator in draft.operators if operator.parallelism == 0]
    for operator in unknown:
        operator.parallelism = every or 1
    if unknown and every is None:
        names = listed([ids[operator.key] for operator in unknown])
        draft.assume("PARALLELISM_UNKNOWN", f"{names}: parallelism 1 is assumed; --parallelism says it")


def _measured(operator: DraftOperator, draft: Draft) -> bool:
    """Return whether something is known of the single tasks of an operator."""
    lists = (operator.cpu, operator.rate_out, operator.state_bytes, operator.input_share)
    placed = operator.key in draft.tasks or operator.key in draft.replicas
    streams = any(e.substreams is not None and operator.key in (e.source, e.target) for e in draft.edges)
    return placed or streams or any(isinstance(item, Sequence) for item in lists)


def _tell_defaults(draft: Draft, ids: Mapping[str, str], edges: Mapping[Pair, DraftEdge]) -> None:
    """Note what the engine does not say of any operators and the files' defaults take for it."""
    fed = {target for _, target in edges}
    asked = (
        ("CPU_UNKNOWN", "cpu: 1 core for each task", [o for o in draft.operators if o.cpu is None]),
        (
            "RATES_UNKNOWN",
            "rate_out: 1 record/s from each task",
            [o for o in draft.operators if o.rate_out is None and o.key not in fed],
        ),
        (
            "STATE_UNKNOWN",
            "state_bytes: 0",
            [o for o in draft.operators if o.state_bytes is None and o.key_groups is not None],
        ),
    )
    for code, taken, operators in asked:
        if operators:
            draft.assume(code, f"{listed([ids[o.key] for o in operators])}: {taken} is assumed")


def _topology(
    draft: Draft, options: ImportOptions, ids: Mapping[str, str], edges: Mapping[Pair, DraftEdge]
) -> dict[str, Any]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(ids.values())
    graph.add_edges_from((ids[source], ids[target]) for source, target in edges)
    place = {name: i for i, name in enumerate(nx.lexicographical_topological_sort(graph, key=natural_key))}
    operators = sorted(draft.operators, key=lambda operator: place[ids[operator.key]])
    streams = sorted(edges.items(), key=lambda item: tuple(place[ids[key]] for key in item[0]))
    return {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "name": options.name or draft.name,
        "operators": [_operator(operator, ids[operator.key]) for operator in operators],
        "edges": [_edge(edge, ids) for _, edge in streams],
    }


def _operator(operator: DraftOperator, name: str) -> dict[str, Any]:
    checkpoint = {"interval_s": operator.checkpoint_interval_s, "kind": operator.checkpoint_kind}
    labels = dict(operator.labels)
    if operator.key not in (operator.name, name):
        labels["engine_id"] = operator.key
    entry = {
        "id": name,
        "name": operator.name if operator.name != name else None,
        "labels": labels or None,
        "parallelism": operator.parallelism,
        "inputs": "correlated" if operator.correlated else None,
        "key_groups": operator.key_groups,
        "output": operator.output,
        "cpu": _held(operator.cpu, ranges.CORES),
        "rate_out": _held(operator.rate_out, ranges.RATE),
        "input_share": _held(operator.input_share, ranges.SHARE),
        "selectivity": _held(operator.selectivity, ranges.SELECTIVITY),
        "state_bytes": _held(operator.state_bytes, ranges.BYTES),
        "record_time_s": _held(operator.record_time_s, ranges.SECONDS),
        "checkpoint": {key: value for key, value in checkpoint.items() if value is not None} or None,
        "deterministic": operator.deterministic,
    }
    if operator.input_share is not None and not any(entry["input_share"]):
        del entry["input_share"]
    return {key: value for key, value in entry.items() if value is not None}


def _edge(edge: DraftEdge, ids: Mapping[str, str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"from": ids[edge.source], "to": ids[edge.target]}
    if edge.substreams is None:
        return entry | {"partitioning": edge.partitioning}
    return entry | {"substreams": [[a, b, _held(rate, ranges.RATE)] for a, b, rate in edge.substreams]}


def _held(value: Any, allowed: ranges.Range) -> Any:
    """Return a measured number, or each of several, as a file may hold it: what is next to nothing is 0."""
    if value is None:
        return None
    if isinstance(value, (int, float)):
        return 0.0 if 0.0 < value < allowed.low else float(value)
    return [_held(item, allowed) for item in (value.tolist() if hasattr(value, "tolist") else value)]
