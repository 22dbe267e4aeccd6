"""Is a plan what it claims: do its inputs stand, does it keep its rules, is its objective right?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ftplan.api.answers import Verification, of_kind
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.violation import Violation

#: From (plan, problem, strict) to what the plan violates and the rules that it was held to.
Judge = Callable[[Plan, Problem, bool], tuple[list[Violation], tuple[str, ...]]]

_JUDGES: Mapping[str, str] = {
    "checkpoint-allocation": "ftplan.api.checkpoint_verification:judge_allocation",
    "recovery-schedule": "ftplan.api.recovery_verification:judge_schedule",
    "task-replication": "ftplan.api.replication_verification:judge_replication",
}


def verify(plan: Plan, problem: Problem, *, strict: bool = False, ignore_stale: bool = False) -> Verification:
    """Hold a plan to the rules that it names (*strict*: to all) and to the fingerprints of its inputs.

    Codes: those of the kind, and ``STALE_INPUT`` for an input whose hash changed.

    Raises
    ------
    FtplanError
        If the plan is of a kind that cannot be verified yet, or an input is missing.
    """
    judge: Judge = of_kind(_JUDGES, plan, "verify")
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
