"""What starts when and where in a run: by a given plan, or by one that is made for the expected arrivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.model.plan import Plan, Warn
from ftplan.model.topology import FloatArray
from ftplan.planners import registry
from ftplan.planners.recovery_schedule.body import body
from ftplan.planners.recovery_schedule.hosts import local_bytes
from ftplan.planners.recovery_schedule.incident import Incident, incident_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions
from ftplan.planners.recovery_schedule.replay.replay import ScheduleReplay, named, replay
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.recovery_schedule.score import require_known_tasks
from ftplan.planners.result import Result
from ftplan.simulation.recovery.scene import RecoveryScene
from ftplan.simulation.recovery.setting import RecoveryStart

#: Seconds and work for a plan that is made for a simulation, and how many times as far it looks as a plan by default.
PLANNING_S, PLANNING_ITERATIONS, MUCH_LATER = 60.0, 20, 8.0

Steps = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class GivenSchedule:
    """A plan, played through at the times that it was made for: which arrivals its steps wait for.

    ``name`` is that of one that is given, ``algorithm`` what made one for the simulation, with what it *said*.
    """

    name: str | None
    steps: Steps
    replayed: ScheduleReplay
    algorithm: str | None = None
    said: tuple[Warn, ...] = ()

    @classmethod
    def of(cls, plan: Plan, name: str, scene: RecoveryScene) -> GivenSchedule:
        """Hold a plan against the failure of a scene.

        Raises FtplanError if the plan names a task or node that is not there.
        """
        assert plan.plan is not None
        incident = incident_of(replace(plan, options=scene.schedule_options.recorded()), scene.problem)
        require_known_tasks(plan, incident, name)
        steps = plan.plan["steps"]
        _require_known_nodes(steps, incident, name)
        return cls(name, steps, replay(steps, incident))

    @classmethod
    def made(cls, scene: RecoveryScene, algorithm: str | None) -> GivenSchedule:
        """Plan for the times at which nodes are expected, bounded by work; None: the default algorithm.

        Raises FtplanError if the algorithm refuses the problem.
        """
        options, row = scene.schedule_options, registry.row(RECOVERY_SCHEDULE.name, algorithm)
        problem = scene.question.with_replicas(scene.replicas)
        limits = RecoveryOptions(
            objective=options.objective,  # type: ignore[arg-type]  # one of the three, as its check says
            prefetch=options.prefetch,
            seed=options.seed,
            time_limit_s=PLANNING_S,
            iterations=PLANNING_ITERATIONS if options.iterations is None else options.iterations,
        )
        planner = registry.load(row)
        result: Result[Schedule] = planner(replace(problem, horizon_s=MUCH_LATER * problem.horizon_s), limits)
        steps = [] if result.answer is None else body(result.answer, problem)["steps"]
        said = tuple(warning for warning in result.warnings if warning.code == "TIME_LIMIT")
        plan = Plan(RECOVERY_SCHEDULE.name, options=options.recorded(), plan={"steps": steps})
        return cls(None, steps, replay(steps, incident_of(plan, scene.problem)), row.name, said)

    @property
    def warnings(self) -> tuple[Warn, ...]:
        """What was said when it was made, or what it does that cannot be here; it is simulated all the same.

        A failure or arrival at which it does nothing is no fault here.
        """
        if self.name is None:
            return self.said
        faults = [fault for fault in self.replayed.faults if fault.code != "MISSING_STEP"]
        pauses: tuple[Warn, ...] = ()
        if any(step.get("pause") for step in self.steps):
            text = f"{self.name}: tasks give way to others by it, but go on in the simulation, beside those others"
            pauses = (Warn("PAUSE_NOT_SIMULATED", text),)
        if not faults:
            return pauses
        more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
        text = f"{self.name}: {faults[0].code}: {faults[0].message}{more}; see verify"
        return (*pauses, Warn("PLAN_BREAKS_RULES", text))

    def times(self, there: Mapping[str, float]) -> list[float]:
        """Return when each step happens, where nodes arrive at other times than the plan was made for.

        A step happens at its failure, and when all nodes that trigger it are there, as in
        :func:`ftplan.planners.recovery_schedule.algorithms.schedule.arrival_replay.replay`.
        """
        times = [float(step["at_s"]) for step in self.steps]
        for event in self.replayed.events:
            if event.step is not None and event.arrivals:
                # a node that no step names may seem to come at this one
                waited = [name for name in named(self.steps[event.step].get("trigger"), "arrival") if name in there]
                begins = event.at_s if event.failures or event.at_s == 0.0 else 0.0
                triggers = waited or [item.node.id for item in event.arrivals]
                times[event.step] = max([begins, *(there[name] for name in triggers)])
        return times

    def failed_s(self) -> list[FloatArray]:
        """Return when each task had failed last before each step, (steps, tasks), where the plan knows of it.

        A node that comes earlier than planned takes over what fails only later all the same.
        """
        failed: list[FloatArray] = [np.zeros(0)] * len(self.steps)
        last = np.zeros(0)
        for event in self.replayed.events:
            last = last if event.failed_s is None else event.failed_s
            if event.step is not None:
                failed[event.step] = last
        return failed


def _require_known_nodes(steps: Steps, incident: Incident, name: str) -> None:
    known = {arrival.node.id for arrival in incident.arrivals}
    known |= set(incident.cluster.position) if incident.cluster is not None else set()
    for number, step in enumerate(steps):
        for item in step["recover"]:
            node = item.get("node")
            if node not in known:
                text = f"{name}: plan.steps[{number}] starts {item['operator']}/{item['index']} on "
                if node is None:
                    raise FtplanError(f"{text}no node: a simulation needs a plan that was made with a cluster")
                near = suggestion(str(node), known)
                raise FtplanError(f"{text}node {node!r}{near}, which neither the cluster has nor arrives")


def starts(
    steps: Steps, times: Sequence[float], scene: RecoveryScene, failed_s: Sequence[FloatArray] | None = None
) -> tuple[RecoveryStart, ...]:
    """Return what the steps of a schedule start, with numbers for names; nothing before it has failed.

    A task that is split over nodes starts on the first of them; one whose node fails and comes back starts on the new
    one once the old one has failed.
    """
    graph, cluster = scene.question.situation.graph, scene.cluster
    arriving = {item.node.id: len(cluster.nodes) + i for i, item in enumerate(scene.arrivals)}
    gone_s = _failure_times(scene)
    live = {node.id: i for i, node in enumerate(cluster.nodes) if node.id not in scene.question.situation.failed.nodes}
    local = local_bytes(graph, scene.question.situation.state, scene.question.copies, live)
    made = []
    for number, (step, at_s) in enumerate(zip(steps, times, strict=True)):
        begun: set[int] = set()
        for item in step["recover"]:
            task = graph.number(item["operator"], item["index"])
            if task in begun:
                continue
            begun.add(task)
            name = item["node"]
            node = cluster.position.get(name, -1)
            if name in arriving and (node < 0 or gone_s.get(name, np.inf) <= at_s):
                node = arriving[name]
            begins = at_s if failed_s is None else max(at_s, float(failed_s[number][task]))
            made.append(RecoveryStart(begins, task, node, local.get((task, node), 0.0)))
    return tuple(made)


def _failure_times(scene: RecoveryScene) -> dict[str, float]:
    """Return when each node fails first."""
    failed = dict.fromkeys(scene.question.situation.failed.nodes, 0.0)
    for event in scene.question.situation.failed.events:
        for node in event.nodes:
            failed.setdefault(node, event.at_s)
    return failed
