"""Topologies, clusters and failures as files hold them: documents that :mod:`ftplan.io` reads back, and their text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from ftplan.io.placement_checks import placement_entry
from ftplan.model.cluster import ACCEPTS, DAY_S, Cluster, Node
from ftplan.model.failure import Fail, Failure
from ftplan.model.plan import canonical, canonical_json
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Checkpointing, Edge, FloatArray, Operator, Topology


def envelope(kind: str, **body: Any) -> dict[str, Any]:
    """Return a document of a kind; empty parts are left out, numbers have 12 digits."""
    held = {key: canonical(value) for key, value in body.items() if value not in (None, [], {}, ())}
    return {"format": f"ftplan/{kind}", "format_version": "1.0", **held}


def topology_entry(topology: Topology) -> dict[str, Any]:
    """Return the document of a topology; what is as the default has it is left out."""
    graph = TaskGraph(topology)
    operators = [
        _operator(operator, bool(graph.in_edges[i]), bool(graph.out_edges[i]))
        for i, operator in enumerate(topology.operators)
    ]
    edges = [_edge(topology, edge) for edge in topology.edges]
    return envelope("topology", name=topology.name, operators=operators) | {"edges": canonical(edges)}


def _operator(operator: Operator, fed: bool, feeds: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": operator.id, "parallelism": operator.parallelism}
    plain: tuple[tuple[str, Any], ...] = (
        ("name", None),
        ("labels", {}),
        ("inputs", "independent"),
        ("key_groups", None),
        ("selectivity", 1.0),
    )
    for key, default in plain:
        value = getattr(operator, key)
        if value != default and (key != "inputs" or fed):  # nothing is joined where nothing comes in
            entry[key] = dict(value) if key == "labels" else value
    entry["cpu"] = _per_task(operator.cpu)
    for key in ("rate_out", "input_share"):
        value = getattr(operator, key)
        if value is not None:
            entry[key] = value.tolist() if key == "input_share" else _per_task(value)
    if operator.state_bytes.any():
        entry["state_bytes"] = _per_task(operator.state_bytes)
    if operator.record_time_s is not None:
        entry["record_time_s"] = operator.record_time_s
    if operator.checkpoint != Checkpointing():
        known = {"interval_s": operator.checkpoint.interval_s, "kind": operator.checkpoint.kind}
        entry["checkpoint"] = {key: value for key, value in known.items() if value is not None}
    if not operator.deterministic:
        entry["deterministic"] = False
    if operator.output == feeds:  # not as an operator without outgoing edges is by default
        entry["output"] = operator.output
    if (operator.priority != 1.0).any():
        entry["priority"] = _per_task(operator.priority)
    return entry


def _per_task(values: FloatArray) -> Any:
    """Return one number where all tasks have the same, else the list; whole numbers without a point."""
    listed = [int(value) if value.is_integer() and abs(value) < 2**53 else value for value in values.tolist()]
    return listed[0] if (values == values[0]).all() else listed


def _edge(topology: Topology, edge: Edge) -> dict[str, Any]:
    entry: dict[str, Any] = {"from": topology.operators[edge.source].id, "to": topology.operators[edge.target].id}
    if edge.substreams is None:
        return entry | {"partitioning": edge.partitioning or "full"}
    columns = (edge.substreams.from_index, edge.substreams.to_index, edge.substreams.rate)
    return entry | {"substreams": [list(row) for row in zip(*(c.tolist() for c in columns), strict=True)]}


def cluster_entry(cluster: Cluster) -> dict[str, Any]:
    """Return the document of a cluster, its nodes in file order."""
    order = cluster.file_order or range(len(cluster.nodes))
    zones = [_known({"id": z.id, "failure_probability": z.failure_probability}) for z in cluster.zones]
    lanes = cluster.network.restores_at_once
    network = _known(
        {
            "bandwidth_mb_s": cluster.network.bandwidth_mb_s,
            "delay_s": cluster.network.delay_s,
            "restores_at_once": None if lanes == 1 else lanes,
        }
    )
    placement = None if cluster.placement is None else placement_entry(cluster.placement)
    nodes = [_node(cluster.nodes[i]) for i in order]
    period = None if cluster.failure_period_s == DAY_S else f"{cluster.failure_period_s:.15g}s"
    return envelope("cluster", nodes=nodes, zones=zones, failure_period=period, network=network, placement=placement)


def _node(node: Node) -> dict[str, Any]:
    entry = {"id": node.id, "cpu": node.cpu, "memory_mb": node.memory_mb, "zone": node.zone}
    entry |= {"used_cpu": node.used_cpu or None, "failure_probability": node.failure_probability, "slots": node.slots}
    if node.accepts != frozenset(ACCEPTS):
        entry["accepts"] = [name for name in ACCEPTS if name in node.accepts]
    return _known(entry)


def failure_entry(failure: Failure) -> dict[str, Any]:
    """Return the document of a failure."""
    arrivals = [
        {"at_s": a.at_s[0] if a.at_s[0] == a.at_s[1] else list(a.at_s), "node": _node(a.node)} for a in failure.arrivals
    ]
    scenarios = [{"id": s.id, "probability": s.probability, "fail": _fails(s.fail)} for s in failure.scenarios]
    known = {"arrivals": arrivals} if arrivals or failure.nobody_arrives else {}
    return envelope("failure", fail=_fails(failure.fail), **known, scenarios=scenarios)


def _fails(fails: Iterable[Fail]) -> list[Any]:
    return [str(f.select) if f.at_s == 0.0 else {"at_s": f.at_s, "select": str(f.select)} for f in fails]


def _known(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value is not None}


def document_text(document: Mapping[str, Any], path: str, remark: str = "") -> str:
    """Return a document as text: JSON, or YAML with a *remark* above where the name ends in .yaml or .yml."""
    if not path.lower().endswith((".yaml", ".yml")):
        return canonical_json(document)
    text = yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120)
    return f"# {remark}\n{text}" if remark else text


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # whichever there is
    """Writes lists of lists as lists in brackets."""

    def represent_sequence(self, tag: str, sequence: Iterable[Any], flow_style: bool | None = None) -> Any:
        """Return a list, in brackets where it holds lists."""
        nested = any(isinstance(item, list) for item in sequence)
        return super().represent_sequence(tag, sequence, True if nested else flow_style)
