"""The copies of an allocation as index arrays, and which key groups still have one on a live node after a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Cluster
from ftplan.model.names import Selector
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import IntArray, Topology


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


@dataclass(frozen=True, eq=False)
class PlannedCopies:
    """The P key groups of a plan that the statistics know, in the series' order, and their E copies.

    Copies are sorted by group and node.
    """

    columns: IntArray  # (P,) column of the group in the series
    home: IntArray  # (P,) node position of its primary
    count: IntArray  # (P,) number of its copies
    group: IntArray  # (E,) position of the copy's group among the P
    host: IntArray  # (E,) node position


def planned_copies(assignments: Sequence[Mapping[str, Any]], series: KeyGroupSeries, cluster: Cluster) -> PlannedCopies:
    """Return the copies of ``assignments: [{operator, key_group, primary, checkpoints}]``.

    Primaries are taken as the plan states them. The order of the assignments and of the copies does not matter.

    Raises
    ------
    FtplanError
        If an assignment lacks a field or has one of the wrong type, or names a node that the cluster does not have.
    """
    rows = []
    for number, item in enumerate(assignments):
        try:
            column = series.position.get((str(item["operator"]), int(item["key_group"])))
            if column is not None:
                nodes = [cluster.position[node] for node in (item["primary"], *item["checkpoints"])]
                rows.append((column, nodes[0], sorted(nodes[1:])))
        except KeyError as missing:
            if missing.args[0] in ("operator", "key_group", "primary", "checkpoints"):
                raise _malformed(number) from None
            name = str(missing.args[0])
            near = suggestion(name, cluster.position)
            raise FtplanError(f"plan.assignments[{number}]: unknown node {name!r}{near}") from None
        except (TypeError, ValueError):
            raise _malformed(number) from None
    rows.sort()
    count = np.array([len(row[2]) for row in rows], dtype=np.int64)
    return PlannedCopies(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        count,
        np.repeat(np.arange(len(rows)), count),
        np.array([node for row in rows for node in row[2]], dtype=np.int64),
    )


def _malformed(number: int) -> FtplanError:
    return FtplanError(f"plan.assignments[{number}]: expected operator, key_group, primary and a list of checkpoints")
