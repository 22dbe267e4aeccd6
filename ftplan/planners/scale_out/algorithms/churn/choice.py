"""The policy that would have done best on a history, by the account that the optimum is measured with."""

from __future__ import annotations

from contextlib import nullcontext
from typing import NamedTuple

from ftplan.compiled import called_often, pays_to_compile
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.scale_out.algorithms.churn.planned import (
    PlannedPolicy,
    planned_policies,
    planned_schedule,
    planned_states,
)
from ftplan.planners.scale_out.algorithms.churn.policies import Foretell, PolicyReplay, ThresholdPolicy, grid
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnAccount, ChurnLimits, DemandTrace, account

#: States of all plans that are made for the choice: some ten seconds.
MOST_STATES = 1e9
#: Seconds that a plan for a day takes, about.
PLAN_S = 5e-4

RescalingPolicy = ThresholdPolicy | PlannedPolicy


class ReplayedPolicy(NamedTuple):
    """A policy, what it does on a trace, and whether that keeps the limits."""

    policy: RescalingPolicy
    schedule: IntArray
    account: ChurnAccount
    keeps: bool


def replayed(trace: DemandTrace, limits: ChurnLimits, policy: RescalingPolicy, foretell: Foretell | None) -> IntArray:
    """Return the parallelism that a policy gives each window, (W,)."""
    if isinstance(policy, PlannedPolicy):
        if foretell is None:
            raise ValueError("plans need a forecast")
        return planned_schedule(trace, limits, policy, foretell)
    return PolicyReplay(trace, limits, foretell).schedule(policy)


def best_policies(
    trace: DemandTrace, limits: ChurnLimits, foretell: Foretell | None, budget: Budget, most_states: float = MOST_STATES
) -> dict[str, ReplayedPolicy]:
    """Return the best policy of each method: thresholds, foretold (thresholds on what is foretold) and planned.

    Best is the fewest task-seconds of those that keep the limits by their late windows; of a method of which none does,
    the fewest late windows. All of the grids are tried: thresholds alone without ``foretell``, no plans where these
    take more than ``most_states`` states, and as many of them as there is time for.

    Raises
    ------
    OutOfTime
        If the clock runs out before all thresholds are tried.
    """
    replay = PolicyReplay(trace, limits, foretell)
    best: dict[str, ReplayedPolicy] = {}

    def tried(method: str, policy: RescalingPolicy, schedule: IntArray) -> None:
        entry = account(trace, schedule)
        answer = ReplayedPolicy(policy, schedule, entry, entry.keeps(limits, trace, late=True))
        if method not in best or rank(answer) < rank(best[method]):
            best[method] = answer

    policies = [policy for policy in grid(trace, limits) if foretell is not None or not policy.horizon]
    often = pays_to_compile(20.0 * len(policies) * len(trace.demand))
    with called_often() if often else nullcontext():
        for policy in policies:
            budget.check()
            tried("foretold" if policy.horizon else "thresholds", policy, replay.schedule(policy))
    first_day = best["thresholds"].policy
    if foretell is not None and isinstance(first_day, ThresholdPolicy) and planned_states(trace, limits) <= most_states:
        for plan in planned_policies(trace, first_day):
            if not budget.pays(PLAN_S * len(trace.demand) / plan.every):
                break
            tried("planned", plan, planned_schedule(trace, limits, plan, foretell))
    return best


def rank(answer: ReplayedPolicy) -> tuple[bool, float, float, int]:
    """Return what answers are ordered by, the best first; of equals the one with fewest rescales."""
    task_s, late, rescales = answer.account.task_s, float(answer.account.late), answer.account.rescales
    return (False, task_s, late, rescales) if answer.keeps else (True, late, task_s, rescales)
