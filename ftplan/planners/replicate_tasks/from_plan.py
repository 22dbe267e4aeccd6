"""A replication plan as a question again: what it was asked, so that others can judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.replicate_tasks.budget import ALL, parse_budget
from ftplan.planners.replicate_tasks.options import BUDGETS, TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication, prepare


def question_of(
    plan: Plan, problem: Problem, fail: Sequence[str] = (), failure_given: bool = False
) -> PreparedReplication:
    """Return the question that a plan answers on some inputs; what a plan made by hand leaves out is the default.

    *fail* fails instead of what the plan was made for, and adds to the problem's failure file; with *failure_given*
    the problem's failure is another than the plan's, and wins over ``worst_case``.

    Raises :class:`FtplanError` if an input is missing, or the plan's options are not what they should be.
    """
    asked = options_of(plan, fail, failure_given)
    given = [plan.options.get(name) for name in BUDGETS]
    known = any(value is not None for value in given)
    return prepare(problem, parse_budget(*given, least=asked.least) if known else ALL, asked)


def options_of(plan: Plan, fail: Sequence[str] = (), failure_given: bool = False) -> TaskReplicationOptions:
    """Return the options that a plan was asked with, and what fails instead; see :func:`question_of`."""
    options = TaskReplicationOptions.of_plan(plan)
    own = not fail and not failure_given
    return replace(
        options,
        fail=tuple(fail) or options.fail,
        worst_case=options.worst_case and own,
        by_probability=options.by_probability and own,
    )


def replicas_of(plan: Plan) -> list[Mapping[str, Any]]:
    """Return the replicas that a plan lists."""
    return list((plan.plan or {})["replicas"])


def nodes_by_task(plan: Plan, graph: TaskGraph) -> dict[int, str | None]:
    """Return the node of each replica by task.

    Raises :class:`FtplanError` if the plan names a task that the topology does not have.
    """
    return {graph.number(item["operator"], item["index"]): item.get("node") for item in replicas_of(plan)}
