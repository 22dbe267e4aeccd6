"""What changes from one plan to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ftplan.api.answers import Difference, of_kind
from ftplan.api.option_checks import PlanSource, a_plan, a_problem
from ftplan.errors import FtplanError
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem

_DIFF: Mapping[str, str] = {
    "checkpoint-allocation": "ftplan.api.checkpoints.diff:diff_allocations",
    "recovery-schedule": "ftplan.api.recovery.diff:diff_schedules",
    "task-replication": "ftplan.api.replication.diff:diff_replications",
}


def diff(before: Plan | PlanSource, after: Plan | PlanSource, problem: Problem | None = None) -> Difference:
    """Compare two plans of one kind; a *problem* tells how much state moves, where the kind has any to move.

    Raises
    ------
    FtplanError
        If the kinds differ, are of a kind that cannot be compared yet, or a plan holds no answer.
    """
    before, after = a_plan(before), a_plan(after)
    problem = None if problem is None else a_problem(problem)
    if before.kind != after.kind:
        raise FtplanError(f"cannot compare a {before.kind} with a {after.kind}: both plans must be of one kind")
    compare: Callable[[Plan, Plan, Problem | None], Difference] = of_kind(_DIFF, before, "diff")
    for plan, which in ((before, "first"), (after, "second")):
        if plan.plan is None:
            raise FtplanError(f"the {which} plan holds no answer: its status is {plan.status} ({plan.reason})")
    return compare(before, after, problem)
