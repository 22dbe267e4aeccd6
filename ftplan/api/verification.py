"""Is a plan what it claims: do its inputs stand, does it keep its rules, is its objective right?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ftplan.api.answers import Verification, of_kind
from ftplan.api.checkpoint_verification import judge_allocation
from ftplan.api.option_checks import PlanSource, a_plan, a_problem, call
from ftplan.api.recovery_verification import judge_schedule
from ftplan.api.replication_verification import judge_replication
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.violation import Violation

#: From (plan, problem, strict) to what the plan violates and the rules that it was held to.
Judge = Callable[[Plan, Problem, bool], tuple[list[Violation], tuple[str, ...]]]

_JUDGES: Mapping[str, Judge] = {
    "checkpoint-allocation": judge_allocation,
    "recovery-schedule": judge_schedule,
    "task-replication": judge_replication,
}


def verify(
    plan: Plan | PlanSource, problem: Problem, *, strict: bool = False, ignore_stale: bool = False
) -> Verification:
    """Hold a plan to the rules that it names (*strict*: to all) and to the fingerprints of its inputs.

    *plan* is a plan, the path of one, or its document.

    Codes: those of the kind, and ``STALE_INPUT`` for an input whose hash changed.

    Raises
    ------
    FtplanError
        If the plan is of a kind that cannot be verified yet, or an input is missing.
    """
    plan, problem = a_plan(plan), a_problem(problem)
    call("verify", strict=strict, ignore_stale=ignore_stale)
    judge = of_kind(_JUDGES, plan, "verify")
    found = [] if ignore_stale else _stale(plan, problem)
    if plan.plan is None:
        return Verification(tuple(found), (), problem.warnings)
    broken, rules = judge(plan, problem, strict)
    return Verification((*found, *broken), rules, problem.warnings)


def _stale(plan: Plan, problem: Problem) -> list[Violation]:
    now = {item.role: item for item in problem.inputs}
    return [
        Violation(
            "STALE_INPUT",
            f"{item.role} {now[item.role].path or '(given)'} is not what the plan was made from: its sha256 begins "
            f"{now[item.role].sha256[:12]}, the plan's {item.sha256[:12]}; plan again, or pass --ignore-stale",
            item.role,
        )
        for item in plan.inputs
        if item.role in now and now[item.role].sha256 != item.sha256
    ]
