"""Whether a plan holds: its rules, its inputs, and what it states; what only planning again can say, if asked for."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ftplan.api.plans import plan as planned
from ftplan.errors import FtplanError
from ftplan.io.options.fields import PlanSource
from ftplan.io.options.parameters import call
from ftplan.model.kinds import noun
from ftplan.model.plan import Plan, Warn, canonical
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, SOLVED
from ftplan.model.violation import Violation
from ftplan.planners.assessments import Verification, with_failures
from ftplan.planners.assumptions import judge_assumptions
from ftplan.planners.judging import UNANSWERED, Judged, differences, judge_envelope, shown, unknown_objective
from ftplan.planners.kind import PlanKind, kind_of
from ftplan.planners.plan_inputs import stale_inputs, unread_inputs, with_inputs
from ftplan.planners.statements import judge_rules, judge_statements, not_stated, taken_as_stated


def verify(
    plan: Plan | PlanSource,
    problem: Problem | None = None,
    *,
    strict: bool = False,
    ignore_stale: bool = False,
    fail: Iterable[str] = (),
    prove: bool = False,
    time_limit_s: float = 60.0,
) -> Verification:
    """Hold a plan to the rules that it names (*strict*: to all), to its inputs, and to what it states.

    What follows from plan and inputs is recomputed: objective, gap, scale and status, the summary, moves and other
    changes, derived options. ``not_recomputed`` names what the plan states beside these, ``unchecked`` the rules for
    which an input is missing: *strict* fails then. A plan made by hand may leave out everything but its kind and body:
    what it does not state is not judged, and named in ``not_stated``.

    Codes of violations are those of the kind, ``STALE_INPUT`` for an input whose hash changed, ``UNKNOWN_RULE``,
    ``STATUS_DIFFERS``, ``OBJECTIVE_DIFFERS``, ``GAP_DIFFERS``, ``SUMMARY_DIFFERS``, ``OPTION_DIFFERS``,
    ``CHANGES_DIFFER``, ``RULE_MISSING``, ``UNCHECKED_RULE``, ``UNKNOWN_ALGORITHM``, ``WARNINGS_DIFFER``.

    Parameters
    ----------
    plan
        A plan, the path of one, or its document.
    problem
        None loads the inputs that the plan names.
    strict
        Hold it to every rule that its kind knows, not only to those that it names.
    ignore_stale
        Let inputs have changed since the plan was made.
    fail
        Selectors of what fails, besides the failure of *problem* and the plan's own.
    prove
        Plan again to judge what cannot be recomputed.
    time_limit_s
        With *prove*: seconds for each planner.

    Returns
    -------
    Verification
        ``valid``, and ``violations`` with their codes.

    Raises
    ------
    FtplanError
        If the plan is of a kind that cannot be verified yet, or an input is missing.
    """
    plan, problem = with_inputs(plan, problem)
    given = {"strict": strict, "ignore_stale": ignore_stale, "prove": prove, "time_limit_s": time_limit_s}
    asked, kind = call("verify", fail=fail, **given), kind_of(plan.kind, "verify")
    plan, ignored = _under_failures(plan, kind, asked["fail"])
    violations = [] if ignore_stale else stale_inputs(plan, problem)
    stale = bool(stale_inputs(plan, problem)) if ignore_stale else bool(violations)
    judged = _judged(plan, problem, kind, strict)
    violations += judged.violations
    if not stale:  # other inputs give other warnings
        violations += judge_statements(plan, problem, (planner.name for planner in kind.planners))
    if strict:
        text = "{} cannot be checked without {}"
        violations += [Violation("UNCHECKED_RULE", text.format(*item), "rules") for item in judged.unchecked]
    left = judged.not_recomputed
    if prove:
        more, left = _proven(plan, problem, kind, left, valid=not violations, time_limit_s=time_limit_s)
        violations += more
    left = tuple(dict.fromkeys((*left, *unread_inputs(plan, problem))))
    return Verification(
        tuple(dict.fromkeys(violations)),
        judged.rules,
        problem.warnings + ignored,
        left,
        judged.unchecked,
        taken_as_stated(plan),
        not_stated(plan, problem, judged.unpromised),
    )


def _under_failures(plan: Plan, kind: PlanKind, named: tuple[str, ...]) -> tuple[Plan, tuple[Warn, ...]]:
    """Return the plan with more that fails, or a warning that its kind answers no failure."""
    if not named:
        return plan, ()
    if kind.answers_failure:
        return with_failures(plan, named), ()
    text = f"a {noun(plan.kind)} keeps its rules or not whatever fails: evaluate scores it under a failure"
    return plan, (Warn("FAILURE_IGNORED", text),)


def _judged(plan: Plan, problem: Problem, kind: PlanKind, strict: bool) -> Judged:
    """Return what the judges of all plans and those of the kind say."""
    judges = kind.judges
    violations = judge_envelope(plan, judges.rules)
    left: tuple[str, ...] = ("infeasible",) if plan.infeasible is not None else ()
    if plan.plan is None:
        if plan.objective is not None and plan.objective.name not in judges.objectives:
            violations.append(unknown_objective(plan.objective, judges.objectives))
        judged = judges.question(plan, problem)
    else:
        # Rules that nobody knows are said above, and no judge knows what to do with them.
        known = None if plan.rules is None else tuple(rule for rule in plan.rules if rule in judges.rules)
        judged = judges.answer(replace(plan, rules=known), problem, strict)
    broken, unknown = judge_assumptions(plan, problem)
    violations, left = violations + broken, (*left, *judged.not_recomputed, *unknown)
    if plan.objective is not None and plan.objective.bound is not None:
        left = ("bound", *left)
    if plan.plan is not None:
        violations += judge_rules(plan, judged.asked)
    rules = () if plan.plan is None else judged.rules
    return judged._replace(violations=[*violations, *judged.violations], rules=rules, not_recomputed=left)


def _proven(
    plan: Plan, problem: Problem, kind: PlanKind, left: tuple[str, ...], *, valid: bool, time_limit_s: float
) -> tuple[list[Violation], tuple[str, ...]]:
    """Plan again, and return what that refutes and which of the statements *left* nobody has recomputed still.

    First by the plan's own algorithm, options and seed; then, where the plan states a bound that this does not prove,
    by the exact one. Each may search for *time_limit_s*.

    What this decides:

    * A stated bound that a plan found now beats is no bound: ``BOUND_REFUTED``, for certain.
    * A stated bound that is tighter than every bound proved now is ``BOUND_NOT_PROVEN``: it may hold, but nobody here
      can tell; a longer time limit may.
    * Else the bound is proved again: the same or a tighter one was found. A plan (*valid* in all else) whose value
      meets it proves itself.
    * A status infeasible is wrong where a plan is found: ``STATUS_DIFFERS``. Where planning again is infeasible too,
      the limit and the fix must be the same.
    * With the same answer as the plan's, all that the plan states is compared (``PROOF_DIFFERS``). With another one
      only what depends on the question alone: figures of blocking recovery and of random orders.

    Raises FtplanError if the plan does not say what it was asked, so that nobody can ask again.
    """
    again = _again(plan, problem, kind, plan.algorithm, time_limit_s)
    refuted: list[Violation] = []
    done: set[str] = set()
    tries = [again]
    if plan.objective is not None and plan.objective.bound is not None:
        if not _reached(plan, again) and plan.algorithm != "exact":
            tries.append(_again(plan, problem, kind, "exact", time_limit_s))
        refuted += _bound(plan, tries)
        done.add("bound")
    if plan.status == "infeasible":
        refuted += _infeasible(plan, again)
        done.add("infeasible")
    for name in kind.summary_of_question:
        if name in plan.summary and name in again.summary and f"summary.{name}" in left:
            refuted += _compared(plan.summary[name], again.summary[name], f"summary.{name}")
            done.add(f"summary.{name}")
    if valid and plan.status == again.status and canonical(plan.plan) == canonical(again.plan):
        refuted += _compared(plan.summary, again.summary, "summary")
        done.update(name for name in left if name.startswith(("summary", "plan")))
    elif "plan.curve" in left:
        refuted += _curve(plan, again)
    kept = tuple(name for name in left if name not in done)
    return refuted, kept


def _again(plan: Plan, problem: Problem, kind: PlanKind, algorithm: str | None, time_limit_s: float) -> Plan:
    if not plan.options:
        raise FtplanError("--prove: the plan has no options, so that nobody can ask again what it answers")
    asked = {**kind.options.asked_by(plan), "time_limit_s": time_limit_s, "seed": plan.seed}
    if "bound" in kind.options.options() and plan.objective is not None and plan.objective.bound is not None:
        asked["bound"] = True
    if not kind.answers_failure:
        problem = replace(problem, failure=None)
    started = time.monotonic()
    try:
        return planned(plan.kind, problem, algorithm=algorithm, **asked)
    except FtplanError as error:
        seconds = time.monotonic() - started
        raise FtplanError(f"--prove: planning again failed after {seconds:.1f} s: {error}") from None


def _slack(*values: float) -> float:
    return SOLVED * max(LEAST_SCALE, *map(abs, values))


def _sign(plan: Plan) -> float:
    """Return 1 where more is better, else -1."""
    return 1.0 if plan.objective is not None and plan.objective.sense == "max" else -1.0


def _reached(plan: Plan, again: Plan) -> bool:
    """Return whether planning again proved a bound at least as tight as the plan's."""
    stated = plan.objective.bound if plan.objective is not None else None
    proved = again.objective.bound if again.objective is not None else None
    if stated is None or proved is None:
        return stated is None
    return _sign(plan) * (proved - stated) <= _slack(stated, proved)


def _bound(plan: Plan, tries: list[Plan]) -> list[Violation]:
    assert plan.objective is not None
    stated = plan.objective.bound
    assert stated is not None
    sign = _sign(plan)
    values = [t.objective.value for t in tries if t.objective is not None and t.objective.value is not None]
    best = max(values, key=lambda value: sign * value, default=None)
    if best is not None and sign * (best - stated) > _slack(stated, best):
        text = f"the bound {stated:.12g} is none: planning again found a plan worth {best:.12g}"
        return [Violation("BOUND_REFUTED", text, "objective.bound")]
    if any(_reached(plan, again) for again in tries):
        return []
    bounds = [t.objective.bound for t in tries if t.objective is not None and t.objective.bound is not None]
    closest = min(bounds, key=lambda bound: sign * bound, default=None)
    what = "no bound" if closest is None else f"only {closest:.12g}"
    text = f"the bound {stated:.12g} is not proven: planning again proves {what}; a longer --time-limit may do more"
    return [Violation("BOUND_NOT_PROVEN", text, "objective.bound")]


def _infeasible(plan: Plan, again: Plan) -> list[Violation]:
    if again.status not in UNANSWERED:
        return [Violation("STATUS_DIFFERS", "the status is infeasible, but planning again finds a plan", "status")]
    if plan.infeasible is None or again.infeasible is None:
        return []
    return _compared(plan.infeasible.to_dict(), again.infeasible.to_dict(), "infeasible")


def _curve(plan: Plan, again: Plan) -> list[Violation]:
    """Hold each point's bound to what planning again reaches with that budget."""
    worth = {point["budget"]: point["value"] for point in (again.plan or {}).get("curve") or ()}
    refuted = []
    for k, point in enumerate((plan.plan or {}).get("curve") or ()):
        reached, bound = worth.get(point["budget"]), point.get("bound")
        if reached is not None and bound is not None and reached > bound + _slack(reached):
            text = f"plan.curve[{k}] has a bound of {bound:.12g}, planning again reaches {reached:.12g}"
            refuted.append(Violation("BOUND_REFUTED", text, f"plan.curve[{k}]"))
    return refuted


def _compared(stated: Any, again: Any, name: str) -> list[Violation]:
    return [
        Violation("PROOF_DIFFERS", f"{place} states {shown(said)}, planning again says {shown(is_so)}", place)
        for place, said, is_so in differences(canonical(stated), canonical(again), name)
    ]
