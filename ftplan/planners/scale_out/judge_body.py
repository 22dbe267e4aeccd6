"""Is what the body of a scale-out states beside its decisions so?"""

from __future__ import annotations

from collections.abc import Iterator

from ftplan.model.plan import Plan, canonical
from ftplan.model.violation import Violation
from ftplan.planners.judging import differences, shown
from ftplan.planners.scale_out.body_writer import operator_of
from ftplan.planners.scale_out.from_plan import operator_numbers, operators_listed, ranges_listed
from ftplan.planners.scale_out.metrics import ScaledFigures
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem

#: What an operator states beside its decisions, and the code where that is not so.
_STATED = {
    "score": "WRONG_SCORE",
    "pause_s": "WRONG_COST",
    "extra_core_s": "WRONG_COST",
    "fairness": "WRONG_COST",
    "state_bytes": "WRONG_COST",
    "utilisation_from": "WRONG_COST",
    "utilisation_to": "WRONG_COST",
}
#: What an operator that stays as it is states of itself as it is.
_STAYING = {"technique": "WRONG_TECHNIQUE", "nodes": "CHANGES_DIFFER", "key_ranges": "WRONG_RANGES"}


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
