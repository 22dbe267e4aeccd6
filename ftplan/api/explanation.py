"""Why a plan decided as it did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ftplan.api.answers import Explanation, of_kind, with_failures
from ftplan.api.option_checks import PlanSource, a_plan, a_problem, call
from ftplan.errors import FtplanError
from ftplan.model.names import Selector, parse_selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem

_EXPLAIN: Mapping[str, str] = {
    "checkpoint-allocation": "ftplan.api.checkpoints.explain:explain_allocation",
    "recovery-schedule": "ftplan.api.recovery.explain:explain_schedule",
    "task-replication": "ftplan.api.replication.explain:explain_replication",
}


def explain(plan: Plan | PlanSource, problem: Problem, selector: str, *, fail: Iterable[str] = ()) -> Explanation:
    """Explain one part of a plan: a key group's copies, what lies on a node, and so on by kind.

    *fail* are selectors of what fails besides the failure of *problem* and the plan's own.

    Raises
    ------
    FtplanError
        If the plan holds no answer or is of a kind that cannot be explained yet, or the selector is of another kind
        or names what the plan does not have.
    """
    plan, problem = a_plan(plan), a_problem(problem)
    asked = call("explain", selector=selector, fail=fail)
    named = asked["fail"]
    of_plan: Callable[[Plan, Problem, Selector], Explanation] = of_kind(_EXPLAIN, plan, "explain")
    if plan.plan is None:
        raise FtplanError(f"there is nothing to explain: the plan's status is {plan.status} ({plan.reason})")
    return of_plan(with_failures(plan, named) if named else plan, problem, parse_selector(asked["selector"]))
