"""A replication plan as a question again: what it was asked, so that others can judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.api.replication.budget import Budget, parse_budget
from ftplan.api.replication.problem import Prepared, prepare
from ftplan.errors import FtplanError
from ftplan.model.defaults import MAX_CPU
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph

_BUDGETS = ("budget", "budget_cpu", "budget_mb", "target")


def asked_of(plan: Plan, problem: Problem, fail: Sequence[str] = (), failure_given: bool = False) -> Prepared:
    """Return the question that a plan answers on some inputs; what a plan made by hand leaves out is the default.

    Parameters
    ----------
    fail
        What fails instead of what the plan was made for; it adds to the problem's failure file.
    failure_given
        The problem's failure is another than the plan's: it wins over ``worst_case``.

    Raises
    ------
    FtplanError
        If an input is missing, or the plan's options are not what they should be.
    """
    options = plan.options
    budget = budget_of(plan)
    named = options.get("fail") or ()
    if isinstance(named, str) or not all(isinstance(item, str) for item in named):
        raise FtplanError("plan: options.fail: expected a list of selectors")
    return prepare(
        problem,
        budget,
        fail=tuple(fail) or tuple(named),
        worst_case=bool(options.get("worst_case")) and not fail and not failure_given,
        metric=str(options.get("metric", "output-fidelity")),
        weight=str(options.get("weight", "rate")),
    )


def budget_of(plan: Plan) -> Budget:
    """Return the budget that a plan was asked to keep, else none."""
    given = [plan.options.get(name) for name in _BUDGETS]
    return Budget("tasks") if all(value is None for value in given) else parse_budget(*given)


def replicas_of(plan: Plan) -> list[Mapping[str, Any]]:
    """Return the replicas that a plan lists."""
    return list((plan.plan or {})["replicas"])


def nodes_by_task(plan: Plan, graph: TaskGraph) -> dict[int, str | None]:
    """Return the node of each replica by task.

    Raises
    ------
    FtplanError
        If the plan names a task that the topology does not have.
    """
    return {graph.number(item["operator"], item["index"]): item.get("node") for item in replicas_of(plan)}


def max_cpu_of(plan: Plan) -> float:
    """Return the share of a node's cores that the plan may use."""
    share = plan.options.get("max_cpu", MAX_CPU)
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 < share <= 1.0:
        raise FtplanError(f"plan: options.max_cpu: {share!r} is not a share above 0 and at most 1")
    return float(share)
