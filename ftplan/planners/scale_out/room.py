"""Where there is room for new tasks, which operators are a job, and what jobs are worth."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ftplan.model.cluster import Cluster, Placement
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray, Operator, Topology
from ftplan.model.units import MB
from ftplan.planners.deployed import Copies


class ClusterRoom(NamedTuple):
    """What nodes have for new tasks; N nodes by their position in the cluster, none without one."""

    free: FloatArray  # (N,) cores
    memory_per_core: FloatArray  # (N,) bytes, inf where unknown
    least_memory_per_core: float  # on a node that accepts tasks, whichever it is
    #: Nodes of the tasks of each operator, by position in the topology, () where unknown
    now: tuple[tuple[int, ...], ...]


def room(topology: Topology, cluster: Cluster | None) -> ClusterRoom:
    """Return what nodes that accept tasks have free beside the placement's tasks, active replicas and foreign work."""
    if cluster is None:
        return ClusterRoom(np.zeros(0), np.zeros(0), math.inf, tuple(() for _ in topology.operators))
    standing = Placement() if cluster.placement is None else cluster.placement
    now = tuple(tuple(cluster.position[node] for node in standing.tasks.get(o.id, ())) for o in topology.operators)
    used = np.array([node.used_cpu for node in cluster.nodes], dtype=np.float64)
    for operator, nodes in zip(topology.operators, now, strict=True):
        if nodes:
            np.add.at(used, list(nodes), operator.cpu)
        for index, node in enumerate(standing.replicas.get(operator.id, ())):
            if node is not None:
                used[cluster.position[node]] += operator.cpu[index]
    accepting = cluster.accepting("tasks")
    memory = np.array([math.inf if n.memory_mb is None else n.memory_mb * MB for n in cluster.nodes])
    per_core = np.divide(memory, cluster.cpu, out=np.full(len(memory), math.inf), where=cluster.cpu > 0.0)
    least = float(per_core[accepting].min(initial=math.inf))
    return ClusterRoom(np.where(accepting, np.maximum(cluster.cpu - used, 0.0), 0.0), per_core, least, now)


def task_memory(graph: TaskGraph, place: ClusterRoom, asked: float | None) -> FloatArray:
    """Return the bytes that each task may hold, (T,), inf where unknown.

    As *asked*, else as much of its node's memory as it has of its cores; on a node that is not known, the least that
    that is on any.
    """
    if asked is not None:
        return np.full(graph.tasks, asked)
    per_core = np.full(graph.tasks, place.least_memory_per_core)
    for i, nodes in enumerate(place.now):
        if nodes:
            per_core[graph.slice_of(i)] = place.memory_per_core[list(nodes)]
    cpu = graph.per_task("cpu")
    return np.asarray(np.multiply(cpu, per_core, out=np.full(graph.tasks, math.inf), where=cpu > 0.0))


def new_task_memory(cpu: float, place: ClusterRoom, asked: float | None) -> float:
    """Return the bytes that a new task of so many cores may hold wherever it goes, inf where unknown."""
    if asked is not None:
        return asked
    return cpu * place.least_memory_per_core if cpu > 0.0 else math.inf


def copies_of(operator: Operator, copies: Copies, cluster: Cluster | None) -> tuple[tuple[int, ...], ...]:
    """Return the nodes that hold a checkpoint of each key group, ascending; () without any."""
    held = copies.get(operator.id, ())
    if cluster is None or not operator.key_groups or not any(held):
        return ()
    return tuple(tuple(sorted(cluster.position[node] for node in nodes)) for nodes in held)


@lru_cache(maxsize=1)  # one topology, so that what is kept of it is met again
def by_id(topology: Topology) -> Topology:
    """Return the same topology with its operators sorted by id as text."""
    order = sorted(range(len(topology.operators)), key=lambda i: topology.operators[i].id)
    place = {old: new for new, old in enumerate(order)}
    edges = (replace(edge, source=place[edge.source], target=place[edge.target]) for edge in topology.edges)
    return replace(topology, operators=tuple(topology.operators[i] for i in order), edges=tuple(edges))


def jobs_of(topology: Topology) -> IntArray:
    """Return the job of each operator, (operators,): a connected part, numbered in the order of the operators."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(topology.operators)
    ends = np.array([(edge.source, edge.target) for edge in topology.edges], dtype=np.int64).reshape(-1, 2)
    joined = coo_array((np.ones(len(ends)), ends.T), shape=(count, count))
    return np.asarray(connected_components(joined, directed=False)[1], dtype=np.int64)


def job_weights(topology: Topology, output: FloatArray) -> FloatArray:
    """Return the share of each job in the value of all output, (J,): records/s of outputs times their priority.

    *output*: records/s that each operator puts out, (operators,), by position; only those of outputs count. Jobs weigh
    by priority alone where no output has any.
    """
    job = jobs_of(topology)
    flags = np.array([operator.output for operator in topology.operators])
    priority = np.array([float(operator.priority.mean()) for operator in topology.operators])
    for rate in (np.nan_to_num(output), np.ones(len(output))):
        value = np.bincount(job, np.where(flags, rate * priority, 0.0))
        if value.sum() > 0.0:
            return np.asarray(value / value.sum())
    return np.full(int(job.max()) + 1, 1.0 / (int(job.max()) + 1))
