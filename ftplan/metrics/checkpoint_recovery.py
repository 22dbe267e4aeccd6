"""Which key groups a failure takes down, and which of them still have a copy on a live node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.names import Selector
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology


@dataclass(frozen=True, slots=True)
class Recovery:
    """Key groups (and their mean load) whose primary failed, and those of them with a live copy."""

    failed: int
    failed_load: float
    recoverable: int
    recoverable_load: float


def failed_nodes(failures: Iterable[Selector], cluster: Cluster) -> frozenset[str]:
    """Return the ids of the nodes that fail by ``node:`` and ``zone:`` selectors; a node without zone is its own.

    Raises
    ------
    FtplanError
        If a node or zone is unknown.
    """
    down: set[str] = set()
    for selector in failures:
        if selector.kind == "node":
            down.add(cluster.node(selector.name).id)
        elif selector.kind == "zone":
            members = {node.id for node in cluster.nodes if (node.zone or node.id) == selector.name}
            if not members:
                raise FtplanError(f"{selector}: no node of the cluster is in this zone")
            down |= members
    return frozenset(down)


def recovery(
    assignments: Sequence[Mapping[str, Any]],
    failures: Sequence[Selector],
    topology: Topology,
    cluster: Cluster,
    series: KeyGroupSeries,
) -> Recovery:
    """Judge an allocation under failures of nodes, zones, operators, tasks or key groups.

    A key group fails with its node, its operator, its task, or by itself; a copy is lost with its node only.

    Raises
    ------
    FtplanError
        If a selector names what does not exist, or a query, which says nothing about one key group.
    """
    down = failed_nodes(failures, cluster)
    processes = [selector for selector in failures if selector.kind not in ("node", "zone")]
    for selector in processes:
        _require_known(selector, topology)
    failed = recoverable = 0
    failed_load = recoverable_load = 0.0
    for item in assignments:
        operator, group = item["operator"], int(item["key_group"])
        if item["primary"] not in down and not any(_hits(s, operator, group, topology) for s in processes):
            continue
        column = series.position.get((operator, group))
        load = 0.0 if column is None else float(series.mean_load[column])
        failed += 1
        failed_load += load
        if any(node not in down for node in item["checkpoints"]):
            recoverable += 1
            recoverable_load += load
    return Recovery(failed, failed_load, recoverable, recoverable_load)


def _require_known(selector: Selector, topology: Topology) -> None:
    if selector.kind == "query":
        raise FtplanError(f"{selector}: a query is no part that fails: name nodes, zones, operators, tasks, key groups")
    operator = topology.operator(selector.name)
    if selector.index is not None:
        count = operator.parallelism if selector.kind == "task" else operator.key_groups or 0
        if selector.index >= count:
            noun = "tasks" if selector.kind == "task" else "key groups"
            raise FtplanError(f"{selector}: operator {operator.id!r} has {count} {noun}, numbered from 0")


def _hits(selector: Selector, operator: str, group: int, topology: Topology) -> bool:
    if selector.name != operator:
        return False
    if selector.kind == "operator":
        return True
    if selector.kind == "key-group":
        return selector.index == group
    owner = topology.operator(operator)
    return selector.index == group * owner.parallelism // (owner.key_groups or 1)
