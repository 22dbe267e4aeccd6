"""What a plan states beside its decisions, held against what follows from plan and inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ftplan.errors import suggestion
from ftplan.model.plan import Objective, Plan, canonical
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, NOISE, PROVEN, ROUNDING, STATED
from ftplan.model.violation import Violation

#: Statuses of a plan without an answer.
UNANSWERED = ("infeasible", "no-plan-in-time")


class Unchecked(NamedTuple):
    """A rule that a plan names and that could not be recomputed, and what is missing: a role of input, or options."""

    rule: str
    missing: str


class Judged(NamedTuple):
    """What a plan of some kind violates, the rules that it was held to, and what of it nobody recomputed.

    ``asked`` are the rules that its inputs and options ask for, ``unpromised`` others that it might have named.
    """

    violations: list[Violation]
    rules: tuple[str, ...]
    not_recomputed: tuple[str, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    asked: tuple[str, ...] = ()
    unpromised: tuple[str, ...] = ()

    def without(self, missing: Mapping[str, str]) -> Judged:
        """Return the same with the rules that could not be recomputed apart; *missing* says what for."""
        unchecked = tuple(Unchecked(rule, missing[rule]) for rule in self.rules if rule in missing)
        return self._replace(rules=tuple(r for r in self.rules if r not in missing), unchecked=unchecked)

    def within(self, judged: Iterable[str]) -> Judged:
        """Return the same with the rules apart that are not among those which options and inputs let judge."""
        possible = set(judged)
        return self.without({rule: "options" for rule in self.rules if rule not in possible})


@dataclass(frozen=True, slots=True)
class Judges:
    """Who judges plans of a kind, and the rules and objectives that these may name.

    ``answer`` takes (plan, problem, strict), ``question`` a plan without an answer and its problem.
    """

    answer: Callable[[Plan, Problem, bool], Judged]
    question: Callable[[Plan, Problem], Judged]
    rules: tuple[str, ...]
    objectives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What a plan is worth in the objective that it names. ``random`` is what a random plan is, if gaps count by it."""

    value: float
    sense: str
    slack: float
    random: float | None = None

    def scale(self, bound: float) -> float:
        """Return what a gap to *bound* is relative to."""
        return max(abs(self.value) if self.random is None else abs(self.random - bound), LEAST_SCALE)


def held_to(plan: Plan, known: Iterable[str], asked: Iterable[str], strict: bool) -> tuple[str, ...]:
    """Return the rules that a plan is held to: its own; where it names none or *strict*, all that were *asked* besides.

    In the order of *known*, those of its kind.
    """
    if not strict and plan.rules is not None:
        return plan.rules
    wanted = {*asked, *(plan.rules or ())}
    return tuple(rule for rule in known if rule in wanted)


def same(stated: Any, true: Any, slack: float = 0.0) -> bool:
    """Return whether a statement is true up to the rounding of plans."""
    if type(stated) is type(true) and stated == true:
        return True
    if isinstance(stated, bool) or isinstance(true, bool) or not _numbers(stated, true):
        return False
    return bool(abs(stated - true) <= max(STATED * max(abs(stated), abs(true)), NOISE, slack))


def _numbers(one: Any, other: Any) -> bool:
    return isinstance(one, (int, float)) and isinstance(other, (int, float))


def differences(stated: Any, true: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield (place, stated, true) of every statement that is not true; keys that *true* does not have are passed over.

    Parameters
    ----------
    stated, true
        Plain data, as in a plan file.
    """
    if isinstance(stated, Mapping) and isinstance(true, Mapping):
        for key in stated:
            if key in true:
                yield from differences(stated[key], true[key], f"{place}.{key}")
    elif isinstance(stated, list) and isinstance(true, list) and len(stated) == len(true):
        for number, (one, other) in enumerate(zip(stated, true, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif not same(stated, true):
        yield place, stated, true


def unjudged(stated: Any, true: Any, place: str) -> Iterator[str]:
    """Yield the places of a statement that *true* says nothing about."""
    if isinstance(stated, Mapping) and isinstance(true, Mapping):
        for key in sorted(stated):
            if key not in true:
                yield f"{place}.{key}"
            else:
                yield from unjudged(stated[key], true[key], f"{place}.{key}")


def judge_summary(plan: Plan, true: Mapping[str, Any]) -> tuple[list[Violation], tuple[str, ...]]:
    """Hold a plan's summary to the figures that were recomputed; also return what was not recomputed."""
    stated, known = canonical(plan.summary), canonical(true)
    broken = [
        Violation("SUMMARY_DIFFERS", f"{place} states {shown(said)}, it is {shown(is_so)}", place)
        for place, said, is_so in differences(stated, known, "summary")
    ]
    return broken, tuple(unjudged(stated, known, "summary"))


def judge_options(plan: Plan, true: Mapping[str, Any]) -> list[Violation]:
    """Hold the options that follow from others, or from the inputs, to what follows."""
    stated = {name: value for name, value in canonical(plan.options).items() if value is not None}
    return [
        Violation("OPTION_DIFFERS", f"{place} states {shown(said)}, it is {shown(is_so)}", place)
        for place, said, is_so in differences(stated, canonical(true), "options")
    ]


def shown(value: Any) -> str:
    """Return a value as a message shows it."""
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, (list, dict)):
        return f"a list of {len(value)}" if isinstance(value, list) else "an object"
    return "null" if value is None else str(value)


def judge_envelope(plan: Plan, rules: Iterable[str]) -> list[Violation]:
    """Judge what plans of every kind state: that status, reason and answer agree, and that rules are known."""
    known = tuple(rules)
    broken = [
        Violation("UNKNOWN_RULE", f"rules names {rule!r}{suggestion(rule, known)}: one of {', '.join(known)}", "rules")
        for rule in plan.rules or ()
        if rule not in known
    ]
    if plan.plan is None:
        broken += _without_answer(plan)
    elif plan.status in UNANSWERED:
        broken.append(Violation("STATUS_DIFFERS", f"the status is {plan.status}, but there is a plan", "status"))
    if plan.infeasible is not None and plan.status != "infeasible":
        text = f"infeasible names a limit that cannot be met, but the status is {plan.status}"
        broken.append(Violation("STATUS_DIFFERS", text, "infeasible"))
    if plan.plan is not None and plan.status == "optimal" and (plan.objective is None or plan.objective.value is None):
        broken.append(Violation("STATUS_DIFFERS", "the status is optimal, but no objective has a value", "status"))
    return broken


def _without_answer(plan: Plan) -> Iterator[Violation]:
    if plan.status not in UNANSWERED:
        yield Violation("STATUS_DIFFERS", f"the status is {plan.status}, but there is no plan", "status")
    if plan.status == "infeasible" and plan.infeasible is None:
        yield Violation(
            "STATUS_DIFFERS", "the status is infeasible, but no limit is named that cannot be met", "status"
        )
    if plan.infeasible is not None and plan.reason not in (None, plan.infeasible.reason):
        text = "reason and infeasible.reason give two reasons"
        yield Violation("STATUS_DIFFERS", text, "reason")
    if plan.infeasible is not None and same(plan.infeasible.current, plan.infeasible.needed):
        text = f"infeasible needs {shown(plan.infeasible.needed)}, and that is what there is"
        yield Violation("STATUS_DIFFERS", text, "infeasible")
    if plan.objective is not None and plan.objective.value is not None:
        text = f"objective.value is {plan.objective.value:.12g}, but there is no plan"
        yield Violation("OBJECTIVE_DIFFERS", text, "objective")


def judge_objective(
    stated: Objective, true: Recomputed, status: str | None = None, of: str = "the plan"
) -> list[Violation]:
    """Hold a stated objective to what a plan, or a step of it, is worth.

    Codes: ``OBJECTIVE_DIFFERS`` for value and sense, and for a bound that the plan beats; ``GAP_DIFFERS`` for scale and
    gap, which follow from value and bound; ``STATUS_DIFFERS`` where *status* is optimal without a bound that says so.
    """
    if stated.value is None:
        return []
    broken = []
    if not abs(true.value - stated.value) <= true.slack:
        text = f"{of} states {stated.name} {stated.value:.12g}, what it holds is worth {true.value:.12g}"
        broken.append(Violation("OBJECTIVE_DIFFERS", text, "objective.value"))
    if stated.sense != true.sense:
        text = f"{of} states sense {stated.sense}, {stated.name} has {true.sense}"
        broken.append(Violation("OBJECTIVE_DIFFERS", text, "objective.sense"))
    if stated.bound is not None:
        beyond = (true.value - stated.bound) * (1.0 if true.sense == "max" else -1.0)
        if not beyond <= true.slack:
            which = "more" if true.sense == "max" else "less"
            text = f"{of} is worth {true.value:.12g}, {which} than its bound {stated.bound:.12g}"
            broken.append(Violation("OBJECTIVE_DIFFERS", text, "objective.bound"))
    broken += _gap(stated, true, of)
    if status == "optimal":
        broken += _optimal(stated, true)
    return broken


def judge_stated(
    plan: Plan, names: Iterable[str], true: Callable[[Objective], Recomputed], with_status: bool = True
) -> list[Violation]:
    """Hold the objective that a plan states, one of *names*, to what the plan is worth in it; see above for codes.

    Without *with_status* the status of the plan speaks of more than the objective.
    """
    stated, known = plan.objective, tuple(names)
    if stated is None or stated.value is None:
        return []
    if stated.name not in known:
        return [unknown_objective(stated, known)]
    return judge_objective(stated, true(stated), plan.status if with_status else None)


def judge_unanswered(plan: Plan, summary: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Judged:
    """Hold a plan without an answer to what follows of its question: figures of the summary, and options."""
    broken, left = judge_summary(plan, summary)
    return Judged([*broken, *judge_options(plan, options or {})], (), left)


def _gap(stated: Objective, true: Recomputed, of: str) -> Iterator[Violation]:
    """Scale and gap follow from value and bound."""
    if stated.bound is None:
        for name in ("scale", "gap"):
            if getattr(stated, name) is not None:
                text = f"{of} states a {name} of {getattr(stated, name):.12g} without a bound"
                yield Violation("GAP_DIFFERS", text, f"objective.{name}")
        return
    scale = true.scale(stated.bound)
    if stated.scale is not None and not same(stated.scale, scale, true.slack):
        text = f"{of} states a scale of {stated.scale:.12g}, value and bound have {scale:.12g}"
        yield Violation("GAP_DIFFERS", text, "objective.scale")
    gap = abs(stated.bound - true.value) / scale
    if stated.gap is not None and not same(stated.gap, gap, max(true.slack / scale, ROUNDING)):
        text = f"{of} states a gap of {stated.gap:.12g}, value and bound lie {gap:.12g} apart"
        yield Violation("GAP_DIFFERS", text, "objective.gap")


def _optimal(stated: Objective, true: Recomputed) -> Iterator[Violation]:
    if stated.bound is None:
        yield Violation("STATUS_DIFFERS", "the status is optimal, but there is no bound", "status")
        return
    scale = true.scale(stated.bound)
    gap = abs(stated.bound - true.value) / scale
    if gap > max(PROVEN, true.slack / scale):
        yield Violation("STATUS_DIFFERS", f"the status is optimal, but the gap is {gap:.6g}", "status")


def unknown_objective(stated: Objective, known: Iterable[str]) -> Violation:
    """Return the violation of a plan that names an objective which its kind does not have."""
    names = tuple(known)
    text = f"objective names {stated.name!r}{suggestion(stated.name, names)}: one of {', '.join(names)}"
    return Violation("OBJECTIVE_DIFFERS", text, "objective.name")
