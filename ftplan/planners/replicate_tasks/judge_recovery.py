"""Do the recovery schedules that a replication plan holds keep their rules, and are they worth what it states?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.model.plan import FORMAT, FORMAT_VERSION, Objective, Plan
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, SOLVED
from ftplan.model.violation import Violation
from ftplan.planners.judging import Recomputed, judge_objective, unknown_objective
from ftplan.planners.recovery_schedule.judge import judge_schedule
from ftplan.planners.replicate_tasks.from_plan import replicas_of
from ftplan.planners.replicate_tasks.metrics import PRIORITY_TIME, expected
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.recovery_cases import RecoveryCase, recovery_cases


def judge_recoveries(
    plan: Plan, problem: Problem, prepared: PreparedReplication
) -> tuple[list[Violation], list[float] | None]:
    """Return what a plan's recovery schedules violate, and priority x seconds down of each case; None if not judged.

    Each schedule is carried out against the plan's replicas by the judge of recovery schedules. Codes: its own, and
    ``RECOVERY_MISSING`` for a case without a schedule.
    """
    cases = recovery_cases(prepared, problem, TaskReplicationOptions.of_plan(plan))
    rows = {row["id"]: row for row in (plan.plan or {}).get("recovery") or ()}
    broken, values = [], []
    for case in cases:
        row = rows.get(case.id)
        if row is None:
            text = f"plan.recovery has no schedule for case {case.id}, whose downtime the plan states"
            broken.append(Violation("RECOVERY_MISSING", text, "plan.recovery"))
            continue
        values.append(float(row["priority_time"]))
        wrong = _judged(plan, case, row)
        broken += [replace(item, message=f"recovery after {case.id}: {item.message}") for item in wrong]
    if len(values) == len(cases):
        broken += _objective(plan, expected(prepared.problem.cases, values))
    return broken, values if len(values) == len(cases) else None


def _judged(plan: Plan, case: RecoveryCase, row: dict[str, Any]) -> list[Violation]:
    """Return what is wrong with the schedule of one case."""
    stated = Objective(PRIORITY_TIME, "min", float(row["priority_time"]))
    if case.problem is None:
        true = Recomputed(0.0, "min", SOLVED * LEAST_SCALE)
        return judge_objective(stated, true, "feasible")
    replicas = {"replicas": replicas_of(plan)}
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": plan.kind, "plan": replicas}
    options = {**case.options(), "replicas": document, "horizon_s": row.get("horizon_s")}
    schedule = Plan(RECOVERY_SCHEDULE.name, {"steps": row["steps"]}, objective=stated, options=options)
    return list(judge_schedule(schedule, case.problem, False).violations)


def _objective(plan: Plan, value: float) -> list[Violation]:
    stated = plan.objective
    if stated is None or stated.value is None:
        return []
    if stated.name != PRIORITY_TIME:
        return [unknown_objective(stated, (PRIORITY_TIME,))]
    slack = SOLVED * max(abs(value), LEAST_SCALE)
    return judge_objective(stated, Recomputed(value, "min", slack), plan.status)
