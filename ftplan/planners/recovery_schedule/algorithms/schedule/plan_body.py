"""A schedule as the document that a plan file holds."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Pause, Restore, Schedule, Step
from ftplan.planners.recovery_schedule.problem import RecoveryProblem


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


def _step(number: int, step: Step, problem: RecoveryProblem) -> dict[str, Any]:
    priority = problem.graph.per_task("priority")
    pause = {"pause": [_pause(item, problem) for item in step.pause]} if step.pause else {}
    return {
        "step": number,
        "at_s": step.at_s,
        "trigger": step.trigger,
        "capacity": step.capacity,
        "used": step.used,
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
