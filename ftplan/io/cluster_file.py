"""Cluster files: nodes, zones, the network, and what is placed where now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from ftplan.io.documents import Source, read_document
from ftplan.io.fields import (
    Bandwidth,
    Count,
    FileModel,
    Id,
    MemoryMb,
    NodeCores,
    Period,
    Probability,
    Seconds,
    Version,
    period_s,
)
from ftplan.io.placement_checks import PlacementModel, check_placement
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.model.cluster import DAY_S, Cluster, Network, Node, Zone
from ftplan.model.names import natural_key
from ftplan.model.plan import InputFile, Warn
from ftplan.model.topology import Topology

FORMAT = "ftplan/cluster"


class NodeModel(FileModel):
    """A machine."""

    id: Id = Field(description="Unique name")
    cpu: NodeCores = Field(description="Cores")
    memory_mb: MemoryMb | None = Field(None, description="Memory in units of 2^20 bytes")
    zone: Id | None = Field(None, description="Zone with which the node fails; left out: a zone of its own")
    used_cpu: NodeCores = Field(0.0, description="Cores in use by other work")
    accepts: list[Literal["tasks", "checkpoints"]] = Field(
        default=["tasks", "checkpoints"], description="What may be placed here"
    )
    failure_probability: Probability | None = Field(None, description="Probability that the node fails")
    labels: dict[str, str] | None = Field(None, description="Free-form labels, by which commands choose nodes")
    slots: Count | None = Field(
        None, description="Slots of its engine's processes: each takes one task of each operator that shares slots"
    )

    def build(self) -> Node:
        """Return the node."""
        return Node(**{**dict(self), "accepts": frozenset(self.accepts), "labels": self.labels or {}})


class ZoneModel(FileModel):
    """Nodes that fail together."""

    id: Id = Field(description="Unique name")
    failure_probability: Probability | None = Field(None, description="Probability that the whole zone fails")


class NetworkModel(FileModel):
    """The network between any two nodes."""

    bandwidth_mb_s: Bandwidth | None = Field(None, description="Bandwidth in 2^20 bytes per second")
    delay_s: Seconds | None = Field(None, description="Delay in seconds")
    restores_at_once: Count = Field(
        1, description="Restores that run at a time on a node, each with an equal part of the bandwidth"
    )


class ClusterModel(FileModel):
    """The machines of a cluster and what is placed on them."""

    format: Literal["ftplan/cluster"]
    format_version: Version
    nodes: list[NodeModel] = Field(min_length=1, description="The nodes")
    zones: list[ZoneModel] | None = Field(None, description="What is known of zones; a zone need not be listed")
    failure_period: Period = Field(
        "1d", description="Time within which nodes and zones fail with their failure_probability, such as 12h or 30d"
    )
    network: NetworkModel | None = Field(None, description="The network between any two nodes")
    placement: PlacementModel | None = Field(None, description="What is placed now; lists by task or key group")


def load_cluster(source: Source, topology: Topology | None = None) -> Loaded[Cluster]:
    """Read and check a cluster from a path, standard input (``-``) or a mapping.

    With a *topology* the placement must fit it: its operators, one node per task or key group.
    """
    document = read_document(source, "cluster")
    value = check_envelope(document, FORMAT)
    model = validate(ClusterModel, value, document.name)
    complaints = Complaints(document.name)
    check_duplicates([node.id for node in model.nodes], "nodes", complaints)
    check_duplicates([zone.id for zone in model.zones or ()], "zones", complaints)
    if model.placement is not None:
        nodes = dict.fromkeys(sorted((node.id for node in model.nodes), key=natural_key))
        check_placement(model.placement, nodes, topology, complaints)
    complaints.finish()
    warnings, ignored = ignored_keys(ClusterModel, value, document.name)
    warnings += tuple(_warnings(model, document.name))
    return Loaded(_built(model), InputFile("cluster", document.path, document.sha256), warnings, ignored)


def check_duplicates(ids: list[str], place: str, complaints: Complaints) -> None:
    """Note every id of a list of entries that stood there before."""
    first: dict[str, int] = {}
    for i, name in enumerate(ids):
        if first.setdefault(name, i) != i:
            complaints.add(f"{place}[{i}].id", f"duplicate id {name!r} (also {place}[{first[name]}])")


def _warnings(model: ClusterModel, name: str) -> Iterator[Warn]:
    used = {node.zone or node.id for node in model.nodes}
    for i, zone in enumerate(model.zones or ()):
        if zone.id not in used:
            yield Warn("UNUSED_ZONE", f"{name}: zones[{i}].id: no node is in zone {zone.id!r}")
    for i, node in enumerate(model.nodes):
        if node.used_cpu > node.cpu:
            text = f"{node.used_cpu:g} cores are in use on {node.id!r}, which has {node.cpu:g}"
            yield Warn("OVERUSED_NODE", f"{name}: nodes[{i}].used_cpu: {text}")


def _built(model: ClusterModel) -> Cluster:
    order = sorted(range(len(model.nodes)), key=lambda i: natural_key(model.nodes[i].id))
    file_order = [0] * len(order)
    for position, i in enumerate(order):
        file_order[i] = position
    return Cluster(
        tuple(model.nodes[i].build() for i in order),
        tuple(Zone(**dict(zone)) for zone in model.zones or ()),
        Network(**dict(model.network)) if model.network is not None else Network(),
        model.placement.build() if model.placement is not None else None,
        tuple(file_order),
        period_s(model.failure_period) or DAY_S,
    )
