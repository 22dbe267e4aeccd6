"""Documents that load back as what was read: writers for the tests of the readers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from ftplan.io.cluster_file import NetworkModel, NodeModel, ZoneModel
from ftplan.io.placement_checks import placement_entry
from ftplan.io.topology_model import CheckpointModel, OperatorModel
from ftplan.model.cluster import ACCEPTS, Cluster, Node
from ftplan.model.failure import Fail, Failure
from ftplan.model.topology import Edge, FloatArray, Operator, Topology

_PER_TASK = ("cpu", "rate_out", "state_bytes", "priority")


def _entry(model: type[BaseModel], item: Any, **written: Any) -> dict[str, Any]:
    """Return what a file of *model* holds of *item*, whose attributes have the names of the fields.

    *written* are fields that the file spells differently; optional fields at their default are left out.
    """
    result = {}
    for name, field in model.model_fields.items():
        value = written[name] if name in written else getattr(item, name)
        if field.is_required() or value != field.default:
            result[field.alias or name] = value
    return result


def topology_document(topology: Topology) -> dict[str, Any]:
    """Return the document that loads back as this topology; defaults are left out."""
    senders = {edge.source for edge in topology.edges}
    document: dict[str, Any] = {"format": "ftplan/topology", "format_version": "1.0"}
    if topology.name is not None:
        document["name"] = topology.name
    document["operators"] = [_operator_entry(o, i not in senders) for i, o in enumerate(topology.operators)]
    document["edges"] = [_edge_entry(edge, topology) for edge in topology.edges]
    return document


def _number_or_list(values: FloatArray) -> float | list[float]:
    uniform = len(values) > 0 and (values.strides == (0,) or bool((values == values[0]).all()))
    return float(values[0]) if uniform else [float(value) for value in values]


def _operator_entry(operator: Operator, is_sink: bool) -> dict[str, Any]:
    arrays = {key: _number_or_list(value) for key in _PER_TASK if (value := getattr(operator, key)) is not None}
    if operator.input_share is not None:
        arrays["input_share"] = operator.input_share.tolist()
    checkpoint = _entry(CheckpointModel, operator.checkpoint)
    output = None if operator.output == is_sink else operator.output
    changed = {"labels": dict(operator.labels) or None, "checkpoint": checkpoint or None, "output": output}
    return _entry(OperatorModel, operator, **arrays, **changed)


def _edge_entry(edge: Edge, topology: Topology) -> dict[str, Any]:
    entry: dict[str, Any] = {"from": topology.operators[edge.source].id, "to": topology.operators[edge.target].id}
    if edge.substreams is None:
        entry["partitioning"] = edge.partitioning or "full"
    else:
        streams = edge.substreams
        entry["substreams"] = [
            list(row)
            for row in zip(streams.from_index.tolist(), streams.to_index.tolist(), streams.rate.tolist(), strict=True)
        ]
    return entry


def cluster_document(cluster: Cluster) -> dict[str, Any]:
    """Return the document that loads back as this cluster, nodes in file order; defaults are left out."""
    order = cluster.file_order or tuple(range(len(cluster.nodes)))
    document: dict[str, Any] = {"format": "ftplan/cluster", "format_version": "1.0"}
    document["nodes"] = [node_entry(cluster.nodes[i]) for i in order]
    if cluster.zones:
        document["zones"] = [_entry(ZoneModel, zone) for zone in cluster.zones]
    if network := _entry(NetworkModel, cluster.network):
        document["network"] = network
    if cluster.placement is not None:
        document["placement"] = placement_entry(cluster.placement)
    return document


def node_entry(node: Node) -> dict[str, Any]:
    """Return a node as a file holds it."""
    accepts = [what for what in ACCEPTS if what in node.accepts]
    return _entry(NodeModel, node, accepts=accepts, labels=dict(node.labels) or None)


def failure_document(failure: Failure) -> dict[str, Any]:
    """Return the document that loads back as this failure; empty parts are left out."""
    document: dict[str, Any] = {"format": "ftplan/failure", "format_version": "1.0"}
    if failure.fail:
        document["fail"] = _fail_entries(failure.fail)
    if failure.arrivals:
        document["arrivals"] = [
            {"at_s": item.at_s[0] if item.at_s[0] == item.at_s[1] else list(item.at_s), "node": node_entry(item.node)}
            for item in failure.arrivals
        ]
    if failure.scenarios:
        document["scenarios"] = [
            {"id": item.id, "probability": item.probability, "fail": _fail_entries(item.fail)}
            for item in failure.scenarios
        ]
    return document


def _fail_entries(fails: tuple[Fail, ...]) -> list[Any]:
    return [{"at_s": item.at_s, "select": str(item.select)} if item.at_s else str(item.select) for item in fails]
