"""Where active replicas can run: what the primaries leave on each node, and what fails together with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ftplan.api.replication.choice import quick_bound
from ftplan.api.replication.problem import Prepared
from ftplan.model.cluster import Cluster
from ftplan.model.plan import Infeasible
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.placement.placement import NOWHERE, Placed, PlacementProblem

#: How finely the size of a node that would help is stated: cores, and 2^20 bytes.
GRAIN_CPU, GRAIN_MB = 1e-4, 1.0


def room(prepared: Prepared, cluster: Cluster, max_cpu: float) -> tuple[FloatArray, FloatArray]:
    """Return the cores and the 2^20 bytes that primaries leave on each node, shape (nodes,) each.

    Cores: *max_cpu* of the node's, less ``used_cpu`` and what the primaries take. Memory is infinite where the node
    does not state it; a primary takes its state.
    """
    cpu = np.array([max_cpu * node.cpu - node.used_cpu for node in cluster.nodes])
    mb = np.array([math.inf if node.memory_mb is None else node.memory_mb for node in cluster.nodes])
    home = nodes_of(prepared.primary, cluster)
    placed = home != NOWHERE
    count = len(cluster.nodes)
    cpu -= np.bincount(home[placed], weights=prepared.cpu[placed], minlength=count)
    mb -= np.bincount(home[placed], weights=prepared.memory_mb[placed], minlength=count)
    return np.round(cpu, 9), mb


def nodes_of(names: Sequence[str | None], cluster: Cluster) -> IntArray:
    """Return the position of each node, NOWHERE for None or a node that is not there."""
    return np.array([NOWHERE if n is None else cluster.position.get(n, NOWHERE) for n in names], dtype=np.int64)


def placement_problem(
    prepared: Prepared, cluster: Cluster, replicated: BoolArray, present: Mapping[int, str | None], max_cpu: float
) -> PlacementProblem:
    """Return the question where some replicas go; *present* holds the nodes of those now in place, by task."""
    task = np.flatnonzero(replicated)
    cpu, mb = room(prepared, cluster, max_cpu)
    return PlacementProblem(
        task=task,
        cpu=prepared.cpu[task],
        memory_mb=prepared.memory_mb[task],
        primary=nodes_of([prepared.primary[t] for t in task.tolist()], cluster),
        present=nodes_of([present.get(t) for t in task.tolist()], cluster),
        room_cpu=cpu,
        room_mb=mb,
        zone=cluster.zone_index,
        hosting=cluster.accepting("tasks"),
        risk=_risk(prepared, cluster, replicated, task),
    )


def room_bound(prepared: Prepared, asked: PlacementProblem, clock: Budget) -> float:
    """Return a bound of the metric: replicas take no more cores than are free on all nodes together."""
    free = float(np.maximum(asked.room_cpu[asked.hosting], 0.0).sum())
    return quick_bound(replace(prepared.problem, weight=prepared.cpu, budget=free), clock)


def _risk(prepared: Prepared, cluster: Cluster, replicated: BoolArray, task: IntArray) -> FloatArray:
    """Return what is lost, to first order, where a replica's node fails with its primary, shape (replicas, nodes)."""
    found = np.zeros((len(task), len(cluster.nodes)))
    for case, live in zip(prepared.problem.cases, prepared.live(replicated), strict=True):
        if case.nodes:
            intact = prepared.measured.intact(live)
            worth = case.weight * np.where(case.failed, intact * prepared.measured.slope(live, intact), 0.0)
            found += np.outer(worth[task], [node.id in case.nodes for node in cluster.nodes])
    return found / prepared.weights_sum


def no_room(
    problem: PlacementProblem, placed: Placed, prepared: Prepared, cluster: Cluster, max_cpu: float
) -> Infeasible:
    """Say which replicas have no node, and which node would take them all."""
    left = placed.left
    cpu, mb = float(problem.cpu[left].sum()), float(problem.memory_mb[left].sum())
    taken = {node.id for node in cluster.nodes}
    name = next(f"extra-{k}" for k in range(1, len(taken) + 2) if f"extra-{k}" not in taken)
    size = max(GRAIN_CPU, math.ceil(round(cpu / max_cpu / GRAIN_CPU, 6)) * GRAIN_CPU)
    node = f"id: {name}, cpu: {size:.10g}"
    if mb > 0.0:
        node += f", memory_mb: {math.ceil(mb / GRAIN_MB) * GRAIN_MB:.10g}"
    operator, index = prepared.graph.name(int(problem.task[left[0]]))
    room_cpu = float(np.maximum(problem.room_cpu[problem.hosting], 0.0).sum())
    reason = (
        f"{len(left):,} of {len(problem.task):,} replicas, such as that of task:{operator}/{index}, find no node "
        f"with room outside their primary's zone: they need {cpu:.6g} cores, and all replicas "
        f"{problem.cpu.sum():.6g} of the {room_cpu:.6g} that are free"
    )
    if mb > 0.0:
        reason += f" (memory: {mb:.6g} of 2^20 bytes without a node)"
    fix = f"add to the nodes of the cluster file: {{{node}}}"
    return Infeasible(reason, "room on a node", len(problem.task) - len(left), len(problem.task), fix)
