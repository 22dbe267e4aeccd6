"""The policy that would have done best on a history, by the account that the optimum is measured with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ftplan.model.topology import IntArray
from ftplan.planners.scale_out.churn.planned import PlannedPolicy, planned_policies, planned_schedule
from ftplan.planners.scale_out.churn.policies import Foretell, Replay, ThresholdPolicy, grid
from ftplan.planners.scale_out.churn.trace import ChurnAccount, ChurnLimits, DemandTrace, account

RescalingPolicy = ThresholdPolicy | PlannedPolicy


class ReplayedPolicy(NamedTuple):
    """A policy, what it does on a trace, and whether that keeps the limits."""

    policy: RescalingPolicy
    schedule: IntArray
    account: ChurnAccount
    keeps: bool


def replayed(trace: DemandTrace, limits: ChurnLimits, policy: RescalingPolicy, foretell: Foretell) -> IntArray:
    """Return the parallelism that a policy gives each window, (W,)."""
    if isinstance(policy, PlannedPolicy):
        return planned_schedule(trace, limits, policy, foretell)
    return Replay(trace, limits, foretell).schedule(policy)


def best_policies(trace: DemandTrace, limits: ChurnLimits, foretell: Foretell) -> dict[str, ReplayedPolicy]:
    """Return the best policy of each method: thresholds, foretold (thresholds on what is foretold) and planned.

    Best is the fewest task-seconds of those that keep the limits; of a method of which none does, the fewest overloaded
    windows. All of the grids are tried.
    """
    replay = Replay(trace, limits, foretell)
    best: dict[str, ReplayedPolicy] = {}
    for method, policy, schedule_of in _tried(trace, limits, replay):
        schedule = schedule_of()
        entry = account(trace, schedule)
        answer = ReplayedPolicy(policy, schedule, entry, entry.keeps(limits, trace))
        if method not in best or rank(answer) < rank(best[method]):
            best[method] = answer
    return best


def rank(answer: ReplayedPolicy) -> tuple[bool, float, float]:
    """Return what answers are ordered by, the best first."""
    task_s, overloaded = answer.account.task_s, float(answer.account.overloaded)
    return (False, task_s, overloaded) if answer.keeps else (True, overloaded, task_s)


def _tried(
    trace: DemandTrace, limits: ChurnLimits, replay: Replay
) -> Iterator[tuple[str, RescalingPolicy, Callable[[], IntArray]]]:
    for policy in grid(trace, limits):
        yield "foretold" if policy.horizon else "thresholds", policy, lambda policy=policy: replay.schedule(policy)
    for plan in planned_policies(trace):
        yield "planned", plan, lambda plan=plan: planned_schedule(trace, limits, plan, replay.foretell)
