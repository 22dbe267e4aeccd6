"""Does a scale-out keep its rules, and is what it states, also beside its decisions, so?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ftplan.model.plan import Plan, canonical
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.model.violation import Violation, over
from ftplan.planners.judging import (
    Judged,
    Judges,
    Recomputed,
    differences,
    held_to,
    judge_options,
    judge_stated,
    judge_summary,
    judge_unanswered,
    shown,
)
from ftplan.planners.scale_out.body import operator_of
from ftplan.planners.scale_out.from_plan import (
    faults,
    figures_of,
    numbered,
    operator_numbers,
    operators_listed,
    question_of,
    ranges_listed,
)
from ftplan.planners.scale_out.metrics import ScaledFigures
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem, extra_cpu, sustained_load
from ftplan.planners.scale_out.rules import (
    CODES,
    PEAK,
    RANGE_CODES,
    RULES,
    TARGET,
    TASK_MEMORY,
    broken,
    name_of,
    rules,
)
from ftplan.planners.scale_out.summary import summary

#: What an operator states beside its decisions, and the code where that is not so.
_STATED = {
    "score": "WRONG_SCORE",
    "pause_s": "WRONG_COST",
    "extra_core_s": "WRONG_COST",
    "fairness": "WRONG_COST",
    "state_bytes": "WRONG_COST",
    "utilisation_from": "WRONG_COST",
    "utilisation_to": "WRONG_COST",
    "bound_by": "WRONG_COST",
}
#: What an operator that stays as it is states of itself as it is.
_STAYING = {"technique": "WRONG_TECHNIQUE", "nodes": "CHANGES_DIFFER", "key_ranges": "WRONG_RANGES"}

OBJECTIVE = "sustained-load"


def judge_body(plan: Plan, figures: ScaledFigures) -> Iterator[Violation]:
    """Hold what operators state beside their decisions to what follows from these."""
    numbers = operator_numbers(figures.problem)
    for item in operators_listed(plan):
        number = numbers[item["operator"]]
        true = canonical(operator_of(figures, number))
        stays = {} if number in figures.scaling.by_operator else _STAYING
        for name, code in (*_STATED.items(), *stays.items()):
            if item.get(name) is None:
                continue
            for place, said, is_so in differences(canonical(item[name]), true[name], name):
                text = f"{item['operator']}: {place} states {shown(said)}, it is {shown(is_so)}"
                yield Violation(code, text, f"operator:{item['operator']}")


def unstated(plan: Plan, problem: ScalingProblem, scaling: Scaling) -> tuple[str, ...]:
    """Return what a plan does not state of operators that change, and what it is judged with instead."""
    numbers = operator_numbers(problem)
    left = []
    for item in operators_listed(plan):
        number, name = numbers[item["operator"]], item["operator"]
        if number not in scaling.by_operator:
            continue
        keyed = problem.operators[number].keyed
        missing = {
            "key_ranges (not stated: even ones)": keyed and ranges_listed(item) is None,
            "nodes (not stated: no node is held to its cores)": bool(problem.nodes) and item.get("nodes") is None,
            "technique (not stated: the cheapest)": keyed and item.get("technique") is None,
        }
        left += [f"plan.operators.{name}.{what}" for what, is_so in missing.items() if is_so]
    return tuple(left)


def judge_scale_out(plan: Plan, problem: Problem, strict: bool) -> Judged:
    """Return what a scale-out violates, the rules that it was held to, and what was not recomputed.

    A plan that names no rules is held to all that its options ask for; *strict* holds every plan to these.

    Codes: ``UNKNOWN_OPERATOR``, ``UNKNOWN_NODE``, ``UNKNOWN_KEY_GROUP``, ``MISSING_KEY_GROUP``, ``ASSIGNED_TWICE``,
    ``WRONG_RANGES`` and ``WRONG_PARALLELISM`` always; ``WRONG_SCORE`` and ``WRONG_STATE`` for what the statistics say;
    for the rules ``OVER_CAPACITY``, ``OVER_PARALLELISM``, ``UNDER_PEAK``, ``OVER_BUDGET``, ``OVER_PAUSE`` and
    ``WRONG_TECHNIQUE``; ``WRONG_COST`` for what the body states besides; and those of :mod:`ftplan.planners.judging`.

    Raises FtplanError if an input is missing, or the plan's options are not what they should be.
    """
    prepared = question_of(plan, problem)
    question, options = prepared.problem, ScaleOutOptions.of_plan(plan)
    wrong = list(faults(plan, question))
    if wrong:  # where the plan names what does not exist, or no ranges, nothing else means anything
        return Judged(wrong, () if plan.rules is None else plan.rules)
    scaling = numbered(plan, question)
    figures = figures_of(plan, prepared, scaling)
    given = rules(question, scaling, options.latency_budget_s)
    held = held_to(plan, RULES, given, strict)
    wrong = [*_from(plan, question), *_diagnosis(plan, question)]
    for breach in broken(question, scaling, figures.pauses, options.latency_budget_s):
        if breach.rule in held:
            code = CODES.get(breach.rule) or RANGE_CODES[breach.current]
            wrong.append(Violation(code, breach.message, breach.where))
    wrong += judge_body(plan, figures)
    wrong += _objective(plan, question, scaling)
    wrong += judge_options(plan, _derived(plan))
    left = unstated(plan, question, scaling)
    if plan.summary:
        differing, more = judge_summary(plan, summary(prepared, figures))
        wrong += [*differing, *_fewest(plan, question, scaling)]
        left = (*left, *more)
    if any(item.get("steps") for item in operators_listed(plan)):
        left = (*left, "plan.operators.steps")
    bounded = any(np.isfinite(operator.task_memory) for operator in question.operators)
    possible = (*given, TARGET, PEAK, *((TASK_MEMORY,) if bounded else ()))
    return Judged(wrong, held, left, asked=given).within(possible)


def judge_question(plan: Plan, problem: Problem) -> Judged:
    """Return what a plan without an answer states falsely of its question, and what was not recomputed."""
    return judge_unanswered(plan, summary(question_of(plan, problem), None), _derived(plan))


def _derived(plan: Plan) -> dict[str, Any]:
    """Return the options that follow from others."""
    requested = plan.options.get("alarming_requested", "auto")
    return {} if requested == "auto" else {"alarming": requested}


def _from(plan: Plan, problem: ScalingProblem) -> Iterator[Violation]:
    """Operators change from the parallelism that they have."""
    tasks = {operator.id: operator.parallelism for operator in problem.operators}
    for item in operators_listed(plan):
        stated, true = item["parallelism_from"], tasks[item["operator"]]
        if stated != true:
            text = f"{item['operator']} states {stated:,} tasks now, it has {true:,}"
            yield Violation("WRONG_PARALLELISM", text, f"operator:{item['operator']}")


def _diagnosis(plan: Plan, problem: ScalingProblem) -> Iterator[Violation]:
    """Scores and states are those of the statistics, and no operator that is not normal is left out."""
    listed = {item["operator"]: item for item in operators_listed(plan)}
    for operator in problem.operators:
        item = listed.get(operator.id)
        if item is None:
            if operator.state != "normal":
                text = f"{operator.id} is not listed, and it is {operator.state}"
                yield Violation("WRONG_STATE", text, name_of(operator))
            continue
        if item["state"] != operator.state:
            text = f"{operator.id} states {item['state']}, it is {operator.state}"
            yield Violation("WRONG_STATE", text, name_of(operator))


def _objective(plan: Plan, problem: ScalingProblem, scaling: Scaling) -> list[Violation]:
    value = sustained_load(problem, scaling)
    true = Recomputed(value, "max", ROUNDING * max(abs(value), LEAST_SCALE))
    return judge_stated(plan, (OBJECTIVE,), lambda _: true)


def _fewest(plan: Plan, problem: ScalingProblem, scaling: Scaling) -> Iterator[Violation]:
    """A plan takes no fewer cores than are said to be the fewest for so much load."""
    stated, value = plan.summary.get("least_extra_cpu"), plan.objective
    if not isinstance(stated, (int, float)) or value is None or value.bound is None:
        return
    taken = extra_cpu(problem, scaling)
    if not over(value.bound, sustained_load(problem, scaling)) and over(float(stated), taken):
        text = f"summary.least_extra_cpu states {stated:.12g}, and the plan takes {taken:.12g}"
        yield Violation("SUMMARY_DIFFERS", text, "summary.least_extra_cpu")


JUDGES = Judges(judge_scale_out, judge_question, RULES, (OBJECTIVE,))
