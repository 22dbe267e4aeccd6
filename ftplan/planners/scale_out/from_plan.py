"""A scale-out as a question and an answer again, so that others can judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.scale_out.metrics import ScaledFigures
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import PreparedScaling, prepare
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem, even_ranges_of
from ftplan.planners.scale_out.rules import range_faults


def question_of(plan: Plan, problem: Problem, **instead: Any) -> PreparedScaling:
    """Return the question that a plan answers on some inputs; *instead* are options that replace its own.

    The alarming threshold is the one that the plan records, whoever chose it.

    Raises FtplanError if an input is missing, or the plan's options are not what they should be.
    """
    options = ScaleOutOptions.of_plan(plan)
    if options.alarming == "auto":
        options = replace(options, alarming=ScaleOutOptions().alarming)
    return prepare(problem, replace(options, **instead))


def operators_listed(plan: Plan) -> Sequence[Mapping[str, Any]]:
    """Return the operators that a plan lists."""
    return list((plan.plan or {})["operators"])


def numbered(plan: Plan, problem: ScalingProblem) -> Scaling:
    """Return what a plan does by numbers of operators and nodes.

    Key ranges that are not stated are those of even number. An operator changes where it gets another number of tasks,
    or other key ranges than those of even number.

    Raises FtplanError if the plan names an operator or node that is not there, an operator twice, or ranges that are
    none.
    """
    operators = operator_numbers(problem)
    nodes = {name: number for number, name in enumerate(problem.nodes)}
    seen: set[str] = set()
    changed = []
    for item in operators_listed(plan):
        name, tasks = item["operator"], item["parallelism_to"]
        if name not in operators:
            near = suggestion(name, operators)
            raise FtplanError(f"plan: there is no operator {name!r}{near}: verify names everything that is wrong")
        if name in seen:
            raise FtplanError(f"plan: operator {name!r} is listed twice: verify names everything that is wrong")
        seen.add(name)
        operator = problem.operators[operators[name]]
        if tasks < 1:
            raise FtplanError(f"plan: operator {name!r} would have no task: verify names everything that is wrong")
        ranges = ranges_listed(item)
        if ranges is None:
            ranges = even_ranges_of(operator, tasks)
        stays = ranges_listed(item) is None and tasks == operator.parallelism  # with more tasks than key groups perhaps
        for _, text in () if stays else range_faults(operator, tasks, ranges, problem.split):
            raise FtplanError(f"plan: operator {name!r}: {text}: verify names everything that is wrong")
        unknown = [node for node in item.get("nodes") or () if node not in nodes]
        if unknown:
            near = suggestion(unknown[0], nodes)
            text = f"plan: the cluster has no node {unknown[0]!r}{near}: verify names everything that is wrong"
            raise FtplanError(text)
        even = not operator.keyed or ranges == even_ranges(operator.key_groups, tasks)
        if tasks != operator.parallelism or not even:
            places = tuple(nodes[node] for node in item.get("nodes") or ())
            changed.append(OperatorScaling(operators[name], tasks, ranges, places))
    return Scaling(tuple(changed))


def operator_numbers(problem: ScalingProblem) -> dict[str, int]:
    """Return the number of each operator by its id."""
    return {operator.id: number for number, operator in enumerate(problem.operators)}


def ranges_listed(item: Mapping[str, Any]) -> tuple[tuple[int, int], ...] | None:
    """Return the key ranges that an operator of a plan states, None where it states none."""
    stated = item.get("key_ranges")
    return None if stated is None else tuple((first, last) for first, last in stated)


def figures_of(plan: Plan, prepared: PreparedScaling, scaling: Scaling) -> ScaledFigures:
    """Return what follows from the scaling of a plan, with the techniques that it states."""
    allowed = ScaleOutOptions.of_plan(plan).technique
    return ScaledFigures(prepared, scaling, _techniques(plan, prepared.problem, scaling), allowed)


def _techniques(plan: Plan, problem: ScalingProblem, scaling: Scaling) -> dict[int, str | None]:
    """Return the technique that a plan states for each operator that changes; those that it does not state are not in.

    A plan that says how any operator is split says so of all: null is none then.
    """
    numbers = operator_numbers(problem)
    listed = operators_listed(plan)
    stated = {numbers[item["operator"]]: item.get("technique") for item in listed}
    says = any(item.get("technique") is not None or item.get("steps") for item in listed)
    return {number: stated[number] for number in scaling.by_operator if says or stated[number] is not None}
