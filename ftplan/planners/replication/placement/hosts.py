"""Where active replicas can run: what the primaries leave on each node, and what fails together with them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ftplan.metrics.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.plan import Infeasible
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.replication.placement.placement import PlacementProblem, ReplicaPlacement

#: How finely the size of a node that would help is stated: cores, and 2^20 bytes.
GRAIN_CPU, GRAIN_MB = 1e-4, 1.0


def placement_problem(
    problem: ReplicationProblem, hosts: ReplicaHosts, replicated: BoolArray, current: Mapping[int, str | None]
) -> PlacementProblem:
    """Return the question where some replicas go; *current* holds the nodes of those now in place, by task."""
    task = np.flatnonzero(replicated)
    here = [hosts.position.get(current.get(t) or "", NOWHERE) for t in task.tolist()]
    return PlacementProblem(
        task=task,
        cpu=hosts.cpu[task],
        memory_mb=hosts.memory_mb[task],
        primary=hosts.primary[task],
        current=np.array(here, dtype=np.int64),
        residual_cpu=hosts.residual_cpu,
        residual_mb=hosts.residual_mb,
        zone=hosts.zone,
        accepting=hosts.accepting,
        risk=_risk(problem, hosts, replicated, task),
    )


def _risk(problem: ReplicationProblem, hosts: ReplicaHosts, replicated: BoolArray, task: IntArray) -> FloatArray:
    """Return what is lost, to first order, where a replica's node fails with its primary, shape (replicas, nodes)."""
    risk = np.zeros((len(task), len(hosts.ids)))
    if any(case.nodes for case in problem.cases):
        for case, loss in zip(problem.cases, problem.losses_by_case(replicated), strict=True):
            risk += np.outer(loss[task], [id in case.nodes for id in hosts.ids])
    return risk / problem.total_weight


def no_room(
    problem: PlacementProblem, placement: ReplicaPlacement, graph: TaskGraph, hosts: ReplicaHosts
) -> Infeasible:
    """Say which replicas have no node, and which node would take them all."""
    left = placement.left
    cpu, mb = float(problem.cpu[left].sum()), float(problem.memory_mb[left].sum())
    name = next(f"extra-{k}" for k in range(1, len(hosts.ids) + 2) if f"extra-{k}" not in hosts.position)
    size = max(GRAIN_CPU, math.ceil(round(cpu / hosts.max_cpu / GRAIN_CPU, 6)) * GRAIN_CPU)
    node = f"id: {name}, cpu: {size:.10g}"
    if mb > 0.0:
        node += f", memory_mb: {math.ceil(mb / GRAIN_MB) * GRAIN_MB:.10g}"
    operator, index = graph.name(int(problem.task[left[0]]))
    reason = (
        f"{len(left):,} of {len(problem.task):,} replicas, such as that of task:{operator}/{index}, find no node "
        f"with room outside their primary's zone: they need {cpu:.6g} cores, and all replicas "
        f"{problem.cpu.sum():.6g} of the {hosts.free_cores:.6g} that are free"
    )
    if mb > 0.0:
        reason += f" (memory: {mb:.6g} of 2^20 bytes without a node)"
    fix = f"add to the nodes of the cluster file: {{{node}}}"
    return Infeasible(reason, "room on a node", len(problem.task) - len(left), len(problem.task), fix)
