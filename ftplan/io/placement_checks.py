"""A placement in a file, and whether it names nodes and operators that there are, one node per task or key group."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from ftplan.io.fields import FileModel, Id
from ftplan.io.validation import Complaints, unknown, validate
from ftplan.model.cluster import Cluster, Placement
from ftplan.model.topology import Topology

PARTS = ("tasks", "key_groups", "checkpoints", "replicas")


class PlacementModel(FileModel):
    """Node ids by operator id."""

    tasks: dict[Id, list[Id]] | None = Field(None, description="Node of each task")
    key_groups: dict[Id, list[Id]] | None = Field(None, description="Node of each key group")
    checkpoints: dict[Id, list[list[Id]]] | None = Field(None, description="Nodes of the copies of each key group")
    replicas: dict[Id, list[Id | None]] | None = Field(None, description="Node of each task's replica, or null")

    def build(self) -> Placement:
        """Return the placement."""
        checkpoints = {name: tuple(map(tuple, copies)) for name, copies in (self.checkpoints or {}).items()}
        lists = {
            part: {name: tuple(nodes) for name, nodes in (getattr(self, part) or {}).items()}
            for part in ("tasks", "key_groups", "replicas")
        }
        return Placement(**lists, checkpoints=checkpoints)


def placement_entry(placement: Placement) -> dict[str, Any]:
    """Return a placement as a file holds it; empty parts are left out."""
    parts = {
        part: {
            name: [list(entry) if isinstance(entry, tuple) else entry for entry in entries]
            for name, entries in getattr(placement, part).items()
        }
        for part in PARTS
    }
    return {part: lists for part, lists in parts.items() if lists}


def read_placement(value: Mapping[str, Any], name: str, cluster: Cluster, topology: Topology) -> Placement:
    """Return a placement that stands by itself, held against cluster and topology; *name* stands in messages."""
    model = validate(PlacementModel, value, name, below="placement")
    complaints = Complaints(name)
    check_placement(model, cluster.position, topology, complaints)
    complaints.finish()
    return model.build()


def check_placement(
    placement: PlacementModel,
    nodes: Collection[str] | None,
    topology: Topology | None,
    complaints: Complaints,
    prefix: str = "placement.",
) -> None:
    """Note unknown nodes (where *nodes* are given), and unknown operators and wrong lengths (with a *topology*)."""
    for part in PARTS:
        lists: dict[str, Sequence[Any]] = getattr(placement, part) or {}
        for operator, entries in lists.items():
            place = f"{prefix}{part}.{operator}"
            if nodes is not None:
                for index, node in _names(entries):
                    if node is not None and node not in nodes:
                        complaints.add(f"{place}{index}", unknown("node", node, nodes))
            if topology is not None:
                _check_operator(operator, part, len(entries), topology, place, complaints)


def _names(entries: Sequence[Any]) -> Iterator[tuple[str, str | None]]:
    """Yield (index as a place, node id) of every node in a list, or in a list of lists."""
    for i, entry in enumerate(entries):
        if isinstance(entry, list):
            for k, node in enumerate(entry):
                yield f"[{i}][{k}]", node
        else:
            yield f"[{i}]", entry


def _check_operator(name: str, part: str, length: int, topology: Topology, place: str, complaints: Complaints) -> None:
    if name not in topology.position:
        complaints.add(place, unknown("operator", name, topology.position))
        return
    operator = topology.operator(name)
    if part in ("tasks", "replicas"):
        expected, what = operator.parallelism, "parallelism"
    elif operator.key_groups is None:
        complaints.add(place, f"{name!r} has no key groups in the topology")
        return
    else:
        expected, what = operator.key_groups, "key_groups"
    if length != expected:
        complaints.add(place, f"wrong length: got {length}, expected {expected} = {what} of {name!r}")
