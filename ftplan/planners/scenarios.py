"""The weighted alternatives of a failure file: a plan is scored in each, and by their mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ftplan.errors import FtplanError
from ftplan.model.failure import Scenario
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Asked, ScenarioScores, Scores, scored
from ftplan.planners.kind import PlanKind


def scenarios_of(plan: Plan, problem: Problem, asked: Asked, kind: PlanKind) -> tuple[Scenario, ...]:
    """Return the scenarios that a plan is scored in, by id; empty where the failure has none.

    Where ``kind.fail_replaces_scenarios`` a plan is scored in all tasks' failure, or in what ``--fail`` names, instead
    of the scenarios that it was made for.

    Raises
    ------
    FtplanError
        If all of them have probability 0.
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
