"""What can be done with plans of every kind: plan, evaluate, explain, diff; ``verification`` has verify."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ftplan.errors import FtplanError
from ftplan.io.options.fields import SELECTORS, PlanSource, checked, quoted
from ftplan.io.options.parameters import a_problem, call
from ftplan.model.kinds import with_article
from ftplan.model.names import parse_selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.planners.assessments import (
    Asked,
    Difference,
    Evaluation,
    Explanation,
    ScenarioScores,
    Scores,
    scored,
    with_failures,
)
from ftplan.planners.incumbents import ending_at
from ftplan.planners.kind import PlanKind, kind_of
from ftplan.planners.plan_inputs import a_plan, with_inputs
from ftplan.planners.scenarios import in_each, limits_of, mean_of, scenarios_of, unmet_limits
from ftplan.reports.numbers import count


def plan(
    command: str,
    problem: Problem,
    *,
    algorithm: str | None = None,
    fail: Iterable[str] = (),
    **options: Any,
) -> Plan:
    """Answer one question about a problem.

    Parameters
    ----------
    command
        The command, which is the kind of plan too: a name that ``ftplan --help`` lists.
    problem
        The inputs, as ``ftplan.load`` returns them.
    algorithm
        A name that ``ftplan algorithms`` lists; None takes the default, the best that is safe at any size.
    fail
        Selectors of what fails, for the kinds of plan that answer a failure.
    options
        The command's options, with underscores: ``copies=2, balance="auto", seed=1, time_limit_s=10.0``.

    Returns
    -------
    Plan
        Also where the answer is no: then ``status`` is ``infeasible`` or ``no-plan-in-time`` and ``plan`` is None.

    Raises
    ------
    FtplanError
        If the command, the algorithm or an option is unknown or wrong, the algorithm does not plan for it, an input
        is missing, or with ``strict_inputs`` the plan's objective depends on something that was assumed.
    """
    for name, given in (("command", command), ("algorithm", algorithm)):
        if not isinstance(given, str) and (given is not None or name == "command"):
            raise FtplanError(f"{name}: {quoted(given)} is not the name of one")
    problem, planner = a_problem(problem), registry.row(command, algorithm)
    kind = kind_of(planner.kind)
    if kind.answers_failure:
        options["fail"] = fail
    elif checked(planner.kind, {"fail": SELECTORS}, {"fail": fail})["fail"]:
        raise FtplanError(f"{planner.kind} plans for no failure in particular: leave out fail, or use evaluate")
    asked = kind.options.of(planner.kind, options)
    asked.check_algorithm(planner.name, [row.name for row in registry.rows(planner.kind)])
    with ending_at(asked.gap):
        made = kind.make(problem, planner, asked)
    if asked.strict_inputs and made.assumptions:
        listed = "; ".join(f"{item.message} [{item.code}]" for item in made.assumptions)
        raise FtplanError(f"--strict-inputs: {count(len(made.assumptions), 'assumption')}: {listed}")
    return made


def evaluate(
    plan: Plan | PlanSource,
    problem: Problem | None = None,
    *,
    fail: Iterable[str] = (),
    load: str | None = None,
    capacity_per_core: float | None = None,
    overload: float | None = None,
    fail_under: Iterable[str] = (),
) -> Evaluation:
    """Score a plan on the statistics of *problem*, which need not be those it was made from.

    Where the failure has ``scenarios`` the plan is scored in each of them, with what fails besides, and a metric is
    the mean over them, weighted by probability over the sum of all probabilities: the value expected if one of them
    happens. A metric that is undefined in one of them is undefined.

    Parameters
    ----------
    plan
        A plan, the path of one, or its document.
    problem
        None loads the inputs that the plan names.
    fail
        Selectors of what fails, besides the problem's failure file.
    load
        The load measure; None takes the plan's own, else ``records``.
    capacity_per_core, overload
        When a node is overloaded; None takes the plan's own, so that a plan is judged on other statistics with the
        machines that it was made for. Without any, capacity is such that mean utilisation is 0.7.
    fail_under
        Limits ``METRIC=VALUE``; those not met are listed in the answer.

    Returns
    -------
    Evaluation
        ``evaluation["METRIC"]`` is a score.

    Raises
    ------
    FtplanError
        If the plan holds no answer, is of a kind that has no metrics yet, names what the problem does not have, or
        a metric is unknown.
    """
    plan, problem = with_inputs(plan, problem)
    given = {"load": load, "capacity_per_core": capacity_per_core, "overload": overload}
    asked = call("evaluate", fail=fail, fail_under=fail_under, **given)
    kind = kind_of(plan.kind, "evaluate")
    _require_answer(plan, f"there is nothing to evaluate: the plan's status is {plan.status} ({plan.reason})")
    limits, renamed = limits_of(asked["fail_under"], plan.kind)
    scores, each = _scores(kind, plan, problem, Asked(asked["fail"], load, capacity_per_core, overload))
    metrics = scored(plan.kind, scores.values)
    warnings = tuple(dict.fromkeys((*problem.warnings, *renamed, *scores.warnings)))
    return Evaluation(
        plan.kind, metrics, scores.failures, problem.inputs, unmet_limits(metrics, limits), warnings, each
    )


def _scores(kind: PlanKind, plan: Plan, problem: Problem, asked: Asked) -> tuple[Scores, tuple[ScenarioScores, ...]]:
    """Return the scores of a plan, with scenarios their means, and those in each scenario."""
    each = in_each(kind, plan, problem, asked, scenarios_of(plan, problem, asked, kind))
    scores = mean_of(each) if each else kind.score(plan, problem, asked)
    return scores, tuple(scenario for scenario, _ in each)


def explain(
    plan: Plan | PlanSource, problem: Problem | None = None, selector: str = "", *, fail: Iterable[str] = ()
) -> Explanation:
    """Explain one part of a plan: a key group's copies, what lies on a node, and so on by kind.

    Parameters
    ----------
    plan
        A plan, the path of one, or its document.
    problem
        None loads the inputs that the plan names.
    selector
        Which part: ``key-group:join/17``, ``node:n1``, ``task:join/3``.
    fail
        Selectors of what fails besides the failure of *problem* and the plan's own.

    Returns
    -------
    Explanation
        What was chosen, and why every other candidate was not.

    Raises
    ------
    FtplanError
        If the plan holds no answer or is of a kind that cannot be explained yet, or the selector is of another kind
        or names what the plan does not have.
    """
    plan, problem = with_inputs(plan, problem)
    asked = call("explain", selector=selector, fail=fail)
    kind = kind_of(plan.kind, "explain")
    _require_answer(plan, f"there is nothing to explain: the plan's status is {plan.status} ({plan.reason})")
    judged = with_failures(plan, asked["fail"]) if asked["fail"] else plan
    return kind.explain(judged, problem, parse_selector(asked["selector"]))


def diff(before: Plan | PlanSource, after: Plan | PlanSource, problem: Problem | None = None) -> Difference:
    """Compare two plans of one kind.

    Parameters
    ----------
    before, after
        Plans, the paths of them, or their documents.
    problem
        Tells how much state moves, where the kind has any to move.

    Returns
    -------
    Difference
        ``changed``, and ``changes``: what the second plan changes in the cluster, instead of the first.

    Raises
    ------
    FtplanError
        If the kinds differ, are of a kind that cannot be compared yet, or a plan holds no answer.
    """
    before, after = a_plan(before), a_plan(after)
    problem = None if problem is None else a_problem(problem)
    if before.kind != after.kind:
        pair = f"{with_article(before.kind)} with {with_article(after.kind)}"
        raise FtplanError(f"cannot compare {pair}: both plans must be of one kind")
    kind = kind_of(before.kind, "diff")
    for plan, which in ((before, "first"), (after, "second")):
        _require_answer(plan, f"the {which} plan holds no answer: its status is {plan.status} ({plan.reason})")
    return kind.diff(before, after, problem)


def _require_answer(plan: Plan, otherwise: str) -> None:
    if plan.plan is None:
        raise FtplanError(otherwise)
