"""Which key groups a failure takes down, and which of them still have a copy on a live node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.names import Selector
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology


@dataclass(frozen=True, slots=True)
class RecoverableGroups:
    """Key groups (and their mean load) whose primary failed, and those of them with a live copy."""

    failed: int
    failed_load: float
    recoverable: int
    recoverable_load: float


def recovery(
    assignments: Sequence[Mapping[str, Any]],
    failures: Sequence[Selector],
    topology: Topology,
    cluster: Cluster,
    series: KeyGroupSeries,
) -> RecoverableGroups:
    """Judge an allocation under failures of nodes, zones, operators, tasks or key groups that are known to exist.

    A key group fails with its node, its operator, its task, or by itself; a copy is lost with its node only.
    Cost O(key groups × failures).

    Raises
    ------
    FtplanError
        If a selector is a query, which says nothing about one key group.
    """
    for selector in failures:
        if selector.kind == "query":
            raise FtplanError(
                f"{selector}: a query is no part that fails: name nodes, zones, operators, tasks, key groups"
            )
    down = frozenset(node for selector in failures for node in cluster.nodes_of(selector))
    failed = recoverable = 0
    failed_load = recoverable_load = 0.0
    for item in assignments:
        operator, group = item["operator"], int(item["key_group"])
        if item["primary"] not in down and not any(_hits(s, operator, group, topology) for s in failures):
            continue
        load = series.load_of(operator, group)
        failed += 1
        failed_load += load
        if any(node not in down for node in item["checkpoints"]):
            recoverable += 1
            recoverable_load += load
    return RecoverableGroups(failed, failed_load, recoverable, recoverable_load)


def _hits(selector: Selector, operator: str, group: int, topology: Topology) -> bool:
    if selector.name != operator or selector.kind in ("node", "zone"):
        return False
    if selector.kind == "operator":
        return True
    if selector.kind == "key-group":
        return selector.index == group
    owner = topology.operator(operator)
    return selector.index == group * owner.parallelism // (owner.key_groups or 1)
