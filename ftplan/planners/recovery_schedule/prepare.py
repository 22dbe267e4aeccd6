"""From files to what a recovery planner is asked: what failed, what it costs, where there is room and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ftplan.costs.option import GivenCosts
from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.failure import Arrival
from ftplan.model.measures.measured_topology import measured_topology
from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.measures.task_costs import TaskCosts, task_costs
from ftplan.model.measures.task_state import TaskState, task_state
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.planners import deployed as other_plans
from ftplan.planners.failures import Failed, what_fails
from ftplan.planners.recovery_schedule import copies as recovery_copies
from ftplan.planners.recovery_schedule.arrivals import default_arrivals
from ftplan.planners.recovery_schedule.horizon import default_horizon_s
from ftplan.planners.recovery_schedule.hosts import Room, room, with_coordinator
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.problem import RecoveryProblem
from ftplan.planners.recovery_schedule.reprocessing import delays_of, replay_doubts
from ftplan.planners.recovery_schedule.warnings import warnings_of


@dataclass(frozen=True, eq=False)
class Prepared:
    """A recovery problem, where its costs come from, and the fingerprints of the files that were read for it."""

    problem: RecoveryProblem
    cost: Literal["topology", "statistics"]
    inputs: tuple[InputFile, ...]


def prepare(problem: Problem, options: RecoveryScheduleOptions) -> Prepared:
    """Build a recovery problem.

    Raises
    ------
    FtplanError
        If an input is missing, options contradict each other, or a selector or plan names what is not there.
    """
    if options.pause_lower_priority and problem.cluster is None:
        raise FtplanError("--pause-lower-priority: which tasks run where? give --cluster (with placement.tasks)")
    question = question_of(problem, options)
    items, replica_file = other_plans.replicas(options.replicas, question.graph, problem.cluster)
    built = question.with_replicas(items)
    doubts = replay_doubts(question.recovery, question.graph, question.failed.tasks, options)
    warnings = (
        *question.warnings,
        *doubts,
        *built.warnings,
        *warnings_of(built, known_nodes=problem.cluster is not None),
    )
    given = (replica_file, question.checkpoint_file, question.recovery.file)
    files = tuple(item for item in given if item is not None)
    return Prepared(replace(built, warnings=tuple(dict.fromkeys(warnings))), question.costs.source, files)


@dataclass(frozen=True, eq=False)
class RecoveryQuestion:
    """A failure and all that is known beside the active replicas that run."""

    graph: TaskGraph
    cluster: Cluster | None
    failed: Failed
    arrivals: tuple[Arrival, ...]
    costs: TaskCosts
    state: TaskState
    recovery: GivenCosts
    delays: RecoveryDelays
    copies: other_plans.Copies
    options: RecoveryScheduleOptions
    checkpoint_file: InputFile | None
    warnings: tuple[Warn, ...]

    def with_replicas(self, items: Iterable[other_plans.Replica]) -> RecoveryProblem:
        """Return what a planner is asked where some active replicas run. Cost O(tasks + nodes).

        Raises
        ------
        FtplanError
            If a node arrives that is still there.
        """
        cluster, failed, options, state = self.cluster, self.failed, self.options, self.state
        standing = () if options.complete_failure else tuple(item for item in items if item.node not in failed.nodes)
        live = _live(self.graph, cluster, failed, standing)
        used = _used(live, standing, self.costs.cost)
        host_room = room(cluster, self.arrivals, failed, used, options.max_cpu, options.capacity)
        if options.complete_failure:
            host_room = with_coordinator(host_room, options.coordinator_cpu)
        standby = recovery_copies.by_task(standing, self.graph.tasks, host_room.live)
        standby[live.by_replica] = recovery_copies.NONE
        network = None if cluster is None else cluster.network.bandwidth_mb_s
        bandwidth = self.recovery.bandwidth_mb_s(options.bandwidth, network)
        return RecoveryProblem(
            graph=self.graph,
            cost=self.costs.cost,
            failed=live.down,
            home=_home(live, host_room),
            standby=standby,
            hosts=host_room.hosts,
            live_hosts=host_room.live_hosts,
            arrivals=host_room.arrivals,
            failures=failed.events,
            capacity=options.capacity if cluster is not None else None,
            state_bytes=state.total if state.total.any() else None,
            local_bytes=recovery_copies.local_bytes(self.graph, state, self.copies, host_room.live),
            bandwidth_bytes_s=None if bandwidth is None else bandwidth * MB,
            delay_s=(cluster.network.delay_s or 0.0) if cluster is not None else 0.0,
            restores_at_once=1 if cluster is None else cluster.network.restores_at_once,
            delays=self.delays,
            rolls_back=not all(operator.deterministic for operator in self.graph.topology.operators),
            may_pause=options.pause_lower_priority,
            horizon_s=self._horizon_s(host_room),
            failed_nodes=len(failed.nodes),
            warnings=host_room.warnings,
        )

    def _horizon_s(self, host_room: Room) -> float:
        if self.options.horizon is not None:
            return self.options.horizon
        last = max((item.range_s[1] for item in host_room.arrivals), default=0.0)
        later = max((event.at_s for event in self.failed.events), default=0.0)
        return default_horizon_s(last, later, self.delays, measured=self.recovery.costs is not None)


def question_of(problem: Problem, options: RecoveryScheduleOptions) -> RecoveryQuestion:
    """Return what a recovery is asked about, without the active replicas.

    Raises
    ------
    FtplanError
        If an input is missing, options contradict each other, or a selector or plan names what is not there.
    """
    if problem.topology is None:
        raise FtplanError("a recovery schedule needs topology: give --topology (in Python topology=...)")
    cluster, failure = problem.cluster, problem.failure
    measured = measured_topology(problem.topology, problem.stats)
    graph = TaskGraph(measured.topology)
    failed = what_fails(graph, cluster, failure, options.fail, options.complete_failure)
    given = failure.arrivals if failure is not None and options.arrivals else ()
    _require_room(cluster, options.capacity, given, options.complete_failure)
    costs = task_costs(graph, problem.stats, cluster.placement if cluster is not None else None)
    state = task_state(graph, problem.stats)
    copies, file = other_plans.checkpoint_copies(options.checkpoints, problem.topology, cluster)
    recovery = GivenCosts.of(options.costs)
    remote = recovery.remote_state() if any(any(nodes) for nodes in copies.values()) else ()
    copies = {} if recovery.remote else copies
    expected: tuple[Arrival, ...] = tuple(given)
    said: tuple[Warn, ...] = ()
    if not expected and options.arrivals:
        expected, said = default_arrivals(cluster, failed)
    warnings = (*measured.warnings, *costs.warnings, *state.warnings, *failed.warnings, *said)
    warnings += (*recovery.warnings, *recovery.doubts(graph), *remote)
    return RecoveryQuestion(
        graph=graph,
        cluster=cluster,
        failed=failed,
        arrivals=expected,
        costs=costs,
        state=state,
        recovery=recovery,
        delays=delays_of(recovery, graph, costs.cost, options),
        copies=copies,
        options=options,
        checkpoint_file=file,
        warnings=warnings,
    )


@dataclass(frozen=True, eq=False)
class _Live:
    """Which tasks are down; on which node each other one lives (None where unknown); which live by their replica."""

    down: Any  # (T,) bool
    node: list[str | None]  # (T,)
    by_replica: IntArray


def _live(graph: TaskGraph, cluster: Cluster | None, failed: Failed, standing: tuple[Any, ...]) -> _Live:
    """Let live replicas take over from failed tasks."""
    down = failed.tasks.copy()
    node: list[str | None] = [None] * graph.tasks
    placed = cluster.placement.tasks if cluster is not None and cluster.placement is not None else {}
    for operator, nodes in placed.items():
        tasks = graph.slice_of(graph.topology.position[operator])
        node[tasks] = nodes
    taken = [item for item in standing if down[item.task]]
    for item in taken:
        down[item.task] = False
        node[item.task] = item.node
    for task in np.flatnonzero(down).tolist():
        node[task] = None
    return _Live(down, node, np.array([item.task for item in taken], dtype=np.int64))


def _used(live: _Live, standing: tuple[Any, ...], cost: FloatArray) -> Mapping[str, float]:
    """Return the cores of live tasks and of live replicas that have not taken over, by node."""
    used: dict[str, float] = {}
    over = set(live.by_replica.tolist())
    running = list(enumerate(live.node))
    running += [(item.task, item.node) for item in standing if item.task not in over]
    for task, node in running:
        if node is not None:
            used[node] = used.get(node, 0.0) + float(cost[task])
    return used


def _home(live: _Live, host_room: Room) -> IntArray:
    return np.array([-1 if node is None else host_room.live.get(node, -1) for node in live.node], dtype=np.int64)


def _require_room(
    cluster: Cluster | None, capacity: float | None, given: tuple[Arrival, ...], complete_failure: bool
) -> None:
    if complete_failure:
        if capacity is not None:
            raise FtplanError("--complete-failure: no node is left at step 0, so that --capacity caps nothing: drop it")
        if cluster is None and not given:
            raise FtplanError("--complete-failure: no node arrives: give --cluster, or arrivals in a failure file")
        return
    if cluster is None and capacity is None:
        raise FtplanError(
            "where is room for what comes back? give --cluster (with placement.tasks, so that what runs on each node "
            "is known) or --capacity CORES"
        )
