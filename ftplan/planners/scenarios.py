"""How a plan is scored: in each of the weighted alternatives of a failure file, by their mean, and against limits.

Limits that an evaluation has to meet are those of ``--fail-under METRIC=VALUE``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ftplan.errors import FtplanError, suggestion
from ftplan.model import kinds
from ftplan.model.failure import Scenario
from ftplan.model.kinds import metrics_of
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Asked, MetricValue, ScenarioScores, Scores, scored
from ftplan.planners.kind import PlanKind

Limit = tuple[str, float]


def limits_of(texts: Iterable[str], kind: str) -> tuple[list[Limit], tuple[Warn, ...]]:
    """Return the limits by the names of now, and a warning for each name of before.

    Raises FtplanError if one names no metric of the kind, or no number.
    """
    limits, warnings = [], []
    known = [metric.name for metric in metrics_of(kind)]
    for text in texts:
        name, equals, number = text.partition("=")
        now = None if name in known else _renamed(name)
        if now is not None:
            warnings.append(Warn("METRIC_RENAMED", f"--fail-under {text}: {name} is called {now} now: write that"))
            text = now + equals + number
        limits.append(limit_of(text, known, "METRIC"))
    return limits, tuple(warnings)


def _renamed(name: str) -> str | None:
    """Return the name of now of a metric that was renamed, whatever kind of plan has it; None for any other."""
    renamed = (kinds.question(kind).renamed_metrics for kind in kinds.names())
    return next((names[name] for names in renamed if name in names), None)


def limit_of(text: str, known: Sequence[str], what: str) -> Limit:
    """Return one limit on one of the *known* names; *what* they are, in capitals.

    Raises FtplanError if it names none of them, or no number.
    """
    name, equals, number = text.partition("=")
    if not equals or name not in known:
        listed = f"{what.lower()}s: {', '.join(known)}"
        raise FtplanError(f"--fail-under {text!r}: expected {what}=VALUE{suggestion(name, known)}; {listed}")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if value != value:
        raise FtplanError(f"--fail-under {text!r}: {number!r} is no number")
    return name, value


def unmet_limits(metrics: Sequence[MetricValue], limits: Sequence[Limit]) -> tuple[str, ...]:
    """Return a sentence for each limit that a metric is on the worse side of, or undefined."""
    texts = []
    for metric in metrics:
        for limit in (value for name, value in limits if name == metric.name):
            below = metric.sense == "max"
            if metric.value is not None and (metric.value >= limit if below else metric.value <= limit):
                continue
            side = "below" if below else "above"
            shown = "undefined" if metric.value is None else f"{metric.value:.6g}, {side}"
            texts.append(f"{metric.name} is {shown} the limit {limit:g}")
    return tuple(texts)


def scenarios_of(plan: Plan, problem: Problem, asked: Asked, kind: PlanKind) -> tuple[Scenario, ...]:
    """Return the scenarios that a plan is scored in, by id; empty where the failure has none.

    Where ``kind.fail_replaces_scenarios`` a plan is scored in all tasks' failure, or in what ``--fail`` names, instead
    of the scenarios that it was made for.

    Raises FtplanError if all of them have probability 0.
    """
    if problem.failure is None or not problem.failure.scenarios:
        return ()
    instead = kind.fail_replaces_scenarios and bool(
        asked.fail or plan.options.get("worst_case") or plan.options.get("by_probability")
    )
    if instead and own_failure(plan, problem):
        return ()
    if not any(scenario.probability > 0.0 for scenario in problem.failure.scenarios):
        raise FtplanError("the failure's scenarios all have probability 0: give one of them more")
    return tuple(sorted(problem.failure.scenarios, key=lambda scenario: scenario.id))


def own_failure(plan: Plan, problem: Problem) -> bool:
    """Return whether a problem's failure file, if it has one, is that which the plan was made with."""
    made_with = {item.sha256 for item in plan.inputs if item.role == "failure"}
    return all(item.sha256 in made_with for item in problem.inputs if item.role == "failure")


def in_each(
    kind: PlanKind, plan: Plan, problem: Problem, asked: Asked, scenarios: Sequence[Scenario]
) -> tuple[tuple[ScenarioScores, tuple[Warn, ...]], ...]:
    """Score a plan in each scenario; what is said of it names the scenario."""
    scored_scenarios = []
    for scenario in scenarios:
        scores = kind.score(plan, in_scenario(problem, scenario), asked)
        said = tuple(replace(w, message=f"scenario {scenario.id}: {w.message}") for w in scores.warnings)
        metrics = scored(plan.kind, scores.values)
        scored_scenarios.append((ScenarioScores(scenario.id, scenario.probability, scores.failures, metrics), said))
    return tuple(scored_scenarios)


def mean_of(each: Sequence[tuple[ScenarioScores, tuple[Warn, ...]]]) -> Scores:
    """Return the weighted means, with what fails in all scenarios; what is said of all of them is said once."""
    scenarios = [scores for scores, _ in each]
    values = mean(
        [{m.name: m.value for m in scores.metrics} for scores in scenarios],
        [scores.probability for scores in scenarios],
        [m.name for m in scenarios[0].metrics],
    )
    common = tuple(f for f in scenarios[0].failures if all(f in other.failures for other in scenarios))
    return Scores(values, common, tuple(w for _, said in each for w in said))


def in_scenario(problem: Problem, scenario: Scenario) -> Problem:
    """Return the problem with one scenario only, which is sure to happen."""
    assert problem.failure is not None
    return replace(problem, failure=replace(problem.failure, scenarios=(replace(scenario, probability=1.0),)))


def with_scenario_fails(problem: Problem) -> Problem:
    """Return the problem with what fails in its one scenario among what fails."""
    failure = problem.failure
    if failure is None or len(failure.scenarios) != 1:
        return problem
    listed = tuple(dict.fromkeys((*failure.fail, *failure.scenarios[0].fail)))
    return replace(problem, failure=replace(failure, fail=listed, scenarios=()))


def mean(
    values: Sequence[Mapping[str, float | None]], weights: Sequence[float], names: Sequence[str]
) -> dict[str, float | None]:
    """Return the weighted mean of each metric; None where it is undefined in a scenario that may happen."""
    means: dict[str, float | None] = {}
    for name in names:
        rows = [(one[name], weight) for one, weight in zip(values, weights, strict=True) if weight > 0.0]
        known = [(value, weight) for value, weight in rows if value is not None]
        if len(known) < len(rows):
            means[name] = None
        elif all(value == known[0][0] for value, _ in known):
            means[name] = known[0][0]
        else:
            means[name] = sum(value * weight for value, weight in known) / sum(weight for _, weight in known)
    return means
