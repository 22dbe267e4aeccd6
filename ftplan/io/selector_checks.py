"""Whether a selector points at something that the topology or the cluster has."""

from __future__ import annotations

from collections.abc import Collection

from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Cluster, Node
from ftplan.model.names import Selector
from ftplan.model.topology import Topology


def check_selector(
    selector: Selector,
    topology: Topology | None = None,
    cluster: Cluster | None = None,
    arriving: Collection[Node] = (),
) -> None:
    """Check a selector against what is known; *arriving* are nodes that arrive later.

    Raises FtplanError if it names an unknown node, zone or operator (with a suggestion), a task or key group that is
    out of range, a key group of an operator without any, or the query of a task that is no output.
    """
    if selector.kind in ("node", "zone"):
        if cluster is not None and not any(node.named_by(selector) for node in (*cluster.nodes, *arriving)):
            _check_name(selector, cluster)
    elif topology is not None:
        _check_operator(selector, topology)


def _check_name(selector: Selector, cluster: Cluster) -> None:
    """Check a selector of no node: only a zone that the cluster lists may have none."""
    if selector.kind == "node":
        raise _unknown(selector, "node", cluster.position)
    listed = {zone.id for zone in cluster.zones}
    zones = listed | {node.zone_id for node in cluster.nodes}
    if selector.name not in listed:
        hint = "" if listed or any(node.zone for node in cluster.nodes) else "; no node of the cluster has a zone"
        raise FtplanError(f"{_unknown(selector, 'zone', zones)}{hint}")


def _unknown(selector: Selector, what: str, known: Collection[str]) -> FtplanError:
    return FtplanError(f"{selector}: unknown {what} {selector.name!r}{suggestion(selector.name, sorted(known))}")


def _check_operator(selector: Selector, topology: Topology) -> None:
    if selector.name not in topology.position:
        raise _unknown(selector, "operator", topology.position)
    if selector.index is None:
        return
    operator = topology.operator(selector.name)
    if selector.kind == "key-group":
        count, what = operator.key_groups, "key group"
        if count is None:
            raise FtplanError(f"{selector}: {selector.name!r} has no key groups in the topology")
    else:
        count, what = operator.parallelism, "task"
    if selector.index >= count:
        range_text = f"1 {what} (0)" if count == 1 else f"{count} {what}s (0 to {count - 1})"
        raise FtplanError(f"{selector}: {selector.name!r} has {range_text}")
    if selector.kind == "query" and not operator.output:
        outputs = ", ".join(o.id for o in topology.operators if o.output)
        raise FtplanError(f"{selector}: {selector.name!r} is no output operator; queries end at {outputs or 'none'}")
