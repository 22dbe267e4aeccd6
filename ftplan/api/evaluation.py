"""What a plan is worth under failures and on statistics other than those it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ftplan.api.answers import Asked, Evaluation, MetricValue, Scores, of_kind
from ftplan.api.checkpoint_evaluation import score_allocation
from ftplan.api.option_checks import PlanSource, a_plan, a_problem, call
from ftplan.api.recovery_evaluation import score_schedule
from ftplan.api.replication_evaluation import score_replication
from ftplan.errors import FtplanError, suggestion
from ftplan.metrics.names import METRICS, metric
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem

_SCORES: Mapping[str, Callable[[Plan, Problem, Asked], Scores]] = {
    "checkpoint-allocation": score_allocation,
    "recovery-schedule": score_schedule,
    "task-replication": score_replication,
}


def evaluate(
    plan: Plan | PlanSource,
    problem: Problem,
    *,
    fail: Iterable[str] = (),
    load: str | None = None,
    capacity_per_core: float | None = None,
    overload: float | None = None,
    fail_under: Iterable[str] = (),
) -> Evaluation:
    """Score a plan on the statistics of *problem*, which need not be those it was made from.

    Parameters
    ----------
    plan
        A plan, the path of one, or its document.
    fail
        Selectors of what fails, besides the problem's failure file.
    load
        The load measure; None takes the plan's own, else ``records``.
    capacity_per_core, overload
        When a node is overloaded; None takes the plan's own, so that a plan is judged on other statistics with the
        machines that it was made for. Without any, capacity is such that mean utilisation is 0.7.
    fail_under
        Limits ``METRIC=VALUE``; those not met are listed in the answer.

    Raises
    ------
    FtplanError
        If the plan holds no answer, is of a kind that has no metrics yet, names what the problem does not have, or
        a metric is unknown.
    """
    plan, problem = a_plan(plan), a_problem(problem)
    given = {"load": load, "capacity_per_core": capacity_per_core, "overload": overload}
    asked = call("evaluate", fail=fail, fail_under=fail_under, **given)
    score = of_kind(_SCORES, plan, "evaluate")
    if plan.plan is None:
        raise FtplanError(f"there is nothing to evaluate: the plan's status is {plan.status} ({plan.reason})")
    limits = [_limit(text, plan.kind) for text in asked["fail_under"]]
    scores = score(plan, problem, Asked(asked["fail"], load, capacity_per_core, overload))
    metrics = tuple(
        MetricValue(m.name, None if value is None else float(value), m.sense, m.unit)
        for m in METRICS
        if m.kind == plan.kind
        for value in (scores.values[m.name],)
    )
    unmet = tuple(text for m in metrics for text in _unmet(m, limits))
    warnings = (*problem.warnings, *scores.warnings)
    return Evaluation(plan.kind, metrics, scores.failures, problem.inputs, unmet, warnings)


def _limit(text: str, kind: str) -> tuple[str, float]:
    name, equals, number = text.partition("=")
    known = [m.name for m in METRICS if m.kind == kind]
    if not equals or metric(name) is None or name not in known:
        raise FtplanError(
            f"--fail-under {text!r}: expected METRIC=VALUE{suggestion(name, known)}; metrics: {', '.join(known)}"
        )
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if value != value:
        raise FtplanError(f"--fail-under {text!r}: {number!r} is no number")
    return name, value


def _unmet(found: MetricValue, limits: list[tuple[str, float]]) -> list[str]:
    texts = []
    for name, limit in limits:
        if name != found.name:
            continue
        worse = found.value is None or (found.value < limit if found.sense == "max" else found.value > limit)
        if worse:
            side = "below" if found.sense == "max" else "above"
            shown = "undefined" if found.value is None else f"{found.value:.6g}, {side}"
            texts.append(f"{name} is {shown} the limit {limit:g}")
    return texts
