"""A scale-out as a question and an answer again, so that others can judge it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.violation import Violation
from ftplan.planners.scale_out.metrics import ScaledFigures
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import PreparedScaling, prepare
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem, even_ranges_of
from ftplan.planners.scale_out.rules import RANGE_CODES, range_faults


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


def faults(plan: Plan, problem: ScalingProblem) -> Iterator[Violation]:
    """Name the operators and nodes that are not there, operators listed twice or without a task, and false ranges.

    Stated key ranges are those of as many tasks; an operator that does not change may have more tasks than key groups.
    """
    operators, nodes, seen = {operator.id: operator for operator in problem.operators}, set(problem.nodes), set[str]()
    for number, item in enumerate(operators_listed(plan)):
        place, name, tasks = f"operators[{number}]", item["operator"], item["parallelism_to"]
        where, operator, listed = f"operator:{name}", operators.get(name), item.get("nodes")
        if operator is None:
            text = f"{place}: there is no operator {name!r}{suggestion(name, operators)}"
            yield Violation("UNKNOWN_OPERATOR", text, where)
        if name in seen:
            yield Violation("ASSIGNED_TWICE", f"{place}: {name} is listed before", where)
        seen.add(name)
        for node in listed or ():
            if node not in nodes:
                yield Violation("UNKNOWN_NODE", f"{place}: the cluster has no node {node!r}", f"node:{node}")
        ranges, most = ranges_listed(item), 0 if operator is None else operator.key_groups
        stays = operator is not None and ranges is None and tasks == operator.parallelism
        if most and tasks > most and not stays:
            text = f"{place}: {name} has {tasks:,} tasks afterwards, and {most:,} key groups"
            yield Violation("OVER_PARALLELISM", text, where)
        if tasks < 1:
            yield Violation("WRONG_PARALLELISM", f"{place}: {name} would have no task", where)
        elif listed is not None and len(listed) != tasks:
            text = f"{place}: {name} has {tasks:,} tasks afterwards, and {len(listed):,} nodes"
            yield Violation("WRONG_PARALLELISM", text, where)
        if operator is not None and ranges is not None and tasks >= 1:
            for fault, text in range_faults(operator, tasks, ranges, problem.split):
                yield Violation(RANGE_CODES[fault], f"{name}: {text}", where)


def numbered(plan: Plan, problem: ScalingProblem) -> Scaling:
    """Return what a plan does by numbers of operators and nodes.

    Key ranges that are not stated are those of even number. An operator changes where it gets another number of tasks,
    or other key ranges than those of even number.

    Raises FtplanError for the first of :func:`faults`.
    """
    for fault in faults(plan, problem):
        raise FtplanError(f"plan: {fault.message}: verify names everything that is wrong")
    operators = operator_numbers(problem)
    nodes = {name: number for number, name in enumerate(problem.nodes)}
    changed = []
    for item in operators_listed(plan):
        number, tasks, ranges = operators[item["operator"]], item["parallelism_to"], ranges_listed(item)
        operator = problem.operators[number]
        if ranges is None:
            ranges = even_ranges_of(operator, tasks)
        even = not operator.keyed or ranges == even_ranges(operator.key_groups, tasks)
        if tasks != operator.parallelism or not even:
            places = tuple(nodes[node] for node in item.get("nodes") or ())
            changed.append(OperatorScaling(number, tasks, ranges, places))
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
