"""What a plan of any kind states beside its answer: who made it, its warnings, and what nobody can recompute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ftplan.errors import suggestion
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.violation import Violation

#: What plans of ftplan state; a plan that leaves any of it out is not held to it.
_STATED = ("algorithm", "inputs", "objective", "options", "rules", "status", "summary")
#: What no input contradicts: who made the plan, and sentences for people.
_AS_STATED = ("algorithm", "options", "reason", "seed", "tool_version", "warnings")


def judge_statements(plan: Plan, problem: Problem, planners: Iterable[str]) -> Iterator[Violation]:
    """Yield what is wrong with a plan's algorithm, and with its warnings.

    Codes: ``UNKNOWN_ALGORITHM``; ``WARNINGS_DIFFER`` for a warning that stands there twice, and for one that its inputs
    give and the plan, which was made by an algorithm, leaves out.
    """
    known = tuple(planners)
    if plan.algorithm is not None and plan.algorithm not in known:
        text = f"no algorithm of this kind is called {plan.algorithm!r}{suggestion(plan.algorithm, known)}"
        yield Violation("UNKNOWN_ALGORITHM", text, "algorithm")
    said = [(warning.code, warning.message) for warning in plan.warnings]
    for (code, _), times in Counter(said).items():
        if times > 1:
            yield Violation("WARNINGS_DIFFER", f"warnings has {code} {times} times", "warnings")
    given = {(warning.code, warning.message): warning.code for warning in problem.warnings}
    for warning, code in given.items():
        if plan.algorithm is not None and warning not in said:
            yield Violation("WARNINGS_DIFFER", f"the inputs give the warning {code}, which warnings lacks", "warnings")


def judge_rules(plan: Plan, asked: Iterable[str]) -> Iterator[Violation]:
    """Yield ``RULE_MISSING`` for each rule that is *asked* for and that a plan of an algorithm leaves out.

    A plan made by hand promises what it names. ``UNKNOWN_RULE`` for a rule that is named twice.
    """
    for rule, times in Counter(plan.rules or ()).items():
        if times > 1:
            yield Violation("UNKNOWN_RULE", f"rules names {rule} {times} times", "rules")
    for rule in asked if plan.algorithm is not None else ():
        if plan.rules is not None and rule not in plan.rules:
            yield Violation("RULE_MISSING", f"rules lacks {rule}, which inputs and options ask for", "rules")


def taken_as_stated(plan: Plan) -> tuple[str, ...]:
    """Return which statements of a plan nothing can contradict."""
    made = ("warnings",) if plan.algorithm is not None and not plan.warnings else ()  # that there are none
    lists = [(name, rows) for name, rows in (plan.plan or {}).items() if isinstance(rows, (list, tuple))]
    sentences = [name for name, rows in lists if any(isinstance(row, Mapping) and row.get("reason") for row in rows)]
    own = (name for name in (*_AS_STATED, *(("rules",) if plan.plan is None else ())) if getattr(plan, name))
    return (*own, *made, *(f"plan.{name}.reason" for name in sentences))


def not_stated(plan: Plan, problem: Problem, unpromised: Iterable[str]) -> tuple[str, ...]:
    """Return what plans of ftplan state and this one does not, which is therefore not judged.

    *unpromised*: rules that plans of its kind may keep, and this one does not name.
    """
    roles = {item.role for item in plan.inputs}
    unnamed = [f"inputs.{item.role}" for item in problem.inputs if plan.inputs and item.role not in roles]
    if plan.plan is None:
        return tuple(unnamed)
    left = tuple(name for name in _STATED if not getattr(plan, name) and not (name == "rules" and plan.rules == ()))
    valued = plan.objective is None or plan.objective.value is not None
    rules = () if plan.rules is None else (f"rules.{rule}" for rule in unpromised)
    return (*left, *(() if valued else ("objective.value",)), *rules, *unnamed)
