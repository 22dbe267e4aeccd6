"""From a problem to a plan of kind ``rebalance``, whichever algorithm answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ftplan.model.plan import Objective, Plan
from ftplan.model.problem import Problem
from ftplan.planners import registry
from ftplan.planners.budget import Budget, of_command
from ftplan.planners.making import Made, log_planned, without_failure
from ftplan.planners.rebalance.algorithms.phases.front import front
from ftplan.planners.rebalance.body import body, summary
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance, prepare
from ftplan.planners.rebalance.problem import Rebalance, RebalanceSearch
from ftplan.planners.rebalance.rules import rules
from ftplan.planners.rebalance.suggest import suggestion
from ftplan.planners.result import Result

#: Share of the time for the moves, the rest is for what the plan is compared with; and, of what is left of that, for
#: each tolerance that is tried.
PLANNED, EACH = 0.9, 0.5
#: How far below its fair share an added node may stay: the smallest that can be is taken.
LADDER = tuple(round(0.1 * step, 1) for step in range(1, 11))


def make(problem: Problem, planner: registry.Row, options: RebalanceOptions) -> Plan:
    """Plan which key groups move where; see ``ftplan rebalance --help``.

    Raises FtplanError if an input is missing, or a selector or plan names what is not there.
    """
    command = Budget(options.time_limit_s, options.iterations)
    started = time.perf_counter()
    prepared, fill, result = _searched(prepare(problem, options), planner, options, command)
    question, answer = prepared.problem, result.answer
    shape = f"{len(question.home)} key groups x {len(question.nodes)} nodes"
    log_planned(shape, planner, result.status, started)
    value = None if answer is None else question.value(answer.moves)
    warnings = (*problem.warnings, *question.warnings, *result.warnings)
    made = Made(
        result=replace(result, reason=result.reason or _nothing_to_do(answer, options), rules=rules(question)),
        body=None if answer is None else body(question, answer, options.protocol),
        objective=Objective.of(question.objective_name, "min", value, None if answer is None else result.bound),
        summary=_summary(prepared, options, answer),
        warnings=of_command(warnings, command.time_limit_s),
        inputs=(*without_failure(problem), *prepared.inputs),
        derived={
            "tolerance_requested": options.tolerance,
            "tolerance": _tolerance(options, fill),
            "capacity_per_core_requested": options.capacity_per_core,
            "capacity_per_core": prepared.capacity_per_core,
        },
    )
    return made.plan(problem, planner, options)


def _tolerance(options: RebalanceOptions, fill: float | None) -> Any:
    """Return the tolerance that came of the one that was asked for."""
    if options.tolerance != "auto":
        return options.tolerance
    return "none" if fill is None else fill


def _searched(
    prepared: PreparedRebalance, planner: registry.Row, options: RebalanceOptions, command: Budget
) -> tuple[PreparedRebalance, float | None, Result[Rebalance]]:
    """Return the question, how far below its fair share an added node may stay in it, and the planner's answer."""
    plan: Callable[..., Result[Rebalance]] = registry.load(planner)

    def answered(asked: PreparedRebalance, last: bool) -> Result[Rebalance]:
        limit_s = command.left_s * PLANNED * (1.0 if last else EACH)
        return plan(asked.problem, RebalanceSearch(options.seed, limit_s, options.iterations, explain=last))

    if options.tolerance != "auto" or not prepared.problem.added.any():
        return prepared, None, answered(prepared, last=True)
    for fill in LADDER:
        filled = prepared.filled(fill)
        result = answered(filled, last=fill == LADDER[-1])
        if result.answer is not None:
            break
    return filled, fill, result


def _summary(prepared: PreparedRebalance, options: RebalanceOptions, answer: Rebalance | None) -> dict[str, Any]:
    """Return what follows from question and moves, and what planners know besides."""
    known = summary(prepared, options, answer)
    if options.suggest:
        known["suggestion"] = suggestion(prepared, options)
    if answer is not None:
        known["front"] = [point._asdict() for point in front(prepared.problem, answer)]
    if answer is not None and answer.assisted is not None:
        known["assisted"] = dict(zip(("preferred", "not_preferred"), answer.assisted, strict=True))
    return known


def _nothing_to_do(answer: Rebalance | None, options: RebalanceOptions) -> str | None:
    """Say why nothing moves, with the limit that is kept as it is."""
    if answer is None or answer.moves or answer.new_copies:
        return None
    even = "" if options.tolerance in ("auto", "none") else f", and load is within {options.tolerance:g} of even"
    return f"no change: no node is above {options.overload:g} of its capacity{even}"
