"""The nodes of a cluster as hosts of active replicas."""

from __future__ import annotations

import math

import numpy as np

from ftplan.api.replication.problem import PreparedReplication
from ftplan.metrics.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.model.cluster import Cluster


def hosts_of(prepared: PreparedReplication, cluster: Cluster, max_cpu: float) -> ReplicaHosts:
    """Return what primaries leave on each node: cores, of *max_cpu* of the node's less ``used_cpu``, and memory.

    Memory is infinite where the node does not state it; a primary takes its state.
    """
    primary = np.array([cluster.position.get(name or "", NOWHERE) for name in prepared.primary], dtype=np.int64)
    cpu = np.array([max_cpu * node.cpu - node.used_cpu for node in cluster.nodes])
    mb = np.array([math.inf if node.memory_mb is None else node.memory_mb for node in cluster.nodes])
    here = primary != NOWHERE
    count = len(cluster.nodes)
    return ReplicaHosts(
        ids=tuple(node.id for node in cluster.nodes),
        residual_cpu=np.round(cpu - np.bincount(primary[here], prepared.cpu[here], count), 9),
        residual_mb=mb - np.bincount(primary[here], prepared.memory_mb[here], count),
        zone=cluster.zone_index,
        accepting=cluster.accepting("tasks"),
        max_cpu=max_cpu,
        primary=primary,
        cpu=prepared.cpu,
        memory_mb=prepared.memory_mb,
    )
