"""Why a plan decided as it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ftplan.api.answers import Explanation, of_kind
from ftplan.api.checkpoint_explanation import explain_allocation
from ftplan.api.option_checks import PlanSource, a_plan, a_problem, call
from ftplan.api.recovery_explanation import explain_schedule
from ftplan.api.replication_explanation import explain_replication
from ftplan.errors import FtplanError
from ftplan.model.names import Selector, parse_selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem

_EXPLAIN: Mapping[str, Callable[[Plan, Problem, Selector], Explanation]] = {
    "checkpoint-allocation": explain_allocation,
    "recovery-schedule": explain_schedule,
    "task-replication": explain_replication,
}


def explain(plan: Plan | PlanSource, problem: Problem, selector: str) -> Explanation:
    """Explain one part of a plan: a key group's copies, what lies on a node, and so on by kind.

    Raises
    ------
    FtplanError
        If the plan holds no answer or is of a kind that cannot be explained yet, or the selector is of another kind
        or names what the plan does not have.
    """
    plan, problem = a_plan(plan), a_problem(problem)
    selector = call("explain", selector=selector)["selector"]
    of_plan = of_kind(_EXPLAIN, plan, "explain")
    if plan.plan is None:
        raise FtplanError(f"there is nothing to explain: the plan's status is {plan.status} ({plan.reason})")
    return of_plan(plan, problem, parse_selector(selector))
