"""A failure and a job as files tell them: what all runs of a simulation have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ftplan.costs.given_costs import recorded_costs
from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Node
from ftplan.model.defaults import COORDINATOR_CPU, MAX_CPU
from ftplan.model.failure import Arrival
from ftplan.model.plan import InputFile, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners import deployed as other_plans
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import RecoveryQuestion, question_of
from ftplan.simulation.recovery.job import LEAST_RECORDS, JobOptions, RunningJob, node_cores, running_job
from ftplan.simulation.recovery.options import RecoverySimulationOptions
from ftplan.simulation.recovery.setting import RecoveryTiming
from ftplan.simulation.recovery.times import checkpoint_interval, checkpoint_share, timing, until
from ftplan.simulation.scene import resolution


@dataclass(frozen=True, eq=False)
class RecoveryScene:
    """What all runs have in common; ``arrivals`` are those that can host tasks."""

    problem: Problem
    options: RecoverySimulationOptions
    schedule_options: RecoveryScheduleOptions  # how a plan is made, and held to its rules, in this scene
    question: RecoveryQuestion
    running: RunningJob
    arrivals: tuple[Arrival, ...]
    cores: tuple[float, ...]  # of each node of the cluster and of each arrival, in this order
    #: ``home``, ``replica``: node of each task and of its active replica, by position in the cluster; -1 without one;
    #: shape (tasks,)
    home: IntArray
    replica: IntArray
    replicas: tuple[other_plans.Replica, ...]
    timing: RecoveryTiming
    checkpoint_s: float
    checkpoint_share: float  # expected age of the last checkpoint at the failure, in intervals
    until_s: float
    every_s: float  # resolution of what an answer tells over time
    inputs: tuple[InputFile, ...]
    warnings: tuple[Warn, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the cluster, then those that arrive."""
        return (*self.cluster.nodes, *(item.node for item in self.arrivals))

    @cached_property
    def task_names(self) -> tuple[str, ...]:
        """What messages call the tasks."""
        graph = self.question.situation.graph
        return tuple("{}/{}".format(*graph.name(task)) for task in range(graph.tasks))

    @property
    def files(self) -> dict[str, Any]:
        """The options that take a file, as an answer keeps them."""
        paths = {item.role: item.path for item in self.inputs}
        options = self.schedule_options
        return {
            "replicas": other_plans.recorded(options.replicas, paths.get("replicas")),
            "checkpoints": other_plans.recorded(options.checkpoints, paths.get("checkpoints")),
            "costs": recorded_costs(options.costs, paths.get("costs")),
        }

    @property
    def cluster(self) -> Cluster:
        """The cluster, which is there."""
        assert self.question.situation.cluster is not None
        return self.question.situation.cluster


def scene_of(problem: Problem, plan: Plan | None, options: RecoverySimulationOptions) -> RecoveryScene:
    """Build what all runs have in common. What *options* leave open is as the plan says, else by default.

    Raises FtplanError if an input is missing or names what is not there, nothing fails, or the job does not keep up.
    """
    if problem.topology is None:
        raise FtplanError("a simulation needs a topology: give --topology (in Python topology=...)")
    schedule_options = _schedule_options(plan, options)
    _require_placement(problem)
    question = question_of(problem, schedule_options)
    if not question.situation.failed.nodes and not question.situation.failed.tasks.any():
        first = min(event.at_s for event in question.situation.failed.events)
        raise FtplanError(
            f"nothing fails at 0 s, the first failure is at {first:g} s: times count from the first failure"
        )
    graph, costs = question.situation.graph, question.situation.recovery.costs
    headroom = 1.0 / schedule_options.max_cpu if options.headroom is None else options.headroom
    job = JobOptions(options.batch_s, options.record_bytes, headroom, options.window_s, options.max_streams)
    running = running_job(graph, question.situation.costs.cost, question.situation.state.total, costs, job)
    cluster = problem.cluster
    assert cluster is not None
    arrivals = tuple(item for item in question.arrivals if "tasks" in item.node.accepts)
    home = _home(question, cluster)
    standing, replica_file = other_plans.replicas(schedule_options.replicas, graph, cluster)
    interval, doubts = checkpoint_interval(question, options)
    given = (replica_file, question.checkpoint_file, question.situation.recovery.file)
    until_s = until(arrivals, question, plan, options)
    # how plans do without an interval between checkpoints says nothing of simulations
    said = (warning for warning in question.warnings if warning.code != "INTERVAL_UNKNOWN")
    warnings = (*problem.warnings, *said, *doubts, *_slow(question, running, options))
    return RecoveryScene(
        problem=problem,
        options=options,
        schedule_options=schedule_options,
        question=question,
        running=running,
        arrivals=arrivals,
        cores=_cores(cluster, arrivals, home, running, _kept_busy(question, cluster, home, standing)),
        home=home,
        replica=_replicas(standing, graph.tasks, cluster),
        replicas=standing,
        timing=timing(question, cluster, schedule_options, options),
        checkpoint_s=interval,
        checkpoint_share=checkpoint_share(question),
        until_s=until_s,
        every_s=resolution(until_s, options.every_s),
        inputs=(*problem.inputs, *(file for file in given if file is not None)),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _schedule_options(plan: Plan | None, options: RecoverySimulationOptions) -> RecoveryScheduleOptions:
    """Return how a schedule is made here: as asked, else as the plan records, else by default."""
    recorded = RecoveryScheduleOptions() if plan is None else RecoveryScheduleOptions.of_plan(plan)

    def chosen(name: str, default: object) -> object:
        value = getattr(options, name)
        return value if value is not None else default if plan is None else getattr(recorded, name)

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
    home = np.full(question.situation.graph.tasks, -1, dtype=np.int64)
    assert cluster.placement is not None
    for operator, nodes in cluster.placement.tasks.items():
        tasks = question.situation.graph.slice_of(question.situation.graph.topology.position[operator])
        home[tasks] = [cluster.position[node] for node in nodes]
    return home


def _replicas(standing: tuple[other_plans.Replica, ...], tasks: int, cluster: Cluster) -> IntArray:
    replica = np.full(tasks, -1, dtype=np.int64)
    for item in standing:
        if item.node is None:
            raise FtplanError("--replicas: a replica is on no node: a simulation needs to know where it runs")
        replica[item.task] = cluster.position[item.node]
    return replica


def _kept_busy(
    question: RecoveryQuestion, cluster: Cluster, home: IntArray, standing: tuple[other_plans.Replica, ...]
) -> FloatArray:
    """Return the cores that replicas take on each node of the cluster whose primary never fails, shape (nodes,).

    They process what their primaries do all the time. Others take over, and take theirs as tasks do.
    """
    failed = question.situation.failed
    down = set(np.flatnonzero(failed.tasks).tolist()).union(*(event.tasks.tolist() for event in failed.events))
    nodes = failed.nodes.union(*(event.nodes for event in failed.events))
    busy = np.zeros(len(cluster.nodes))
    for item in standing:
        if item.node is not None and item.task not in down and cluster.nodes[home[item.task]].id not in nodes:
            busy[cluster.position[item.node]] += question.situation.costs.cost[item.task]
    return busy


def _cores(
    cluster: Cluster, arrivals: tuple[Arrival, ...], home: IntArray, running: RunningJob, busy: FloatArray
) -> tuple[float, ...]:
    """Return the cores of the cluster's nodes and of those that arrive; a node that comes back is one of the latter."""
    nodes = [*cluster.nodes, *(item.node for item in arrivals)]
    free = np.array([node.cpu - node.used_cpu for node in nodes])
    free[: len(busy)] -= busy
    return tuple(node_cores(free, home, running).tolist())


def _slow(question: RecoveryQuestion, running: RunningJob, options: RecoverySimulationOptions) -> Iterator[Warn]:
    """Say which queries get too few records to be judged."""
    if running.slow:
        names = ["query:{}/{}".format(*question.situation.graph.name(task)) for task in running.slow]
        which = f"{names[0]} gets" if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more get"
        text = f"{which} fewer than {LEAST_RECORDS:g} records in {options.window_s:g} s (--window), too few to judge"
        yield Warn("QUERIES_NOT_JUDGED", f"{text} latency: left out")
