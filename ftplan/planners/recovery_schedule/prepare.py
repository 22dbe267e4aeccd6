"""From files to what a recovery planner is asked: what failed, what it costs, where there is room and when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ftplan.errors import FtplanError
from ftplan.model.failure import Arrival
from ftplan.model.measures.recovery_time import RecoveryDelays
from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import InputFile, Warn
from ftplan.model.problem import Problem
from ftplan.model.units import MB
from ftplan.planners.deployed import Copies, Replica
from ftplan.planners.recovery_schedule.hosts import (
    cores_used,
    homes,
    horizon_of_situation,
    host_room,
    live_tasks,
    local_bytes,
    standby_hosts,
    with_coordinator,
)
from ftplan.planners.recovery_schedule.kind import KIND
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.problem import RecoveryProblem
from ftplan.planners.recovery_schedule.warnings import overloads, replay_doubts, warnings_of
from ftplan.planners.situation import Situation, situation_of


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
    situation = question.situation
    built = question.with_replicas(situation.replicas)
    warnings = (
        *question.warnings,
        *replay_doubts(situation.recovery, situation.graph, situation.failed.tasks, options),
        *built.warnings,
        *overloads(built, options.max_cpu),
        *warnings_of(built, known_nodes=situation.cluster is not None),
    )
    return Prepared(replace(built, warnings=tuple(dict.fromkeys(warnings))), situation.costs.source, situation.files)


@dataclass(frozen=True, eq=False)
class RecoveryQuestion:
    """A failure and all that is known but for the active replicas that run.

    ``copies`` are those that make a restore faster, ``delays`` what a recovery adds to the return of each task.
    """

    situation: Situation
    options: RecoveryScheduleOptions
    arrivals: tuple[Arrival, ...]
    copies: Copies
    delays: RecoveryDelays
    warnings: tuple[Warn, ...]

    @property
    def checkpoint_file(self) -> InputFile | None:
        """The fingerprint of the plan whose checkpoints are in place."""
        return next((file for file in self.situation.files if file.role == "checkpoints"), None)

    def with_replicas(self, items: Iterable[Replica]) -> RecoveryProblem:
        """Return what a planner is asked where some active replicas run. Cost O(tasks + nodes).

        Raises
        ------
        FtplanError
            If a node arrives that is still there.
        """
        situation, options = self.situation, self.options
        cluster, failed, state = situation.cluster, situation.failed, situation.state
        standing = () if options.complete_failure else tuple(item for item in items if item.node not in failed.nodes)
        live = live_tasks(situation.node_names, failed.tasks, standing)
        used = cores_used(live, standing, situation.costs.cost)
        hosts = host_room(cluster, self.arrivals, failed, used, options.max_cpu, options.capacity)
        if options.complete_failure:
            hosts = with_coordinator(hosts, options.coordinator_cpu)
        standby = standby_hosts(standing, situation.graph.tasks, hosts.live)
        standby[live.by_replica] = NOWHERE
        bandwidth = situation.bandwidth_mb_s
        return RecoveryProblem(
            graph=situation.graph,
            cost=situation.costs.cost,
            failed=live.down,
            home=homes(live, hosts.live),
            standby=standby,
            hosts=hosts.hosts,
            live_hosts=hosts.live_hosts,
            arrivals=hosts.arrivals,
            failures=failed.events,
            capacity=options.capacity if cluster is not None else None,
            state_bytes=state.total if state.total.any() else None,
            local_bytes=local_bytes(situation.graph, state, self.copies, hosts.live),
            bandwidth_bytes_s=None if bandwidth is None else bandwidth * MB,
            delay_s=situation.network.delay_s or 0.0,
            restores_at_once=situation.network.restores_at_once,
            delays=self.delays,
            rolls_back=not all(operator.deterministic for operator in situation.topology.operators),
            may_pause=options.pause_lower_priority,
            horizon_s=self.horizon_s,
            failed_nodes=len(failed.nodes),
            warnings=hosts.warnings,
        )

    @property
    def horizon_s(self) -> float:
        """Until when the repair is looked at: as asked, else by what arrives and by what a recovery takes."""
        if self.options.horizon is not None:
            return self.options.horizon
        return horizon_of_situation(self.situation, self.situation.failed, self.arrivals, self.delays)


def question_of(problem: Problem, options: RecoveryScheduleOptions) -> RecoveryQuestion:
    """Return what a recovery is asked about, without the active replicas.

    Raises
    ------
    FtplanError
        If an input is missing, options contradict each other, or a selector or plan names what is not there.
    """
    situation = situation_of(problem, options, "a recovery schedule", KIND.needs)
    graph, failed = situation.graph, situation.failed
    _require_room(situation, options)
    costs, state = situation.costs, situation.state
    placed = any(any(nodes) for nodes in situation.copies.values())
    recovery = situation.recovery
    arrivals, assumed = situation.arrivals
    warnings = (*situation.measured.warnings, *costs.warnings, *state.warnings, *failed.warnings, *assumed)
    warnings += (*recovery.warnings, *recovery.doubts(graph), *(recovery.remote_state() if placed else ()))
    delays = recovery.delays(graph, costs.cost, options.checkpoint_age, 1.0 / options.max_cpu, options.replay)
    return RecoveryQuestion(situation, options, arrivals, situation.useful_copies, delays, warnings)


def _require_room(situation: Situation, options: RecoveryScheduleOptions) -> None:
    cluster = situation.cluster
    if options.complete_failure:
        if options.capacity is not None:
            raise FtplanError("--complete-failure: no node is left at step 0, so that --capacity caps nothing: drop it")
        if cluster is None and not situation.stated_arrivals:
            raise FtplanError("--complete-failure: no node arrives: give --cluster, or arrivals in a failure file")
        return
    if cluster is None and options.capacity is None:
        raise FtplanError(
            "where is room for what comes back? give --cluster (with placement.tasks, so that what runs on each node "
            "is known) or --capacity CORES"
        )
