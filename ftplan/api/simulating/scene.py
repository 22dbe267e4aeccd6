"""A failure and a job as files tell them: what all runs of a simulation have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ftplan.api import other_plans
from ftplan.api.recovery.options import RecoveryScheduleOptions
from ftplan.api.recovery.problem import RecoveryQuestion, question_of
from ftplan.api.recovery_costs import recorded_costs
from ftplan.api.simulating.job import JobOptions, RunningJob, node_cores, running_job
from ftplan.api.simulating.options import LONGEST_S, RecoverySimulationOptions
from ftplan.errors import FtplanError
from ftplan.metrics.recovery_time import longest_interval
from ftplan.model.cluster import Cluster, Node
from ftplan.model.defaults import COORDINATOR_CPU, MAX_CPU
from ftplan.model.failure import Arrival
from ftplan.model.plan import InputFile, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import IntArray
from ftplan.model.units import MB
from ftplan.simulation.recovery.setting import RecoveryTiming

#: Seconds between checkpoints where nobody says, and from the last arrival or failure to the end of a simulation.
INTERVAL_S, AFTER_S = 10.0, 300.0
#: Cells of time that an answer tells of at most where nobody asks for more, and how long they may be, in seconds.
CELLS, ROUND_S = 120, (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)
#: Seconds from a task to the next where the cluster names no delay.
DELAY_S = 0.001


@dataclass(frozen=True, eq=False)
class Scene:
    """What all runs have in common; ``arrivals`` are those that can host tasks.

    Attributes
    ----------
    schedule_options
        How a plan is made, and held to its rules, in this scene.
    cores
        Of each node of the cluster and of each arrival, in this order.
    home, replica
        Node of each task and of its active replica, by position in the cluster; -1 without one; shape (tasks,).
    every_s
        Resolution of what an answer tells over time.
    """

    problem: Problem
    options: RecoverySimulationOptions
    schedule_options: RecoveryScheduleOptions
    question: RecoveryQuestion
    running: RunningJob
    arrivals: tuple[Arrival, ...]
    cores: tuple[float, ...]
    home: IntArray
    replica: IntArray
    replicas: tuple[other_plans.Replica, ...]
    timing: RecoveryTiming
    checkpoint_s: float
    until_s: float
    every_s: float
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the cluster, then those that arrive."""
        return (*self.cluster.nodes, *(item.node for item in self.arrivals))

    @cached_property
    def task_names(self) -> tuple[str, ...]:
        """What messages call the tasks."""
        graph = self.question.graph
        return tuple("{}/{}".format(*graph.name(task)) for task in range(graph.tasks))

    @property
    def files(self) -> dict[str, Any]:
        """The options that take a file, as an answer keeps them."""
        paths = {item.role: item.path for item in self.inputs}
        asked = self.schedule_options
        return {
            "replicas": other_plans.recorded(asked.replicas, paths.get("replicas")),
            "checkpoints": other_plans.recorded(asked.checkpoints, paths.get("checkpoints")),
            "costs": recorded_costs(asked.costs, paths.get("costs")),
        }

    @property
    def cluster(self) -> Cluster:
        """The cluster, which is there."""
        assert self.question.cluster is not None
        return self.question.cluster


def scene_of(problem: Problem, plan: Plan | None, options: RecoverySimulationOptions) -> Scene:
    """Build what all runs have in common. What *options* leave open is as the plan says, else by default.

    Raises
    ------
    FtplanError
        If an input is missing or names what is not there, nothing fails, or the job does not keep up.
    """
    if problem.topology is None:
        raise FtplanError("a simulation needs a topology: give --topology (in Python topology=...)")
    asked = _schedule_options(plan, options)
    _require_placement(problem)
    question = question_of(problem, asked)
    if not question.failed.nodes and not question.failed.tasks.any():
        first = min(event.at_s for event in question.failed.events)
        raise FtplanError(
            f"nothing fails at 0 s, the first failure is at {first:g} s: times count from the first failure"
        )
    graph, costs = question.graph, question.recovery.costs
    headroom = 1.0 / asked.max_cpu if options.headroom is None else options.headroom
    job = JobOptions(options.batch_s, options.record_bytes, headroom)
    running = running_job(graph, question.costs.cost, question.state.total, costs, job)
    cluster = problem.cluster
    assert cluster is not None
    arrivals = tuple(item for item in question.arrivals if "tasks" in item.node.accepts)
    home = _home(question, cluster)
    standing, replica_file = other_plans.replicas(asked.replicas, graph, cluster)
    interval, said = _interval(question, options)
    given = (replica_file, question.checkpoint_file, question.recovery.file)
    until_s = _until(arrivals, question, plan, options)
    return Scene(
        problem=problem,
        options=options,
        schedule_options=asked,
        question=question,
        running=running,
        arrivals=arrivals,
        cores=_cores(cluster, arrivals, home, running),
        home=home,
        replica=_replicas(standing, graph.tasks, cluster),
        replicas=standing,
        timing=_timing(question, cluster, asked, options),
        checkpoint_s=interval,
        until_s=until_s,
        every_s=_resolution(until_s) if options.every_s is None else options.every_s,
        inputs=(*problem.inputs, *(file for file in given if file is not None)),
        warnings=tuple(dict.fromkeys((*problem.warnings, *_applicable(question.warnings), *said))),
    )


def _schedule_options(plan: Plan | None, options: RecoverySimulationOptions) -> RecoveryScheduleOptions:
    """Return how a schedule is made here: as asked, else as the plan records, else by default."""
    recorded = RecoveryScheduleOptions() if plan is None else RecoveryScheduleOptions.of_plan(plan)

    def chosen(name: str, default: object) -> object:
        asked = getattr(options, name)
        return asked if asked is not None else default if plan is None else getattr(recorded, name)

    given = {
        "coordinator_cpu": chosen("coordinator_cpu", COORDINATOR_CPU),
        "max_cpu": chosen("max_cpu", MAX_CPU),
        **{name: chosen(name, None) for name in ("replicas", "checkpoints", "costs", "bandwidth")},
    }
    return replace(
        recorded,
        fail=tuple(dict.fromkeys((*recorded.fail, *options.fail))),
        complete_failure=recorded.complete_failure or options.complete_failure,
        arrivals=recorded.arrivals and options.arrivals,
        objective="priority",
        capacity=None,
        horizon=None,
        parallel_recovery=False,
        seed=options.seed,
        iterations=options.iterations,
        **given,  # type: ignore[arg-type]  # each of its field's type
    )


def _require_placement(problem: Problem) -> None:
    cluster, topology = problem.cluster, problem.topology
    if cluster is None:
        raise FtplanError("a simulation needs to know where tasks run: give --cluster with placement.tasks")
    placed = cluster.placement.tasks if cluster.placement is not None else {}
    missing = sorted(operator.id for operator in (topology.operators if topology else ()) if operator.id not in placed)
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise FtplanError(
            f"a simulation needs to know where every task runs, and the cluster does not say so of {missing[0]}{more}: "
            "give placement.tasks in the cluster file, or place round robin with --spread"
        )


def _home(question: RecoveryQuestion, cluster: Cluster) -> IntArray:
    home = np.full(question.graph.tasks, -1, dtype=np.int64)
    assert cluster.placement is not None
    for operator, nodes in cluster.placement.tasks.items():
        tasks = question.graph.slice_of(question.graph.topology.position[operator])
        home[tasks] = [cluster.position[node] for node in nodes]
    return home


def _replicas(standing: tuple[other_plans.Replica, ...], tasks: int, cluster: Cluster) -> IntArray:
    replica = np.full(tasks, -1, dtype=np.int64)
    for item in standing:
        if item.node is None:
            raise FtplanError("--replicas: a replica is on no node: a simulation needs to know where it runs")
        replica[item.task] = cluster.position[item.node]
    return replica


def _cores(cluster: Cluster, arrivals: tuple[Arrival, ...], home: IntArray, running: RunningJob) -> tuple[float, ...]:
    """Return the cores of the cluster's nodes and of those that arrive; a node that comes back is one of the latter."""
    nodes = [*cluster.nodes, *(item.node for item in arrivals)]
    free = np.array([node.cpu - node.used_cpu for node in nodes])
    return tuple(node_cores(free, home, running).tolist())


def _applicable(warnings: tuple[Warn, ...]) -> Iterator[Warn]:
    """Yield what holds for simulations too: not how plans do without an interval between checkpoints."""
    return (warning for warning in warnings if warning.code != "INTERVAL_UNKNOWN")


def _timing(
    question: RecoveryQuestion, cluster: Cluster, asked: RecoveryScheduleOptions, options: RecoverySimulationOptions
) -> RecoveryTiming:
    """Return how long the parts of a recovery take: as asked, else as costs say, else no time."""
    costs = question.recovery.costs

    def seconds(name: str) -> float:
        given = getattr(options, name)
        estimate = None if costs is None else getattr(costs, name)
        return float(given if given is not None else 0.0 if estimate is None else estimate.value)

    bandwidth = question.recovery.bandwidth_mb_s(asked.bandwidth, cluster.network.bandwidth_mb_s)
    return RecoveryTiming(
        detection_s=seconds("detection_s"),
        restart_s=seconds("restart_s"),
        bandwidth_bytes_s=np.inf if bandwidth is None else bandwidth * MB,
        transfer_delay_s=cluster.network.delay_s or 0.0,
        takeover_s=options.takeover_s,
        replica_lag_s=options.replica_lag_s,
        warming_s=options.warming_s,
        warming_pace=options.warming_pace,
        correlated_failures=options.correlated_failures,
    )


def _interval(question: RecoveryQuestion, options: RecoverySimulationOptions) -> tuple[float, tuple[Warn, ...]]:
    """Return the seconds between checkpoints, a multiple of a batch."""
    stated = (
        longest_interval(question.graph) if options.checkpoint_interval_s is None else options.checkpoint_interval_s
    )
    warnings: tuple[Warn, ...] = ()
    if stated is None:
        text = f"no operator states checkpoint.interval_s: one every {INTERVAL_S:g} s is simulated"
        stated, warnings = INTERVAL_S, (Warn("INTERVAL_UNKNOWN", f"{text} (--checkpoint-interval says better)"),)
    batches = max(1, round(stated / options.batch_s))
    if options.checkpoint_age_s is not None and options.checkpoint_age_s > stated:
        raise FtplanError(
            f"--checkpoint-age: {options.checkpoint_age_s:g} s is more than the {stated:g} s between checkpoints"
        )
    return batches * options.batch_s, warnings


def _until(
    arrivals: tuple[Arrival, ...], question: RecoveryQuestion, plan: Plan | None, options: RecoverySimulationOptions
) -> float:
    """Return when simulations end: as asked, else in the full minute five minutes after what happens last."""
    failures = [event.at_s for event in question.failed.events]
    if options.until_s is not None:
        if failures and options.until_s <= max(failures):
            raise FtplanError(f"--until: {options.until_s:g} s is not after the last failure, at {max(failures):g} s")
        return options.until_s
    steps = (plan.plan or {})["steps"] if plan is not None else []
    planned = [float(step["at_s"]) for step in steps]
    last = max([0.0, *failures, *planned, *(item.at_s[1] for item in arrivals)])
    if last > LONGEST_S:
        raise FtplanError(f"something happens at {last:g} s only: --until says when the simulation ends")
    return float(np.ceil((last + AFTER_S) / 60.0) * 60.0)


def _resolution(until_s: float) -> float:
    """Return a round number of seconds of which few enough cells make the simulated time."""
    return next((seconds for seconds in ROUND_S if until_s <= CELLS * seconds), until_s / CELLS)
