"""Nodes, the zones in which they fail together, and what is placed on them now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.names import Selector, natural_key
from ftplan.model.topology import FloatArray, IntArray, Operator, Topology

ACCEPTS = ("tasks", "checkpoints")


@dataclass(frozen=True, slots=True)
class Node:
    """A machine. ``cpu`` and ``used_cpu`` in cores, memory in units of 2^20 bytes.

    ``slots`` are those of its engine's processes, None where unknown: each takes one task of each operator of a job, or
    of a slot sharing group.
    """

    id: str
    cpu: float
    memory_mb: float | None = None
    zone: str | None = None
    used_cpu: float = 0.0
    accepts: frozenset[str] = frozenset(ACCEPTS)
    failure_probability: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    slots: int | None = None

    @property
    def zone_id(self) -> str:
        """Id of its zone: a node without one is a zone of its own, named like the node."""
        return self.id if self.zone is None else self.zone

    def named_by(self, selector: Selector) -> bool:
        """Return whether a ``node:`` or ``zone:`` selector names this node.

        Where a zone has the id of a node without zone, ``zone:ID`` names that node and those of the zone.
        """
        return (selector.kind == "node" and selector.name == self.id) or (
            selector.kind == "zone" and selector.name == self.zone_id
        )


#: Seconds of a day.
DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Zone:
    """Nodes that fail together: a rack, a power feed, an availability zone."""

    id: str
    failure_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Network:
    """Between any two nodes: bandwidth in 2^20 bytes per second, delay in seconds.

    ``restores_at_once`` restores run at a time on a node, each with an equal part of the bandwidth.
    """

    bandwidth_mb_s: float | None = None
    delay_s: float | None = None
    restores_at_once: int = 1


@dataclass(frozen=True, slots=True)
class Placement:
    """Node ids by operator: one per task, one per key group, a tuple of copies per key group, one replica per task."""

    tasks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    key_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checkpoints: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    replicas: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Cluster:
    """A cluster. Nodes stand in natural order of their ids (n2 before n10), whatever the order in the file.

    ``file_order`` holds positions in :attr:`nodes` in file order; ``--spread`` places in that order.
    """

    nodes: tuple[Node, ...]
    zones: tuple[Zone, ...] = ()
    network: Network = Network()
    placement: Placement | None = None
    file_order: tuple[int, ...] = ()
    failure_period_s: float = DAY_S  # within which nodes and zones fail with their probability

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Position of each node id in :attr:`nodes`."""
        return {node.id: i for i, node in enumerate(self.nodes)}

    def node(self, node_id: str) -> Node:
        """Return the node with this id.

        Raises
        ------
        FtplanError
            If there is none; the message suggests the nearest id.
        """
        try:
            return self.nodes[self.position[node_id]]
        except KeyError:
            raise FtplanError(f"unknown node {node_id!r}{suggestion(node_id, self.position)}") from None

    def nodes_of(self, selector: Selector) -> frozenset[str]:
        """Return the ids of the nodes that a ``node:`` or ``zone:`` selector names."""
        return frozenset(node.id for node in self.nodes if node.named_by(selector))

    @cached_property
    def zone_names(self) -> tuple[str, ...]:
        """What to call each node's zone, shape (nodes,): ``node:ID`` for a node without one, which no zone can be."""
        return tuple(node.zone if node.zone is not None else f"node:{node.id}" for node in self.nodes)

    @cached_property
    def zone_index(self) -> IntArray:
        """Number of each node's zone, shape (nodes,); zones are numbered in natural order of their names."""
        names = sorted(set(self.zone_names), key=natural_key)
        number = {name: i for i, name in enumerate(names)}
        return np.array([number[name] for name in self.zone_names], dtype=np.int64)

    @cached_property
    def cpu(self) -> FloatArray:
        """Cores of each node, shape (nodes,)."""
        return np.array([node.cpu for node in self.nodes], dtype=np.float64)

    def accepting(self, what: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which nodes accept *what* (``tasks`` or ``checkpoints``), shape (nodes,)."""
        return np.array([what in node.accepts for node in self.nodes], dtype=np.bool_)


def spread(topology: Topology, cluster: Cluster) -> Placement:
    """Place the tasks of all operators round robin over the nodes that accept tasks, in file order (``--spread``).

    Operators are taken in the topology's order and each starts where the last one ended.

    Raises
    ------
    FtplanError
        If no node accepts tasks.
    """
    order = cluster.file_order or tuple(range(len(cluster.nodes)))
    hosts = [cluster.nodes[i].id for i in order if "tasks" in cluster.nodes[i].accepts]
    if not hosts:
        raise FtplanError("--spread: no node of the cluster accepts tasks")
    tasks: dict[str, tuple[str, ...]] = {}
    start = 0
    for operator in topology.operators:
        tasks[operator.id] = tuple(hosts[(start + i) % len(hosts)] for i in range(operator.parallelism))
        start += operator.parallelism
    return Placement(tasks=tasks)


def primaries(operator_id: str, topology: Topology, placement: Placement) -> tuple[str, ...] | None:
    """Return the node id of each key group of an operator, or None where the placement does not say.

    Explicit ``key_groups`` win; otherwise group g sits with task ``floor(g * parallelism / key_groups)``.
    """
    explicit = placement.key_groups.get(operator_id)
    if explicit is not None:
        return explicit
    tasks = placement.tasks.get(operator_id)
    if tasks is None:
        return None
    return tuple(tasks[int(t)] for t in topology.operator(operator_id).task_of_key_groups())


def key_group_homes(operator: Operator, topology: Topology, cluster: Cluster, placement: Placement | None) -> IntArray:
    """Return the position in the cluster of the node that each key group of an operator is on, shape (key_groups,).

    Raises
    ------
    FtplanError
        If the placement does not say, names a number of nodes that is not that of key groups, or an unknown node.
    """
    where = None if placement is None else primaries(operator.id, topology, placement)
    if where is None:
        raise FtplanError(
            f"operator {operator.id!r}: the cluster does not say on which nodes its key groups are: give "
            f"placement.tasks.{operator.id} or placement.key_groups.{operator.id}, or place round robin with --spread"
        )
    if len(where) != operator.key_groups:
        raise FtplanError(
            f"placement.key_groups.{operator.id}: {len(where)} nodes for {operator.key_groups} key groups"
        )
    return np.array([cluster.position[cluster.node(node).id] for node in where], dtype=np.int64)
