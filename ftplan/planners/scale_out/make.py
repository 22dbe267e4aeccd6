"""Scale-outs, whichever algorithm answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.io.key_log_file import KeyLog, load_key_log
from ftplan.model.plan import Infeasible, Objective, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.planners.budget import Budget, SearchOptions, of_command
from ftplan.planners.making import Made, log_planned, without_failure
from ftplan.planners.result import Result
from ftplan.planners.scale_out.algorithms.alarming import alarming_threshold
from ftplan.planners.scale_out.algorithms.baselines import baselines
from ftplan.planners.scale_out.algorithms.nodes import on_their_state
from ftplan.planners.scale_out.algorithms.techniques import Techniques, choose_techniques
from ftplan.planners.scale_out.body import body
from ftplan.planners.scale_out.churn import churn
from ftplan.planners.scale_out.key_log import max_parallelisms
from ftplan.planners.scale_out.metrics import ScaledFigures, steps, why_so_many
from ftplan.planners.scale_out.options import ScaleOutOptions
from ftplan.planners.scale_out.prepare import PreparedScaling, prepare
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem, extra_cpu, lacks_tasks, sustained_load
from ftplan.planners.scale_out.rules import rules
from ftplan.planners.scale_out.summary import summary
from ftplan.planners.scale_out.techniques.prepare import setup_seconds


def alarmed(
    prepared: PreparedScaling, options: ScaleOutOptions
) -> tuple[PreparedScaling, tuple[Mapping[str, Any], ...], tuple[Warn, ...]]:
    """Return the question with the alarming threshold that is asked for, or with the best one.

    Also what the thresholds that are worth a look would have meant in the statistics, and what there is to say.
    """
    if options.alarming != "auto":
        return prepared, (), ()
    low, promote = prepared.thresholds.scale_in, prepared.thresholds.promote
    guess = prepared.thresholds.alarming
    setup_windows = setup_seconds(prepared.setting, prepared.problem) / prepared.window_s
    made = alarming_threshold(prepared.scores, low, promote, setup_windows, options.ready, guess)
    front = tuple(
        {"alarming": point.threshold, "ready": point.ready, "backup_share": point.backup_share} for point in made.front
    )
    return prepared.alarmed_at(made.chosen.threshold), front, made.warnings


#: Share of the time for the plan; the rest is for what it is compared with.
PLANNED = 0.9


def make(problem: Problem, planner: registry.Row, options: ScaleOutOptions) -> Plan:
    """Plan which operators get how many tasks; see ``ftplan scale-out --help``.

    Raises FtplanError if an input is missing, an option contradicts another, or a plan or file names what is not there.
    """
    command = Budget(options.time_limit_s, options.iterations)
    started = time.perf_counter()
    prepared, front, said = alarmed(prepare(problem, options), options)
    log = None if options.key_log is None else load_key_log(options.key_log)
    question = prepared.problem
    plan: Callable[..., Result[Scaling]] = registry.load(planner)
    search = SearchOptions(options.seed, command.left_s * PLANNED, options.iterations)
    result = plan(question, search)
    shape = f"{len(question.operators)} operators x {len(question.nodes)} nodes"
    log_planned(shape, planner, result.status, started)
    scaling = None if result.answer is None else on_their_state(question, result.answer)
    techniques = Techniques(())
    if scaling is not None:
        techniques = choose_techniques(question, scaling, prepared.setting, options.technique, options.latency_budget_s)
    impossible = result.infeasible or techniques.infeasible
    if impossible is not None:
        scaling = None
    figures = None
    if scaling is not None:
        figures = ScaledFigures(prepared, scaling, _named(scaling, techniques), options.technique)
    beside, more = _beside(prepared, options, problem, front, log, command)
    value = None if scaling is None else sustained_load(question, scaling)
    stated = replace(
        result,
        status="infeasible" if impossible is not None else result.status,
        reason=_reason(question, result, impossible, scaling),
        rules=() if scaling is None else rules(question, scaling, options.latency_budget_s),
        infeasible=impossible,
    )
    warnings = (*problem.warnings, *question.warnings, *said, *more, *result.warnings)
    made = Made(
        result=stated,
        body=None if figures is None else body(figures, _reasons(figures, techniques), _steps(figures)),
        objective=Objective.of("sustained-load", "max", value, None if scaling is None else result.bound),
        summary={**_summary(prepared, figures), **beside},
        warnings=of_command(warnings, command.time_limit_s),
        inputs=(*without_failure(problem), *prepared.inputs, *(() if log is None else (log.input,))),
        derived={"alarming_requested": options.alarming, "alarming": float(prepared.thresholds.alarming)},
    )
    return made.plan(problem, planner, options)


def _named(scaling: Scaling, techniques: Techniques) -> dict[int, str | None]:
    """Return the technique that was chosen for each operator."""
    pairs = zip(scaling.operators, techniques.chosen, strict=True)
    return {item.operator: chosen.cost.technique for item, chosen in pairs}


def _reasons(figures: ScaledFigures, techniques: Techniques) -> dict[int, str]:
    """Say why each operator gets so many tasks, and why by its technique."""
    chosen = {
        item.operator: choice.reason for item, choice in zip(figures.scaling.operators, techniques.chosen, strict=True)
    }
    return {
        number: "; ".join(filter(None, (why_so_many(figures, number), chosen.get(number))))
        for number in range(len(figures.problem.operators))
    }


def _steps(figures: ScaledFigures) -> dict[int, list[str]]:
    """Say what is done to each operator that changes."""
    return {
        item.operator: steps(figures.problem, item, cost)
        for item in figures.scaling.operators
        if (cost := figures.costs[item.operator]) is not None
    }


def _reason(
    problem: ScalingProblem, result: Result[Scaling], impossible: Infeasible | None, scaling: Scaling | None
) -> str | None:
    """Say why there is no plan, or why nothing changes."""
    if impossible is not None:
        return impossible.reason
    if scaling is None or scaling.operators or result.reason is not None:
        return result.reason
    if not any(operator.use > 0.0 for operator in problem.operators):
        return "no change: of no operator is it known that anything is demanded of it"
    if any(lacks_tasks(operator, problem.limits.target) for operator in problem.operators):
        return "no change: no new tasks find room, or none help"
    return "no change: every operator has the tasks that it needs"


def _beside(
    prepared: PreparedScaling,
    options: ScaleOutOptions,
    problem: Problem,
    front: Sequence[Mapping[str, Any]],
    log: KeyLog | None,
    command: Budget,
) -> tuple[dict[str, Any], tuple[Warn, ...]]:
    """Return the parts of the summary that are asked for, whatever the plan, and what there is to say of them."""
    known: dict[str, Any] = {"alarming": list(front)} if front else {}
    said: tuple[Warn, ...] = ()
    if options.max_rescales_per_day is not None:
        beside = command.part(PLANNED)
        known["churn"] = churn(prepared, options, beside)
        said = beside.warnings()
    if log is not None:
        assert problem.stats is not None
        known["max_parallelism"], more = max_parallelisms(
            prepared.problem, log, problem.stats.manifest, options.max_parallelism
        )
        said = (*said, *more)
    return known, said


def _summary(prepared: PreparedScaling, figures: ScaledFigures | None) -> dict[str, Any]:
    """Return what follows from question and plan, and what planners know besides."""
    known = summary(prepared, figures)
    if figures is None:
        return known
    known["least_extra_cpu"] = figures.scaling.least_extra_cpu
    known["baselines"] = {name: _worth(prepared, other) for name, other in baselines(prepared.problem).items()}
    return known


def _worth(prepared: PreparedScaling, scaling: Scaling) -> dict[str, float]:
    """Return what another algorithm's plan is worth."""
    load, cores = sustained_load(prepared.problem, scaling), extra_cpu(prepared.problem, scaling)
    return {"sustained_load": load, "extra_cpu": cores}
