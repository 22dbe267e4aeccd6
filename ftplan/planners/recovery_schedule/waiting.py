"""Whether it loses less to wait for the next failure, and to go back to the last checkpoint once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.repair.policy import WholeRepair
from ftplan.planners.recovery_schedule.algorithms.repair.search.list_schedule import list_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.by_queries import by_queries
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Decision, Policy, State
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem


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
    policies = (by_queries(best_density_step), WholeRepair(lambda instance, *_: list_schedule(instance)))
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

    def decide(state: State, budget: Budget, seed: int) -> Decision:
        if state.at_s < at_s:
            return Decision(np.zeros(0, dtype=np.int64), prefetch=False)
        return policy(state, budget, seed)

    return decide
