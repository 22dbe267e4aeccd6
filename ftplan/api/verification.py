"""Is a plan what it claims: do its inputs stand, does it keep its rules, is what it states true?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ftplan.api.answers import Verification, of_kind, with_failures
from ftplan.api.option_checks import PlanSource, a_plan, a_problem, call
from ftplan.api.statements import Judges, judge_envelope, unknown_objective
from ftplan.errors import FtplanError
from ftplan.model.plan import InputFile, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.violation import Violation

_JUDGES: Mapping[str, str] = {
    "checkpoint-allocation": "ftplan.api.checkpoints.judge:JUDGES",
    "recovery-schedule": "ftplan.api.recovery.judge:JUDGES",
    "task-replication": "ftplan.api.replication.judge:JUDGES",
}
#: Roles of inputs that are plans; their hashes are looked up where the plan says that they lie.
_PLANS = ("current", "replicas", "checkpoints")


def verify(
    plan: Plan | PlanSource,
    problem: Problem,
    *,
    strict: bool = False,
    ignore_stale: bool = False,
    fail: Iterable[str] = (),
    prove: bool = False,
    time_limit_s: float = 60.0,
) -> Verification:
    """Hold a plan to the rules that it names (*strict*: to all), to its inputs, and to what it states.

    What follows from plan and inputs is recomputed: objective, gap, scale and status, the summary, moves and other
    changes, derived options. ``not_recomputed`` names what the plan states beside these. A plan made by hand may leave
    out everything but its kind and body: what it does not state is not judged.

    Parameters
    ----------
    plan
        A plan, the path of one, or its document.
    fail
        Selectors of what fails, besides the failure of *problem* and the plan's own.
    prove
        Plan again to judge what cannot be recomputed, for up to *time_limit_s* a planner: see
        :func:`ftplan.api.proof.prove`.

    Codes: those of the kind, ``STALE_INPUT`` for an input whose hash changed, ``UNKNOWN_RULE``, ``STATUS_DIFFERS``,
    ``OBJECTIVE_DIFFERS``, ``GAP_DIFFERS``, ``SUMMARY_DIFFERS``, ``OPTION_DIFFERS``, ``CHANGES_DIFFER``.

    Raises
    ------
    FtplanError
        If the plan is of a kind that cannot be verified yet, or an input is missing.
    """
    plan, problem = a_plan(plan), a_problem(problem)
    given = {"strict": strict, "ignore_stale": ignore_stale, "prove": prove, "time_limit_s": time_limit_s}
    named = call("verify", fail=fail, **given)["fail"]
    kind: Judges = of_kind(_JUDGES, plan, "verify")
    warnings = problem.warnings
    if plan.kind == "checkpoint-allocation" and named:
        text = "a checkpoint allocation keeps its rules or not whatever fails: evaluate scores it under a failure"
        warnings += (Warn("FAILURE_IGNORED", text),)
    elif named:
        plan = with_failures(plan, named)
    found = [] if ignore_stale else _stale(plan, problem)
    found += judge_envelope(plan, kind.rules)
    rules: tuple[str, ...] = ()
    left: tuple[str, ...] = ("infeasible",) if plan.infeasible is not None else ()
    if plan.plan is None:
        if plan.objective is not None and plan.objective.name not in kind.objectives:
            found.append(unknown_objective(plan.objective, kind.objectives))
        asked = kind.question(plan, problem)
        found += asked.violations
        left = (*left, *asked.not_recomputed)
    else:
        # Rules that nobody knows are said above, and no judge knows what to do with them.
        named_rules = None if plan.rules is None else tuple(rule for rule in plan.rules if rule in kind.rules)
        judged = kind.answer(replace(plan, rules=named_rules), problem, strict)
        found += judged.violations
        rules, left = judged.rules, (*left, *judged.not_recomputed)
    if plan.objective is not None and plan.objective.bound is not None:
        left = ("bound", *left)
    if prove:
        from ftplan.api.proof import prove as proof

        more, left = proof(plan, problem, left, valid=not found, time_limit_s=time_limit_s)
        found += more
    return Verification(tuple(dict.fromkeys(found)), rules, warnings, tuple(dict.fromkeys(left)))


def _stale(plan: Plan, problem: Problem) -> list[Violation]:
    now = {item.role: item for item in problem.inputs}
    for item in plan.inputs:
        if item.role in _PLANS and item.role not in now:
            file = _plan_file(item)
            if file is not None:
                now[item.role] = file
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


def _plan_file(item: InputFile) -> InputFile | None:
    """Return the fingerprint of a plan that another one was made from, None where it is not there any more."""
    from ftplan.io.plan_file import load_plan

    if item.path is None or not Path(item.path).exists():
        return None
    try:
        return load_plan(item.path).input
    except FtplanError:
        return None
