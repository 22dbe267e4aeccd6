"""A schedule as the metrics of a whole repair see it, recomputed from its steps."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from ftplan.metrics.downtimes import Changes, Downtimes, fidelity_time
from ftplan.metrics.fidelity import FidelityModel
from ftplan.planners.recovery.problem import RecoveryProblem
from ftplan.planners.recovery.schedule.construction import moments
from ftplan.planners.recovery.schedule.node_assignment import Part
from ftplan.planners.recovery.schedule.repair_state import Progress
from ftplan.planners.recovery.schedule.schedule import Schedule


def downtimes(schedule: Schedule) -> Downtimes:
    """Return the outages of a schedule as arrays."""
    outages = schedule.outages
    return Downtimes(
        query=np.array([o.query for o in outages], dtype=np.int64),
        priority=np.array([o.priority for o in outages], dtype=np.float64),
        down_s=np.array([o.down_s for o in outages], dtype=np.float64),
        back_s=np.array([np.inf if o.back_s is None else o.back_s for o in outages], dtype=np.float64),
    )


def priority_time_of(schedule: Schedule, problem: RecoveryProblem) -> float:
    """Return Σ priority × seconds down within the horizon."""
    return downtimes(schedule).priority_time(problem.horizon_s)


def fidelity_time_of(schedule: Schedule, problem: RecoveryProblem, model: FidelityModel) -> float:
    """Return the output fidelity integrated over the horizon, in seconds; tasks live from their ``ready_s`` on."""
    return fidelity_time(model, ~problem.failed, changes(schedule, problem), problem.horizon_s)


def changes(schedule: Schedule, problem: RecoveryProblem) -> Changes:
    """Return when tasks start to work and stop, by walking through failures and recoveries once more.

    A split task starts with its last part; one that fails while it is being restored never started.
    """
    progress = Progress(problem)
    starts: dict[int, float] = {}
    events: dict[tuple[float, bool], list[int]] = defaultdict(list)
    for moment, step in zip(moments(problem), schedule.steps, strict=True):
        for failure in moment.failures:
            for task in np.flatnonzero(progress.fail(failure)).tolist():
                started = starts.pop(task, 0.0)
                if started <= moment.at_s:
                    events[started, True].append(task)
                    events[moment.at_s, False].append(task)
        for arrival in moment.arrivals:
            progress.arrive(arrival.host)
        parts = [Part(item.task, item.host, item.cpu, item.key_groups) for item in step.recover]
        progress.recover(parts, step.at_s)
        for item in step.recover:
            starts[item.task] = max(item.ready_s, starts.get(item.task, 0.0))
    for task, started in starts.items():
        events[started, True].append(task)
    return events
