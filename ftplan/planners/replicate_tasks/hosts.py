"""The nodes of a cluster as hosts of active replicas, and the replicas that run there already."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE, ReplicaHosts, SameZone
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import IntArray
from ftplan.planners.deployed import replicas
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.problem import NodeByTask, ReplicationProblem
from ftplan.planners.replicate_tasks.rules import PRIMARY, ZONE


@dataclass(frozen=True, eq=False)
class Current:
    """The nodes of the replicas in place, and the file that says so; ``known`` is False where nobody does."""

    node: NodeByTask
    known: bool
    file: InputFile | None = None


def current_of(given: Any, problem: Problem, graph: TaskGraph) -> Current:
    """Return the replicas of a plan, else of the cluster's placement.

    Raises :class:`FtplanError` if the plan is of another kind, holds no answer, or names a task or node that is not
    there.
    """
    listed, file = replicas(given, graph, problem.cluster, "current")
    placed = problem.cluster.placement.replicas if problem.cluster is not None and problem.cluster.placement else {}
    return Current({item.task: item.node for item in listed}, given is not None or bool(placed), file)


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


def with_hosts(
    prepared: PreparedReplication, cluster: Cluster | None, current: Current, options: TaskReplicationOptions
) -> tuple[ReplicationProblem, tuple[Warn, ...]]:
    """Return the whole question: tasks, nodes, the replicas in place and the limit on changes.

    A replica in place may stay where it runs although zones forbid it; where changes are limited, although its node is
    full too. In a cluster of one zone a replica stands in its primary's as a last resort, with a warning.
    """
    problem = replace(prepared.problem, max_changes=options.max_changes)
    if cluster is None:
        if current.known:
            problem = replace(problem, current=np.where(problem.mask(current.node), 0, NOWHERE))
        return problem, ()
    hosts = hosts_of(prepared, cluster, options.max_cpu)
    warnings: tuple[Warn, ...] = ()
    same_zone: SameZone = options.same_zone
    if same_zone == "never" and len(set(cluster.zone_index.tolist())) == 1:
        same_zone = "last-resort"
        text = "the cluster is one zone: replicas stand in their primary's, on another node"
        warnings = (Warn("ONE_ZONE", text),)
    hosts = replace(hosts, same_zone=same_zone)
    if not current.known:
        return replace(problem, hosts=hosts), warnings
    place = _places(current.node, hosts, problem.tasks)
    hosts = replace(hosts, kept=place)
    if options.max_changes is not None or options.threshold is not None:
        hosts = _as_full_as_now(hosts, place)
    return replace(problem, hosts=hosts, current=place), warnings


def _places(node: NodeByTask, hosts: ReplicaHosts, tasks: int) -> IntArray:
    """Return the node of each replica in place by number, shape (tasks,)."""
    place = np.full(tasks, NOWHERE, dtype=np.int64)
    for task, name in node.items():
        place[task] = ANYWHERE if name is None else hosts.position.get(name, NOWHERE)
    return place


def _as_full_as_now(hosts: ReplicaHosts, place: IntArray) -> ReplicaHosts:
    """Return hosts on which the replicas in place have room."""
    here, count = place >= 0, len(hosts.ids)
    cpu, mb = (np.bincount(place[here], some[here], count) for some in (hosts.cpu, hosts.memory_mb))
    runs = np.bincount(place[here], minlength=count) > 0
    return replace(
        hosts,
        residual_cpu=np.maximum(hosts.residual_cpu, np.where(runs, cpu, -np.inf)),
        residual_mb=np.maximum(hosts.residual_mb, np.where(runs, mb, -np.inf)),
    )


def kept_rules(
    problem: ReplicationProblem, named: tuple[str, ...], broken: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[Warn, ...]]:
    """Return the rules that a plan keeps, of those *named*, and a warning about those that are *broken*."""
    still = tuple(rule for rule in named if rule in broken)
    if not still:
        return named, ()
    near = [rule for rule in still if rule in (PRIMARY, ZONE)]
    by_choice = problem.hosts is not None and problem.hosts.same_zone != "never"
    if near == list(still) == [ZONE] and by_choice:
        text = "some replicas stand in their primary's zone: they fail with it"
        return tuple(rule for rule in named if rule not in still), (Warn("SAME_ZONE", text),)
    text = f"what is in place breaks {', '.join(still)}, and so does the plan where it lets it be"
    return tuple(rule for rule in named if rule not in still), (Warn("RULES_STILL_BROKEN", text),)
