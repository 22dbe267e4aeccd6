"""Where there is room for new tasks, which operators are a job, and what jobs are worth."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ftplan.model.cluster import Cluster, Placement
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import TINY
from ftplan.model.topology import BoolArray, FloatArray, IntArray, Operator, Topology
from ftplan.model.units import MB
from ftplan.planners.deployed import Copies


class ClusterRoom(NamedTuple):
    """What nodes have for new tasks; N nodes by their position in the cluster, none without one."""

    free: FloatArray  # (N,) cores
    memory_per_core: FloatArray  # (N,) bytes of nodes without slots, inf where unknown
    memory_per_slot: FloatArray  # (N,) bytes of nodes with slots, inf where unknown
    accepting: BoolArray  # (N,) whether tasks may go there
    slots: FloatArray  # (N,) inf where unknown
    #: Nodes of the tasks of each operator, by position in the topology, () where unknown
    now: tuple[tuple[int, ...], ...]


def room(topology: Topology, cluster: Cluster | None) -> ClusterRoom:
    """Return what nodes that accept tasks have free beside the placement's tasks, active replicas and foreign work."""
    if cluster is None:
        none = np.zeros(0)
        return ClusterRoom(none, none, none, np.zeros(0, dtype=np.bool_), none, tuple(() for _ in topology.operators))
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
    slots = np.array([math.nan if n.slots is None else n.slots for n in cluster.nodes])
    by_core = np.isnan(slots) & (cluster.cpu > 0.0)
    return ClusterRoom(
        np.where(accepting, np.maximum(cluster.cpu - used, 0.0), 0.0),
        np.divide(memory, cluster.cpu, out=np.full(len(memory), math.inf), where=by_core),
        np.where(np.isnan(slots), math.inf, memory / slots),
        accepting,
        np.where(np.isnan(slots), math.inf, slots),
        now,
    )


def task_memory(graph: TaskGraph, place: ClusterRoom, asked: float | None) -> FloatArray:
    """Return the bytes that each task may hold, (T,), inf where unknown.

    As *asked*, else its slot's part of its node's memory, or without slots as much of it as it has of the node's cores;
    on a node that is not known, the least that that is on any.
    """
    if asked is not None:
        return np.full(graph.tasks, asked)
    cpu = graph.per_task("cpu")
    held = np.empty(graph.tasks)
    for i, nodes in enumerate(place.now):
        part, on = graph.slice_of(i), list(nodes)
        if nodes:
            held[part] = np.minimum(_by_core(cpu[part], place.memory_per_core[on]), place.memory_per_slot[on])
        else:
            held[part] = [new_task_memory(cores, place, None).bytes for cores in cpu[part].tolist()]
    return held


def slots_of(place: ClusterRoom) -> float:
    """Return the slots of all nodes that accept tasks together, inf where any does not say, or there are none."""
    return float(place.slots[place.accepting].sum()) if place.accepting.any() else math.inf


class TaskMemory(NamedTuple):
    """Bytes of state that a task may hold, inf where unknown, and what says so."""

    bytes: float
    by: str


def new_task_memory(cpu: float, place: ClusterRoom, asked: float | None) -> TaskMemory:
    """Return what a new task of so many cores may hold wherever it goes."""
    if asked is not None:
        return TaskMemory(asked, "--task-memory")
    by_core = float(_by_core(np.array(cpu), place.memory_per_core[place.accepting]).min(initial=math.inf))
    by_slot = float(place.memory_per_slot[place.accepting].min(initial=math.inf))
    if by_slot <= by_core:
        return TaskMemory(by_slot, "a slot's part of a node's memory")
    return TaskMemory(by_core, f"the part of a node's memory that {cpu:g} is of its cores")


def _by_core(cpu: FloatArray, per_core: FloatArray) -> FloatArray:
    """Return bytes for cores, inf for none."""
    return np.where(cpu > 0.0, np.maximum(cpu, TINY) * per_core, math.inf)


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
