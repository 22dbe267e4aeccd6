"""The body of a plan of kind recovery-schedule: its model, and how a schedule is written as one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, KeyGroups, NonNegative, ObjectiveModel, Positive
from ftplan.model.tolerances import ROUNDING

if TYPE_CHECKING:
    from ftplan.planners.recovery_schedule.problem import RecoveryProblem
    from ftplan.planners.recovery_schedule.schedule import Pause, Restore, Schedule, ScheduleStep


class RecoveryModel(FileModel):
    """A task that starts in a step."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")
    node: Id | None = Field(None, description="Node that it starts on; null without a cluster")
    cpu: NonNegative | None = Field(None, description="Cores that it takes")
    ready_s: NonNegative | None = Field(None, description="When its state is there and it runs")
    caught_up_s: NonNegative | None = Field(None, description="When it is up to date again")
    prefetch: bool | None = Field(None, description="Begun with capacity that completes no query")
    key_groups: KeyGroups | None = Field(
        None, description="[first, last] of a part of a task that is split over nodes; its parts are entries each"
    )


class RestoredModel(FileModel):
    """A query that is whole by a step."""

    operator: Id = Field(description="Operator id of its output task")
    index: Index = Field(description="Number of its output task")
    priority: Positive | None = Field(None, description="Its priority")
    at_s: NonNegative | None = Field(None, description="When the last of its tasks runs")


class PauseModel(FileModel):
    """A task that runs and gives way to queries of higher priority; ``recover`` brings it back."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")
    node: Id | None = Field(None, description="Node that it runs on")
    cpu: NonNegative | None = Field(None, description="Cores that are free then")
    replica: bool | None = Field(None, description="Its replica that has not taken over gives way, for good")


class StepModel(FileModel):
    """What is decided at one time; steps at which nothing can be done are listed too."""

    step: Index | None = Field(None, description="From 0")
    at_s: NonNegative = Field(description="Seconds after the failure")
    trigger: str | None = Field(None, description="failure, failure:SELECTOR[,SELECTOR] or arrival:ID[,ID]")
    capacity: NonNegative | None = Field(None, description="Cores free just before the step")
    used: NonNegative | None = Field(None, description="Cores that the tasks of the step take")
    objective: ObjectiveModel | None = Field(None, description="How good the step's own choice is")
    global_rollback: bool | None = Field(None, description="Whether all live tasks go back to the last checkpoint")
    pause: list[PauseModel] | None = Field(None, description="Tasks that give way before others start")
    recover: list[RecoveryModel] = Field(description="Tasks that start, in this order")
    restored: list[RestoredModel] | None = Field(None, description="Queries that the step makes whole")


class QueryModel(FileModel):
    """A query that failed; one that fails twice is listed twice."""

    operator: Id = Field(description="Operator id of its output task")
    index: Index = Field(description="Number of its output task")
    priority: Positive | None = Field(None, description="Its priority")
    back_s: NonNegative | None = Field(None, description="When it is whole again; null: not within the schedule")
    reason: str | None = Field(None, description="In words")


class UnrecoveredModel(FileModel):
    """A task that is still down at the end."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")
    reason: str | None = Field(None, description="In words")


class TimelineModel(FileModel):
    """How many of the failed queries are back."""

    at_s: NonNegative = Field(description="Seconds after the failure")
    queries: Index = Field(description="Failed queries that are back by then")
    priority: NonNegative = Field(description="Their summed priority")


class RecoveryScheduleBody(FileModel):
    """What a plan of kind recovery-schedule holds; one made by hand needs only the steps."""

    steps: list[StepModel] = Field(description="In order of time, one for each time at which something happens")
    queries: list[QueryModel] | None = Field(None, description="One entry for each outage of a query")
    unrecovered: list[UnrecoveredModel] | None = Field(None, description="Tasks that are down at the end")
    timeline: list[TimelineModel] | None = Field(None, description="Cumulative, where it changes")


BODY = RecoveryScheduleBody


def body(schedule: Schedule, problem: RecoveryProblem) -> dict[str, Any]:
    """Return steps, queries, unrecovered tasks and the timeline, with names for numbers."""
    return {
        "steps": [_step(number, step, problem) for number, step in enumerate(schedule.steps)],
        "queries": [
            {**_name(d.query, problem), "priority": d.priority, "back_s": d.back_s, "reason": d.reason}
            for d in schedule.downtimes
        ],
        "unrecovered": [{**_name(task, problem), "reason": reason} for task, reason in schedule.unrecovered],
        "timeline": timeline(schedule),
    }


def timeline(schedule: Schedule) -> list[dict[str, Any]]:
    """Return how many of the queries that failed are back, and their priority, at each time at which that changes."""
    changes: dict[float, list[tuple[int, float]]] = defaultdict(list)
    seen: set[int] = set()
    for downtime in schedule.downtimes:
        if downtime.query in seen:  # it had come back and is down again
            changes[downtime.down_s].append((-1, -downtime.priority))
        seen.add(downtime.query)
        if downtime.back_s is not None:
            changes[downtime.back_s].append((1, downtime.priority))
    queries, priority, rows = 0, 0.0, []
    for at_s, here in sorted(changes.items()):
        queries += sum(count for count, _ in here)
        priority += sum(value for _, value in here)
        rows.append({"at_s": at_s, "queries": queries, "priority": priority})
    return rows


def _name(task: int, problem: RecoveryProblem) -> dict[str, Any]:
    operator, index = problem.graph.name(task)
    return {"operator": operator, "index": index}


def _cores(value: float) -> float:
    """Return cores without what rounding leaves of none."""
    return value if abs(value) > ROUNDING else 0.0


def _step(number: int, step: ScheduleStep, problem: RecoveryProblem) -> dict[str, Any]:
    priority = problem.graph.per_task("priority")
    pause = {"pause": [_pause(item, problem) for item in step.pause]} if step.pause else {}
    return {
        "step": number,
        "at_s": step.at_s,
        "trigger": step.trigger,
        "capacity": _cores(step.capacity),
        "used": _cores(step.used),
        "objective": step.objective.to_dict(),
        "global_rollback": step.global_rollback,
        **pause,
        "recover": [_restore(item, problem) for item in step.recover],
        "restored": [
            {**_name(query, problem), "priority": float(priority[query]), "at_s": at_s} for query, at_s in step.restored
        ],
    }


def _pause(item: Pause, problem: RecoveryProblem) -> dict[str, Any]:
    entry = {**_name(item.task, problem), "node": problem.hosts[item.host].id, "cpu": item.cpu}
    return {**entry, "replica": True} if item.replica else entry


def _restore(item: Restore, problem: RecoveryProblem) -> dict[str, Any]:
    entry = {
        **_name(item.task, problem),
        "node": problem.hosts[item.host].id,
        "cpu": item.cpu,
        "ready_s": item.ready_s,
        "caught_up_s": item.caught_up_s,
        "prefetch": item.prefetch,
    }
    if item.key_groups is not None:
        entry["key_groups"] = list(item.key_groups)
    return entry
