"""The body of a plan of kind allocate-checkpoints: assignments as stated and as they are now, and the moves between.

:class:`CheckpointAllocationBody` describes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pydantic import Field

from ftplan.errors import FtplanError, suggestion
from ftplan.io.fields import FileModel, Id, Index, NonNegative
from ftplan.model.cluster import Cluster, Placement, primaries
from ftplan.model.measures.task_state import key_group_state
from ftplan.model.plan import Plan
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Topology


def stated_assignments(plan: Plan, topology: Topology, cluster: Cluster) -> list[dict[str, Any]]:
    """Return a plan's assignments; a primary that a plan made by hand leaves out is taken from the placement."""
    assignments = [dict(item) for item in (plan.plan or {})["assignments"]]
    for item in assignments:
        if item.get("primary") is None and cluster.placement is not None and item["operator"] in topology.position:
            homes = primaries(item["operator"], topology, cluster.placement) or ()
            if 0 <= item["key_group"] < len(homes):
                item["primary"] = homes[item["key_group"]]
    return assignments


def require_known_nodes(assignments: Sequence[Mapping[str, Any]], cluster: Cluster) -> None:
    """Raise FtplanError at the first node of a plan that the cluster does not have."""
    for item in assignments:
        for node in [item.get("primary"), *item["checkpoints"]]:
            if node not in cluster.position:
                raise FtplanError(
                    f"plan: key-group:{item['operator']}/{item['key_group']}: unknown node {node!r}"
                    f"{suggestion(str(node), cluster.position)}: verify names everything that is wrong"
                )


def current_assignments(cluster: Cluster, topology: Topology, series: KeyGroupSeries) -> list[dict[str, Any]] | None:
    """Return the checkpoints now in place as assignments, None where the cluster does not say."""
    placement = cluster.placement
    if placement is None or not placement.checkpoints:
        return None
    assignments = []
    for operator in sorted(placement.checkpoints):
        homes = primaries(operator, topology, placement)
        if homes is None or operator not in series.operators:
            continue
        for group, nodes in enumerate(placement.checkpoints[operator]):
            assignments.append(
                {"operator": operator, "key_group": group, "primary": homes[group], "checkpoints": list(nodes)}
            )
    return assignments or None


def moves(
    assignments: Sequence[Mapping[str, Any]],
    placement: Placement | None,
    topology: Topology,
    series: KeyGroupSeries,
) -> list[dict[str, Any]] | None:
    """Return the fewest transfers that turn the current checkpoints into the planned ones, None if those are unknown.

    Copies that stay are not touched. ``from`` is null where a copy is added, ``to`` where one is dropped; ``bytes`` is
    the state to transfer, null where unknown and 0 for a dropped copy.
    """
    if placement is None or not placement.checkpoints:
        return None
    transfers_needed: list[dict[str, Any]] = []
    state = {o.id: key_group_state(o, series) for o in topology.keyed_operators}
    for item in assignments:
        operator, group = item["operator"], item["key_group"]
        now = placement.checkpoints.get(operator)
        held = list(now[group]) if now is not None else []
        size = float(state[operator][group])
        transfers_needed += transfers(operator, group, held, item["checkpoints"], None if size != size else size)
    return transfers_needed


def transfers(
    operator: str, group: int, held: Sequence[str], wanted: Sequence[str], size: float | None
) -> list[dict[str, Any]]:
    """Return the moves that lead from the nodes that hold a key group's copies to those that shall, of *size* bytes."""
    leaving = [node for node in held if node not in wanted]
    coming = [node for node in wanted if node not in held]
    return [
        {"operator": operator, "key_group": group, "from": origin, "to": to, "bytes": 0.0 if to is None else size}
        for origin, to in zip_longest(leaving, coming)
    ]


class AssignmentModel(FileModel):
    """Where the checkpoints of one key group go."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    primary: Id | None = Field(None, description="Node that owns the key group")
    checkpoints: list[Id] = Field(description="One node for each copy")


class MoveModel(FileModel):
    """A checkpoint that is not where it should be."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    source: Id | None = Field(None, alias="from", description="Node that has it now")
    to: Id | None = Field(None, description="Node that gets it")
    bytes: NonNegative | None = Field(None, description="State to copy; null if unknown")


class CheckpointAllocationBody(FileModel):
    """What a plan of kind allocate-checkpoints holds."""

    assignments: list[AssignmentModel] = Field(description="One entry for each key group")
    moves: list[MoveModel] | None = Field(None, description="Against the current checkpoints")


BODY = CheckpointAllocationBody
