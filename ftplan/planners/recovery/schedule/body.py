"""A schedule as the document that a plan file holds."""

from __future__ import annotations

from typing import Any

from ftplan.planners.recovery.problem import RecoveryProblem
from ftplan.planners.recovery.schedule.schedule import Recovery, Schedule, Step


def body(schedule: Schedule, problem: RecoveryProblem) -> dict[str, Any]:
    """Return steps, queries, unrecovered tasks and the timeline, with names for numbers."""
    return {
        "steps": [_step(number, step, problem) for number, step in enumerate(schedule.steps)],
        "queries": [
            {**_name(o.query, problem), "priority": o.priority, "back_s": o.back_s, "reason": o.reason}
            for o in sorted(schedule.outages, key=lambda o: (o.query, o.down_s))
        ],
        "unrecovered": [{**_name(task, problem), "reason": reason} for task, reason in schedule.unrecovered],
        "timeline": timeline(schedule),
    }


def timeline(schedule: Schedule) -> list[dict[str, Any]]:
    """Return how many of the queries that failed are back, and their priority, at each time at which that changes."""
    changes: list[tuple[float, int, float]] = []
    seen: set[int] = set()
    for outage in sorted(schedule.outages, key=lambda o: (o.query, o.down_s)):
        if outage.query in seen:
            changes.append((outage.down_s, -1, -outage.priority))  # it had come back and is down again
        seen.add(outage.query)
        if outage.back_s is not None:
            changes.append((outage.back_s, 1, outage.priority))
    queries, priority, rows = 0, 0.0, []
    for at_s in sorted({change[0] for change in changes}):
        now = [change for change in changes if change[0] == at_s]
        queries += sum(change[1] for change in now)
        priority += sum(change[2] for change in now)
        rows.append({"at_s": at_s, "queries": queries, "priority": priority})
    return rows


def _name(task: int, problem: RecoveryProblem) -> dict[str, Any]:
    operator, index = problem.graph.name(task)
    return {"operator": operator, "index": index}


def _step(number: int, step: Step, problem: RecoveryProblem) -> dict[str, Any]:
    priority = problem.graph.per_task("priority")
    return {
        "step": number,
        "at_s": step.at_s,
        "trigger": step.trigger,
        "capacity": step.capacity,
        "used": step.used,
        "objective": step.objective.to_dict(),
        "global_rollback": step.global_rollback,
        "recover": [_recovery(item, problem) for item in step.recover],
        "restored": [
            {**_name(query, problem), "priority": float(priority[query]), "at_s": at_s} for query, at_s in step.restored
        ],
    }


def _recovery(item: Recovery, problem: RecoveryProblem) -> dict[str, Any]:
    entry = {
        **_name(item.task, problem),
        "node": problem.hosts[item.host].id,
        "cpu": item.cpu,
        "ready_s": item.ready_s,
        "prefetch": item.prefetch,
    }
    if item.key_groups is not None:
        entry["key_groups"] = list(item.key_groups)
    return entry
