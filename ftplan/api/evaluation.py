"""What a plan is worth under failures and on statistics other than those it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ftplan.api.answers import Asked, Evaluation, MetricValue, Scores, of_kind
from ftplan.errors import FtplanError, suggestion
from ftplan.metrics.names import METRICS, RENAMED, metric
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem

_SCORES: Mapping[str, str] = {
    "checkpoint-allocation": "ftplan.api.checkpoint_evaluation:score_allocation",
    "recovery-schedule": "ftplan.api.recovery_evaluation:score_schedule",
    "task-replication": "ftplan.api.replication_evaluation:score_replication",
}


def evaluate(
    plan: Plan,
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
    score: Callable[[Plan, Problem, Asked], Scores] = of_kind(_SCORES, plan, "evaluate")
    if plan.plan is None:
        raise FtplanError(f"there is nothing to evaluate: the plan's status is {plan.status} ({plan.reason})")
    limits, renamed = _limits(fail_under, plan.kind)
    scores = score(plan, problem, Asked(tuple(fail), load, capacity_per_core, overload))
    metrics = tuple(
        MetricValue(m.name, None if value is None else float(value), m.sense, m.unit)
        for m in METRICS
        if m.kind == plan.kind
        for value in (scores.values[m.name],)
    )
    unmet = tuple(text for m in metrics for text in _unmet(m, limits))
    warnings = (*problem.warnings, *renamed, *scores.warnings)
    return Evaluation(plan.kind, metrics, scores.failures, problem.inputs, unmet, warnings)


def _limits(texts: Iterable[str], kind: str) -> tuple[list[tuple[str, float]], tuple[Warn, ...]]:
    """Return the limits by the names of now, and a warning for each name of before."""
    limits, warnings = [], []
    for text in texts:
        name, equals, number = text.partition("=")
        if name in RENAMED:
            now = RENAMED[name]
            warnings.append(Warn("METRIC_RENAMED", f"--fail-under {text}: {name} is called {now} now: write that"))
            name = now
        limits.append(_limit(name + equals + number, kind))
    return limits, tuple(warnings)


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
