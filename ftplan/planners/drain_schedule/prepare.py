"""From files to the question of a drain schedule: what runs where, which nodes restart, and what has to hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.io.selector_checks import check_selector
from ftplan.model.cluster import Cluster, Placement, primaries
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.measures.restart_times import restart_times
from ftplan.model.names import Selector, parse_selector
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.planners.deployed import Copies
from ftplan.planners.drain_schedule.options import DrainScheduleOptions
from ftplan.planners.drain_schedule.problem import DrainLimits, DrainProblem, KeyGroupCopies, MovingRoom
from ftplan.planners.situation import Situation, situation_of


@dataclass(frozen=True, eq=False)
class PreparedDrain:
    """A drain problem, its cluster, and the fingerprints of the files that were read for it beside the inputs."""

    problem: DrainProblem
    cluster: Cluster
    inputs: tuple[InputFile, ...]


def prepare(problem: Problem, options: DrainScheduleOptions, chosen: Iterable[str] | None = None) -> PreparedDrain:
    """Build a drain problem.

    *chosen*: ids of the nodes to restart instead of those that the options name; ids that there are not are passed
    over.

    Raises FtplanError if an input is missing, a selector, label or plan names what is not there, or no node is to
    restart.
    """
    if problem.topology is None or problem.cluster is None:
        raise FtplanError("a drain schedule needs topology and cluster: give --topology and --cluster")
    cluster, placement = problem.cluster, _placed(problem.cluster)
    situation = situation_of(problem, options)
    graph, home = situation.graph, situation.home
    costs, state = situation.costs, situation.state
    replica, copies = situation.replica_node, situation.copies
    restart_s, more = _restart_times(options, situation)
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
        limits=_limits(options, cluster),
        room=_room(situation, options.max_cpu) if options.move else None,
        warnings=tuple(
            dict.fromkeys((
                *situation.measured.warnings,
                *costs.warnings,
                *state.warnings,
                *_unplaced(situation.unplaced),
                *more,
            ))
        ),
    )  # fmt: skip
    return PreparedDrain(built, cluster, situation.files)


def _limits(options: DrainScheduleOptions, cluster: Cluster) -> DrainLimits:
    """Return what has to hold: what is asked for, and by default a zone at a time, never all nodes, and some output."""
    nodes, one_zone = len(cluster.nodes), not options.no_limits and options.max_per_zone is None
    most = options.max
    if not options.no_limits and nodes > 1 and not (one_zone and len(np.unique(cluster.zone_index)) > 1):
        most = min(nodes - 1, nodes if most is None else most)
    return DrainLimits(
        min_fidelity=options.min_fidelity,
        keep_priority=options.keep_priority,
        max_per_zone=options.max_per_zone,
        max_nodes=most,
        one_zone=one_zone,
        some_output=not (options.no_limits or options.move) and options.min_fidelity is None,
        move=options.move,
    )


def _placed(cluster: Cluster) -> Placement:
    placement = cluster.placement
    if placement is None or not (placement.tasks or placement.key_groups or placement.checkpoints):
        raise FtplanError(
            "the cluster does not say on which nodes tasks run, so that nobody knows what a restart takes down: give "
            "placement.tasks in the cluster file, or place round robin with --spread"
        )
    return placement


def _unplaced(operators: tuple[str, ...]) -> Iterator[Warn]:
    if operators:
        text = f"the cluster does not say where {', '.join(operators)} runs: taken as not affected by any restart"
        yield Warn("PLACEMENT_INCOMPLETE", f"{text}; placement.tasks would tell")


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
    which: str, graph: TaskGraph, cluster: Cluster, placement: Placement, copies: Copies
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


def _restart_times(options: DrainScheduleOptions, situation: Situation) -> tuple[FloatArray, tuple[Warn, ...]]:
    """Return the seconds that each node is away, (N,)."""
    given, home, nodes = situation.recovery, situation.home, len(situation.required_cluster.nodes)
    if given.costs is None:
        return np.full(nodes, float(options.restart_s)), ()
    here = home != NOWHERE
    size, tasks = (
        np.bincount(home[here], some[here], nodes).astype(np.float64)
        for some in (situation.state.total, np.ones(len(home)))
    )
    restart_s, bandwidth = float(options.restart_s), situation.bandwidth_mb_s
    times, warnings = restart_times(restart_s, size, tasks, situation.graph, given.costs, options.move, bandwidth)
    return times, (*given.warnings, *warnings)


def _room(situation: Situation, max_cpu: float) -> MovingRoom:
    """Return what tasks, replicas and other work leave on each node; memory is infinite where it is not stated."""
    cluster = situation.required_cluster
    cpu, memory_mb = situation.costs.cost, situation.state.total / MB

    def taken(size: FloatArray) -> FloatArray:
        placed = (situation.home, situation.replica_node)
        used = [np.bincount(node[node >= 0], size[node >= 0], len(cluster.nodes)) for node in placed]
        return np.asarray(used[0] + used[1], dtype=np.float64)

    return MovingRoom(
        cpu=np.round(max_cpu * cluster.cpu - situation.used_cpu - taken(cpu), 9),
        memory_mb=situation.memory_mb - taken(memory_mb),
        accepting=cluster.accepting("tasks"),
        task_cpu=cpu,
        task_mb=memory_mb,
        max_cpu=max_cpu,
    )
