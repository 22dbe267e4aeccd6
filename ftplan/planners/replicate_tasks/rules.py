"""Does a choice of active replicas keep its rules?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import ROUNDING, SOLVED
from ftplan.model.topology import FloatArray
from ftplan.model.violation import Violation

BUDGET = "budget"
PRIMARY, ZONE = "replica-not-with-primary", "replica-not-in-primary-zone"
CAPACITY, MEMORY = "capacity", "memory"
#: The rules that a plan can name, ``target`` beside them.
RULES = (BUDGET, PRIMARY, ZONE, CAPACITY, MEMORY)
#: Those that nodes decide.
PLACED = (PRIMARY, ZONE, CAPACITY, MEMORY)


@dataclass(frozen=True, eq=False)
class ReplicationLimits:
    """What replicas must keep. Arrays have shape (tasks,)."""

    graph: TaskGraph
    cluster: Cluster | None
    primary: Sequence[str | None]  # node of each task, None where unknown
    cpu: FloatArray  # cores of each task and of its replica
    memory_mb: FloatArray
    weight: FloatArray  # what a replica takes of the budget
    budget: float = math.inf
    max_cpu: float = 1.0


def violations(
    replicas: Sequence[Mapping[str, Any]], limits: ReplicationLimits, rules: Sequence[str] = RULES
) -> Iterator[Violation]:
    """Yield what replicas ``{operator, index, node}`` violate; a node of None is no node in particular.

    Codes: UNKNOWN_TASK, ASSIGNED_TWICE, UNKNOWN_NODE always; OVER_BUDGET, REPLICA_WITH_PRIMARY, REPLICA_IN_SAME_ZONE,
    OVER_CAPACITY (cores or memory of a node, or a node that takes no tasks) for the rules named.
    """
    task: list[int] = []
    nodes: list[str | None] = []
    for item in replicas:
        where = f"task:{item['operator']}/{item['index']}"
        number = _number(item, limits.graph)
        if number is None:
            yield Violation("UNKNOWN_TASK", f"{where}: the topology has no such task", where)
            continue
        if number in task:
            yield Violation("ASSIGNED_TWICE", f"{where}: has more than one replica in the plan", where)
            continue
        node = item.get("node")
        if node is not None and limits.cluster is not None and node not in limits.cluster.position:
            yield Violation("UNKNOWN_NODE", f"{where}: the cluster has no node {node!r}", where)
            node = None
        task.append(number)
        nodes.append(node)
    if BUDGET in rules:
        cost = float(limits.weight[task].sum())
        if cost > limits.budget + ROUNDING * max(1.0, abs(limits.budget)):
            yield Violation("OVER_BUDGET", f"the replicas take {cost:.12g} of a budget of {limits.budget:.12g}")
    if limits.cluster is not None:
        yield from _beside_primary(task, nodes, limits, limits.cluster, rules)
        yield from _over_capacity(task, nodes, limits, limits.cluster, rules)


def _number(item: Mapping[str, Any], graph: TaskGraph) -> int | None:
    position = graph.topology.position.get(item["operator"])
    if position is None or not 0 <= item["index"] < graph.topology.operators[position].parallelism:
        return None
    return graph.number(item["operator"], item["index"])


def _beside_primary(
    task: list[int], nodes: list[str | None], limits: ReplicationLimits, cluster: Cluster, rules: Sequence[str]
) -> Iterator[Violation]:
    for number, node in zip(task, nodes, strict=True):
        home = limits.primary[number]
        if node is None or home is None or home not in cluster.position:
            continue
        where = "task:{}/{}".format(*limits.graph.name(number))
        zones = [cluster.zone_names[cluster.position[name]] for name in (node, home)]
        if node == home and PRIMARY in rules:
            yield Violation("REPLICA_WITH_PRIMARY", f"{where}: its replica stands on its own node {node}", where)
        elif zones[0] == zones[1] and ZONE in rules:
            text = f"{where}: its replica on {node} stands in {zones[0]}, the zone of its own node {home}"
            yield Violation("REPLICA_IN_SAME_ZONE", text, where)


def _over_capacity(
    task: list[int], nodes: list[str | None], limits: ReplicationLimits, cluster: Cluster, rules: Sequence[str]
) -> Iterator[Violation]:
    count = len(cluster.nodes)
    placed = [(number, cluster.position[node]) for number, node in zip(task, nodes, strict=True) if node is not None]
    homes = [(t, cluster.position[n]) for t, n in enumerate(limits.primary) if n is not None and n in cluster.position]
    for rule, sizes, what in ((CAPACITY, limits.cpu, "cores"), (MEMORY, limits.memory_mb, "of 2^20 bytes")):
        if rule not in rules:
            continue
        added, used = (_summed(pairs, sizes, count) for pairs in (placed, homes))
        for n in sorted({node for _, node in placed}):
            node = cluster.nodes[n]
            if rule == CAPACITY and "tasks" not in node.accepts:
                yield Violation("OVER_CAPACITY", f"node:{node.id}: takes no tasks", f"node:{node.id}")
                continue
            full = used[n] + (node.used_cpu if rule == CAPACITY else 0.0) + added[n]
            limit = limits.max_cpu * node.cpu if rule == CAPACITY else node.memory_mb
            if limit is not None and added[n] > 0.0 and full > limit + SOLVED * max(1.0, limit):
                text = f"node:{node.id}: with {added[n]:.6g} of replicas {full:.6g} {what}, of {limit:.6g}"
                yield Violation("OVER_CAPACITY", text, f"node:{node.id}")


def _summed(pairs: list[tuple[int, int]], sizes: FloatArray, count: int) -> FloatArray:
    index = np.array([node for _, node in pairs], dtype=np.int64)
    return np.bincount(index, weights=sizes[[number for number, _ in pairs]], minlength=count).astype(np.float64)
