"""What a plan is worth under failures and on statistics other than those it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ftplan.api.answers import Asked, Evaluation, MetricValue, ScenarioScores, Scores, of_kind
from ftplan.api.option_checks import PlanSource, a_plan, a_problem, call
from ftplan.api.scenarios import in_scenario, mean, scenarios_of
from ftplan.errors import FtplanError, suggestion
from ftplan.metrics.names import METRICS, RENAMED, metric
from ftplan.model.failure import Scenario
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem

Score = Callable[[Plan, Problem, Asked], Scores]

_SCORES: Mapping[str, str] = {
    "checkpoint-allocation": "ftplan.api.checkpoints.score:score_allocation",
    "recovery-schedule": "ftplan.api.recovery.score:score_schedule",
    "task-replication": "ftplan.api.replication.score:score_replication",
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

    Where the failure has ``scenarios`` the plan is scored in each of them, with what fails besides, and a metric is
    the mean over them, weighted by probability over the sum of all probabilities: the value expected if one of them
    happens. A metric that is undefined in one of them is undefined.

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
    score: Score = of_kind(_SCORES, plan, "evaluate")
    if plan.plan is None:
        raise FtplanError(f"there is nothing to evaluate: the plan's status is {plan.status} ({plan.reason})")
    limits, renamed = _limits(asked["fail_under"], plan.kind)
    question = Asked(asked["fail"], load, capacity_per_core, overload)
    scenarios = scenarios_of(plan, problem, question)
    each = tuple(_in_scenario(score, plan, problem, question, scenario) for scenario in scenarios)
    scores = _mean(each) if each else score(plan, problem, question)
    metrics = _metrics(plan.kind, scores.values)
    unmet = tuple(text for m in metrics for text in _unmet(m, limits))
    warnings = tuple(dict.fromkeys((*problem.warnings, *renamed, *scores.warnings)))
    return Evaluation(
        plan.kind, metrics, scores.failures, problem.inputs, unmet, warnings, tuple(found for found, _ in each)
    )


def _metrics(kind: str, values: Mapping[str, float | None]) -> tuple[MetricValue, ...]:
    return tuple(
        MetricValue(m.name, None if value is None else float(value), m.sense, m.unit)
        for m in METRICS
        if m.kind == kind
        for value in (values[m.name],)
    )


def _in_scenario(
    score: Score, plan: Plan, problem: Problem, asked: Asked, scenario: Scenario
) -> tuple[ScenarioScores, tuple[Warn, ...]]:
    """Score a plan in one scenario; what is said of it names it."""
    scores = score(plan, in_scenario(problem, scenario), asked)
    said = tuple(replace(w, message=f"scenario {scenario.id}: {w.message}") for w in scores.warnings)
    metrics = _metrics(plan.kind, scores.values)
    return ScenarioScores(scenario.id, scenario.probability, scores.failures, metrics), said


def _mean(each: Sequence[tuple[ScenarioScores, tuple[Warn, ...]]]) -> Scores:
    """Return the weighted means, with what fails in all scenarios; what is said of all of them is said once."""
    scenarios = [found for found, _ in each]
    values = mean(
        [{m.name: m.value for m in found.metrics} for found in scenarios],
        [found.probability for found in scenarios],
        [m.name for m in scenarios[0].metrics],
    )
    common = tuple(f for f in scenarios[0].failures if all(f in other.failures for other in scenarios))
    return Scores(values, common, tuple(w for _, said in each for w in said))


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
