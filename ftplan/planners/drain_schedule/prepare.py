"""From files to the question of a drain schedule: what runs where, which nodes restart, and what has to hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError, suggestion
from ftplan.io.selector_checks import check_selector
from ftplan.model.cluster import Cluster, Placement, primaries
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.measured_topology import measured_topology
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.measures.restart_times import restart_times
from ftplan.model.measures.task_costs import task_costs
from ftplan.model.measures.task_state import task_state
from ftplan.model.names import Selector, parse_selector
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.planners import deployed as other_plans
from ftplan.planners.drain_schedule.options import DrainScheduleOptions
from ftplan.planners.drain_schedule.problem import DrainLimits, DrainProblem, KeyGroupCopies, MovingRoom


@dataclass(frozen=True, eq=False)
class PreparedDrain:
    """A drain problem, its cluster, and the fingerprints of the files that were read for it beside the inputs."""

    problem: DrainProblem
    cluster: Cluster
    inputs: tuple[InputFile, ...]


def prepare(problem: Problem, options: DrainScheduleOptions, chosen: Iterable[str] | None = None) -> PreparedDrain:
    """Build a drain problem.

    Parameters
    ----------
    chosen
        Ids of the nodes to restart instead of those that the options name; ids that there are not are passed over.

    Raises
    ------
    FtplanError
        If an input is missing, a selector, label or plan names what is not there, or no node is to restart.
    """
    if problem.topology is None or problem.cluster is None:
        raise FtplanError("a drain schedule needs topology and cluster: give --topology and --cluster")
    cluster, placement = problem.cluster, _placed(problem.cluster)
    measured = measured_topology(problem.topology, problem.stats)
    graph = TaskGraph(measured.topology)
    home, said = _homes(graph, cluster, placement)
    costs, state = task_costs(graph, problem.stats, placement), task_state(graph, problem.stats)
    standing, replica_file = other_plans.replicas(options.replicas, graph, cluster)
    replica = np.full(graph.tasks, NOWHERE, dtype=np.int64)
    for item in standing:
        replica[item.task] = ANYWHERE if item.node is None else cluster.position[item.node]
    copies, checkpoint_file = other_plans.checkpoint_copies(options.checkpoints, problem.topology, cluster)
    restart_s, cost_file, more = _restart_times(options, graph, home, len(cluster.nodes), state.total)
    built = DrainProblem(
        graph=graph,
        model=fidelity_model(graph, rates(graph)),
        nodes=tuple(node.id for node in cluster.nodes),
        zone=cluster.zone_index,
        zone_names=cluster.zone_names,
        chosen=_chosen(options, graph, cluster, placement, home) if chosen is None else _named(chosen, cluster),
        task_node=home,
        replica_node=replica,
        priority=graph.per_task("priority"),
        copies=KeyGroupCopies.of(_copies(options.keep_copies, graph, cluster, placement, copies)),
        restart_s=restart_s,
        limits=DrainLimits(
            options.min_fidelity, options.keep_priority, options.max_per_zone, options.max, options.move
        ),
        room=_room(cluster, options.max_cpu, home, replica, costs.cost, state.total / MB) if options.move else None,
        warnings=tuple(
            dict.fromkeys((*measured.warnings, *costs.warnings, *state.warnings, *said, *more))
        ),
    )  # fmt: skip
    files = (replica_file, checkpoint_file, cost_file)
    return PreparedDrain(built, cluster, tuple(file for file in files if file is not None))


def _placed(cluster: Cluster) -> Placement:
    placement = cluster.placement
    if placement is None or not (placement.tasks or placement.key_groups or placement.checkpoints):
        raise FtplanError(
            "the cluster does not say on which nodes tasks run, so that nobody knows what a restart takes down: give "
            "placement.tasks in the cluster file, or place round robin with --spread"
        )
    return placement


def _homes(graph: TaskGraph, cluster: Cluster, placement: Placement) -> tuple[IntArray, tuple[Warn, ...]]:
    """Return the node of each task, (T,)."""
    home = np.full(graph.tasks, NOWHERE, dtype=np.int64)
    for operator, nodes in placement.tasks.items():
        home[graph.slice_of(graph.topology.position[operator])] = [cluster.position[node] for node in nodes]
    missing = sorted({operator.id for operator in graph.topology.operators} - set(placement.tasks))
    if not missing:
        return home, ()
    text = f"the cluster does not say where {', '.join(missing)} runs: taken as not affected by any restart"
    return home, (Warn("PLACEMENT_INCOMPLETE", f"{text}; placement.tasks would tell"),)


def _named(nodes: Iterable[str], cluster: Cluster) -> BoolArray:
    chosen = np.zeros(len(cluster.nodes), dtype=np.bool_)
    chosen[[cluster.position[node] for node in nodes if node in cluster.position]] = True
    return chosen


def _chosen(
    options: DrainScheduleOptions, graph: TaskGraph, cluster: Cluster, placement: Placement, home: IntArray
) -> BoolArray:
    """Return the nodes that any selector names and that have all labels, (N,); all where there are neither."""
    chosen = np.ones(len(cluster.nodes), dtype=np.bool_)
    if options.nodes:
        chosen[:] = False
        for text in options.nodes:
            try:
                selector = parse_selector(text)
                check_selector(selector, graph.topology, cluster)
            except FtplanError as error:
                raise FtplanError(f"--nodes: {error}") from None
            chosen |= _selected(selector, graph, cluster, placement, home)
    for text in options.label:
        key, _, value = text.partition("=")
        labelled = np.array([node.labels.get(key) == value for node in cluster.nodes], dtype=np.bool_)
        if not labelled.any():
            known = sorted({f"{k}={v}" for node in cluster.nodes for k, v in node.labels.items()})
            near = suggestion(text, known)
            there = "" if known else ": the cluster's nodes have no labels"
            raise FtplanError(f"--label: no node has the label {text!r}{near}{there}")
        chosen &= labelled
    if not chosen.any():
        both = bool(options.nodes and options.label)
        how = "--nodes and --label name no node together" if both else "--nodes names no node"
        raise FtplanError(f"{how}: none is to restart")
    return chosen


def _selected(
    selector: Selector, graph: TaskGraph, cluster: Cluster, placement: Placement, home: IntArray
) -> BoolArray:
    """Return the nodes that a selector names, (N,): those that run the tasks, for one of tasks."""
    if selector.kind in ("node", "zone"):
        return _named(cluster.nodes_of(selector), cluster)
    if selector.kind == "key-group" and selector.index is not None:
        owners = primaries(selector.name, graph.topology, placement)
        return _named(() if owners is None else (owners[selector.index],), cluster)
    on = home[graph.selected(selector)]
    chosen = np.zeros(len(cluster.nodes), dtype=np.bool_)
    chosen[on[on != NOWHERE]] = True
    return chosen


def _copies(
    which: str, graph: TaskGraph, cluster: Cluster, placement: Placement, copies: other_plans.Copies
) -> Iterable[tuple[str, int, list[int]]]:
    """Yield (operator, key group, nodes) of each key group with copies that may not go together."""
    if which == "none":
        return
    position = cluster.position
    for operator in graph.topology.keyed_operators:
        owners = primaries(operator.id, graph.topology, placement) if which == "all" else None
        for number, nodes in enumerate(copies.get(operator.id, ())):
            held = [position[node] for node in nodes]
            if owners is not None:
                held.append(position[owners[number]])
            if len(held) > 1:
                yield operator.id, number, held


def _restart_times(
    options: DrainScheduleOptions, graph: TaskGraph, home: IntArray, nodes: int, state_bytes: FloatArray
) -> tuple[FloatArray, InputFile | None, tuple[Warn, ...]]:
    """Return the seconds that each node is away, (N,)."""
    given = GivenCosts.of(options.costs)
    if given.costs is None:
        return np.full(nodes, float(options.restart_s)), None, ()
    here = home != NOWHERE
    size, tasks = (
        np.bincount(home[here], some[here], nodes).astype(np.float64) for some in (state_bytes, np.ones(len(home)))
    )
    times, warnings = restart_times(float(options.restart_s), size, tasks, graph, given.costs, options.move)
    return times, given.file, (*given.warnings, *warnings)


def _room(
    cluster: Cluster, max_cpu: float, home: IntArray, replica: IntArray, cpu: FloatArray, memory_mb: FloatArray
) -> MovingRoom:
    """Return what tasks, replicas and other work leave on each node; memory is infinite where it is not stated."""
    count = len(cluster.nodes)

    def taken(size: FloatArray) -> FloatArray:
        used = [np.bincount(node[node >= 0], size[node >= 0], count) for node in (home, replica)]
        return np.asarray(used[0] + used[1], dtype=np.float64)

    usable = np.array([max_cpu * node.cpu - node.used_cpu for node in cluster.nodes])
    mb = np.array([math.inf if node.memory_mb is None else node.memory_mb for node in cluster.nodes])
    return MovingRoom(
        cpu=np.round(usable - taken(cpu), 9),
        memory_mb=mb - taken(memory_mb),
        accepting=cluster.accepting("tasks"),
        task_cpu=cpu,
        task_mb=memory_mb,
        max_cpu=max_cpu,
    )
