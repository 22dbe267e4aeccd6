"""What a recovery schedule is worth, compared with its baselines.

And whether it loses less to wait for the next failure, and to go back to the last checkpoint once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ftplan.model.measures.downtimes import Downtimes, fidelity_time
from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.plan import Warn
from ftplan.model.rates import rates
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.repair.policy import WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.repair.search.list_schedule import list_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.arrival_replay import replay
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule, nothing_recovered
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, Policy, StepState, by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.score import changes, priority_time_of
from ftplan.planners.recovery_schedule.body import timeline
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import ComparedSchedules, Schedule

Figures = dict[str, float | int | None]
Fidelity = Callable[[Schedule], float]


def fidelity_of(problem: RecoveryProblem) -> Fidelity:
    """Return a function that integrates the output fidelity of a schedule over the horizon, in seconds."""
    model = fidelity_model(problem.graph, rates(problem.graph))

    def integral(schedule: Schedule) -> float:
        return fidelity_time(model, ~problem.failed, changes(schedule, problem), problem.horizon_s)

    return integral


def figures(schedule: Schedule, problem: RecoveryProblem, fidelity: Fidelity | None = None) -> Figures:
    """Return the figures of a schedule.

    ``priority`` sums over the steps what each restored, as the objective of this name does, and ``priority_step_0``
    is that of step 0; ``priority_time`` is the sum of priority x seconds down within the horizon; ``queries_back``
    counts queries that are back at the horizon. ``first_back_s`` is None where none is back by then, ``last_back_s``
    where one is not. ``fidelity_time`` is only there where asked for.
    """
    by_step = [float(step.objective.value or 0.0) for step in schedule.steps]
    outages = [(outage.query, outage.down_s, outage.back_s) for outage in schedule.downtimes]
    values = Downtimes.of(outages, problem.graph.per_task("priority")).figures(by_step, problem.horizon_s)
    return values if fidelity is None else {**values, "fidelity_time": fidelity(schedule)}


def held_against(
    plan: Schedule | None,
    beside: ComparedSchedules,
    problem: RecoveryProblem,
    until_s: float,
    fidelity: Fidelity | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return the figures of what a plan is held against, and what the time did not last for.

    ``before`` is blocking recovery: everything that is down comes back at once, or nothing. ``step_by_step`` decides at
    each step alone. ``random`` are the mean figures of random query orders, with how many ``orders`` that are, judged
    while the time lasts until *until_s*, a time of ``budget.now``: the mean of ``first_back_s`` is over the orders in
    which a query returns, that of ``last_back_s`` over those in which all do. None in place of what is not known. Where
    one of them lets no query return it counts as one that recovers nothing, through all failures stated.

    A ``timeline`` is of the queries that are down at some time in the plan: those that only there give way are up.
    """
    never = cache(lambda: nothing_recovered(problem))
    before = [_drawn_out(one or never(), plan, problem, fidelity) for one in beside.blocking]
    alone = beside.step_by_step
    judged: list[Figures] = []
    for one in beside.random:
        judged.append(figures(one or never(), problem, fidelity))
        if now() > until_s:
            break
    lacking = [] if before else ["no blocking recovery"]
    if len(judged) < beside.orders:
        lacking.append(f"{len(judged)} of {beside.orders} random orders")
    return {
        "before": before[0] if before else None,
        "step_by_step": None if alone is None else _drawn_out(alone, plan, problem, fidelity),
        "random": _mean(judged) if judged else None,
    }, lacking


def _drawn_out(
    schedule: Schedule, plan: Schedule | None, problem: RecoveryProblem, fidelity: Fidelity | None
) -> dict[str, Any]:
    """Return the figures of a schedule with the priority that is back over time."""
    asked = {} if plan is None else {outage.query: outage.priority for outage in plan.downtimes}
    down = {outage.query for outage in schedule.downtimes}
    up = sum(priority for query, priority in asked.items() if query not in down)
    rows = [[row["at_s"], row["priority"] + up] for row in timeline(schedule)]
    if up and (not rows or rows[0][0] > 0.0):
        rows = [[0.0, up], *rows]
    return {**figures(schedule, problem, fidelity), "timeline": rows}


def _mean(judged: Sequence[Figures]) -> dict[str, Any]:
    mean: dict[str, Any] = {"orders": len(judged)}
    for name in judged[0]:
        values = [float(value) for one in judged if (value := one[name]) is not None]
        mean[name] = float(np.mean(values)) if values else None
    return mean


def sampled(
    schedule: Schedule, problem: RecoveryProblem, samples: int, seed: int, until_s: float
) -> dict[str, Any] | None:
    """Return mean and 95th percentile of a schedule's figures over sampled arrival times, None where all are fixed.

    The first ``samples`` of those wanted, as many as the time until *until_s* lasts for; None where it lasts for none.

    Of ``queries_back``, where less is worse, the 5th percentile; ``last_back_s`` is over the samples in which all
    queries return, None where there is none.
    """
    replayed = replay(schedule, problem, samples, seed, until_s)
    if replayed is None:
        return None
    times = replayed.last_back_s[~np.isnan(replayed.last_back_s)]
    return {
        "samples": len(replayed.priority_time),
        "priority_time": _spread(replayed.priority_time, 95),
        "last_back_s": _spread(times, 95) if len(times) else None,
        "queries_back": _spread(replayed.queries_back.astype(np.float64), 5),
    }


def _spread(values: FloatArray, percentile: int) -> dict[str, float]:
    return {"mean": float(values.mean()), f"p{percentile}": float(np.percentile(values, percentile))}


def waiting(problem: RecoveryProblem, settings: RecoveryOptions, until_s: float) -> dict[str, Any] | None:
    """Return what is lost where nothing is done before the second failure, and all go back once then.

    The better of a step-by-step schedule and a list schedule from then on: waiting may lose less still. None where
    nothing goes back, no second failure is stated, or the time does not last until *until_s*, a time of
    ``budget.now``.
    """
    first = {0.0} if problem.failed.any() else set()
    times = sorted(first | {event.at_s for event in problem.failures})
    if not problem.rolls_back or len(times) < 2:
        return None
    second_s = times[1]
    merged = replace(problem, rolls_back_from_s=second_s)
    policies = (by_queries(best_density_step), WholeRepairPolicy(lambda instance, *_: list_schedule(instance)))
    lost = []
    for policy in policies:
        options = replace(settings, objective="priority", iterations=None)
        made = construct_schedule(merged, options, _from(second_s, policy), until_s)
        if made.answer is not None:
            lost.append(priority_time_of(made.answer, merged))
    return {"until_s": second_s, "priority_time": min(lost)} if lost else None


def waiting_warnings(found: dict[str, Any] | None, lost: float | None) -> list[Warn]:
    """Say where waiting loses less than a plan, which loses *lost*."""
    if found is None or lost is None or found["priority_time"] >= lost * (1.0 - ROUNDING):
        return []
    text = (
        f"doing nothing until the failure at {found['until_s']:g} s, and going back to the last checkpoint once then, "
        f"would lose less: priority x time {found['priority_time']:.6g} against {lost:.6g}"
    )
    return [Warn("MERGING_LOSES_LESS", text)]


def _from(at_s: float, policy: Policy) -> Policy:
    """Return a policy that does nothing before a time."""

    def decide(state: StepState, budget: Budget, seed: int) -> Decision:
        if state.at_s < at_s:
            return Decision(np.zeros(0, dtype=np.int64), prefetch=False)
        return policy(state, budget, seed)

    return decide
