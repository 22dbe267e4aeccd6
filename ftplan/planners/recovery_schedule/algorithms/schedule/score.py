"""A schedule as the metrics of a whole repair see it, recomputed from its steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from ftplan.model.measures.downtimes import Changes, Downtimes, fidelity_time
from ftplan.model.measures.fidelity import FidelityModel
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import StepAssignment
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.problem import RecoveryProblem, decision_points
from ftplan.planners.recovery_schedule.schedule import Restore, Schedule


def priority_time_of(schedule: Schedule, problem: RecoveryProblem) -> float:
    """Return Σ priority × seconds down within the horizon."""
    rows = [(downtime.query, downtime.down_s, downtime.back_s) for downtime in schedule.downtimes]
    return Downtimes.of(rows, problem.graph.per_task("priority")).priority_time(problem.horizon_s)


def fidelity_time_of(schedule: Schedule, problem: RecoveryProblem, model: FidelityModel) -> float:
    """Return the output fidelity integrated over the horizon, in seconds; tasks live when they have caught up."""
    return fidelity_time(model, ~problem.failed, changes(schedule, problem), problem.horizon_s)


def changes(schedule: Schedule, problem: RecoveryProblem) -> Changes:
    """Return when tasks start to work and stop, by walking through failures and recoveries once more.

    A split task starts with its last part; one that fails before it has caught up never started.
    """
    repair = RepairState(problem)
    starts: dict[int, float] = {}
    events: dict[tuple[float, bool], list[int]] = defaultdict(list)

    def stop(task: int, at_s: float) -> None:
        started = starts.pop(task, np.inf if problem.failed[task] else -np.inf)
        if 0.0 <= started < at_s:
            events[started, True].append(task)
        if started <= at_s:
            events[at_s, False].append(task)

    def begin(restores: Iterable[Restore]) -> None:
        for item in restores:
            starts[item.task] = max(item.caught_up_s, starts.get(item.task, 0.0))

    for point, step in zip(decision_points(problem), schedule.steps, strict=True):
        struck = repair.strike(point.failures, point.at_s)
        for task in [*np.flatnonzero(struck.tasks).tolist(), *dict.fromkeys(item.task for item in struck.rolled_back)]:
            stop(task, point.at_s)
        begin(struck.rolled_back)
        for arrival in point.arrivals:
            repair.arrive(arrival.host)
        for item in step.pause:
            if not item.replica:
                stop(item.task, point.at_s)
        standbys = [item.task for item in step.pause if item.replica]
        repair.pause([item.task for item in step.pause if not item.replica], step.at_s, standbys)
        placed = [StepAssignment(item.task, item.host, item.cpu, item.key_groups) for item in step.recover]
        begin(repair.recover(placed, step.at_s))
    for task, started in starts.items():
        events[started, True].append(task)
    return events
