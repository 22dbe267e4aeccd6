"""Policies that rescale by what they have seen, and the one that would have done best on a history.

They are replayed over a trace, by the account that the optimum is measured with: no window's demand is known before its
end. One kind of them plans ahead: the cheapest schedule for the day that is foretold, made anew as the day goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import product
from typing import NamedTuple

import numpy as np

from ftplan.compiled import called_often, compiled, pays_to_compile
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.scale_out.algorithms.churn.optimum import Recursion, cheapest
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnAccount, ChurnLimits, DemandTrace, account

#: From a series (W,), origins (G,) and a horizon of H windows: (G, H) what is foretold from each origin on, by what
#: lies before it alone.
Foretell = Callable[[FloatArray, IntArray, int], FloatArray]
#: What is tried: utilisation above which tasks are added, to which they are sized, below which they go (as a share of
#: what they are sized for), windows for which it stays below, windows foretold (0: none), rescales kept for more tasks.
SCALE_OUT = (0.7, 0.8, 0.9, 0.95, 1.0)
TARGET = (0.6, 0.7, 0.8, 0.9, 1.0)
SCALE_IN = (0.5, 0.7, 0.85)
HOLD_S = (0.0, 900.0, 3600.0, 10800.0)
HORIZON_S = (0.0, 1800.0, 7200.0)
RESERVE = (0, 1, 2)


class ThresholdPolicy(NamedTuple):
    """Thresholds with hysteresis.

    Before each window, while no rescale is under way and the day has rescales left: above ``scale_out`` there are as
    many tasks as bring utilisation down to ``target``; after ``hold`` windows below ``scale_in`` in a row as few as
    suffice for the peak of these, unless no more than ``reserve`` rescales of the day are left.
    """

    scale_out: float
    target: float
    scale_in: float
    hold: int
    #: Windows foretold: the peak of these, or the last window's demand if that is more, is the demand that counts; 0
    #: for the last window's alone
    horizon: int
    reserve: int


def grid(trace: DemandTrace, limits: ChurnLimits) -> Iterator[ThresholdPolicy]:
    """Yield the policies that are tried on a trace."""
    horizons = sorted({round(length / trace.window_s) for length in HORIZON_S})
    holds = sorted({max(round(length / trace.window_s), 1) for length in HOLD_S})
    for out, target, below in product(SCALE_OUT, TARGET, SCALE_IN):
        if target <= out:
            for horizon, hold, reserve in product(horizons, holds, RESERVE):
                if reserve < max(limits.rescales_per_day, 1):
                    yield ThresholdPolicy(out, target, below * target, hold, horizon, reserve)


class PolicyReplay:
    """Policies replayed over one trace; what is foretold is made once for all of one horizon."""

    def __init__(self, trace: DemandTrace, limits: ChurnLimits, foretell: Foretell | None) -> None:
        self.trace, self.limits, self.foretell = trace, limits, foretell
        self._expected: dict[int, FloatArray] = {}

    def expected(self, horizon: int) -> FloatArray:
        """Return the demand that counts before each window, (W,); of the first, about which nothing is known, 0."""
        if horizon not in self._expected:
            demand = self.trace.demand
            counts = np.concatenate([[0.0], demand[:-1]])
            if self.foretell is not None and horizon and len(demand) > 1:
                told = self.foretell(demand, np.arange(1, len(demand)), horizon)
                counts[1:] = np.maximum(counts[1:], told.max(axis=1))
            self._expected[horizon] = counts
        return self._expected[horizon]

    def schedule(self, policy: ThresholdPolicy) -> IntArray:
        """Return the parallelism of each window, (W,). Cost O(W) and O(P) a rescale."""
        trace = self.trace
        kernel = _thresholds if pays_to_compile(20.0 * len(trace.demand)) else _thresholds.plain
        answer: IntArray = kernel(
            self.expected(policy.horizon), trace.capacity, trace.day, trace.span, trace.start - 1,
            self.limits.rescales_per_day, tuple(policy),
        )  # fmt: skip
        return answer


@compiled
def _thresholds(
    expected: FloatArray, capacity: FloatArray, day: IntArray, span: int, start: int, rescales: int, policy:
    tuple[float, float, float, int, int, int],
) -> IntArray:  # fmt: skip
    """Go on window by window. A kernel takes plain arrays and numbers, therefore so many parameters."""
    scale_out, target, scale_in, hold, _, reserve = policy
    schedule = np.empty(len(expected), dtype=np.int64)
    tasks, left, free_from, below, peak = start, rescales, 0, 0, 0.0
    for window in range(len(expected)):
        if window == 0 or day[window] != day[window - 1]:
            left = rescales
        counts = expected[window]
        if window > 0 and counts < scale_in * capacity[tasks]:
            below, peak = below + 1, max(peak, counts)
        else:
            below, peak = 0, 0.0
        if window >= free_from and left > 0:
            to = tasks
            if counts > scale_out * capacity[tasks]:
                to = max(_sufficing(capacity, counts / target), tasks)
            elif below >= hold and left > reserve:
                to = min(_sufficing(capacity, peak / target), tasks)
            if to != tasks:
                tasks, left, free_from, below, peak = to, left - 1, window + span, 0, 0.0
        schedule[window] = tasks + 1
    return schedule


@compiled
def _sufficing(capacity: FloatArray, demand: float) -> int:
    """Return the fewest tasks, less one, that take a demand; those that take most where none do."""
    most = 0
    for tasks in range(len(capacity)):
        if capacity[tasks] >= demand:
            return tasks
        if capacity[tasks] > capacity[most]:
            most = tasks
    return most


#: What is tried: the share of what is foretold that is planned for, and the price of an overloaded window, in windows
#: of all the tasks that suffice for the mean demand.
MARGIN, PRICE = (1.0, 1.05, 1.2, 1.4), (2.0, 6.0)
#: How often plans are made anew, and after which time they are again where a window is overloaded.
EVERY_S, SOONEST_S = 3600.0, 300.0
#: Steps of a plan, about: windows shorter than these are planned together, for their peak.
STEPS = 288


class PlannedPolicy(NamedTuple):
    """Receding horizon: tasks are those of the last plan, which covers the day that follows.

    A plan is the optimum of the demand foretold times ``margin``, with ``price`` task-seconds for an overloaded window,
    and with the rescales that the day has left. It is made anew after ``every`` windows, and soon after an overloaded
    one. On the first day, from which no day can be foretold, ``first_day`` stands in.
    """

    margin: float
    price: float
    every: int
    first_day: ThresholdPolicy


def planned_policies(trace: DemandTrace, first_day: ThresholdPolicy) -> Iterator[PlannedPolicy]:
    """Yield the policies that are tried on a trace."""
    mean = 1 + int(np.argmax(trace.capacity >= min(float(trace.demand.mean()), float(trace.capacity.max()))))
    every = max(1, round(EVERY_S / trace.window_s))
    for margin, price in product(MARGIN, PRICE):
        yield PlannedPolicy(margin, price * mean * trace.window_s, every, first_day)


def planned_states(trace: DemandTrace, limits: ChurnLimits) -> float:
    """Return about how many states all plans of all policies go through, overloads aside."""
    plans = len(MARGIN) * len(PRICE) * len(trace.demand) / max(1, round(EVERY_S / trace.window_s))
    return float(plans * min(trace.day_windows, STEPS) * trace.most * (limits.rescales(trace) + 1))


def planned_schedule(trace: DemandTrace, limits: ChurnLimits, policy: PlannedPolicy, foretell: Foretell) -> IntArray:
    """Return the parallelism of each window, (W,). Cost O(H P N) a plan, for a day of H steps."""
    windows, ahead, rescales = len(trace.demand), trace.day_windows, limits.rescales(trace)
    schedule = np.empty(windows, dtype=np.int64)
    known = min(ahead, windows)
    schedule[:known] = PolicyReplay(trace.part(0, known), limits, foretell).schedule(policy.first_day)
    tasks, made, plan = int(schedule[known - 1]), -windows, schedule[:0]
    begun = np.flatnonzero(np.diff(schedule[:known], prepend=trace.start))
    free_from = int(begun[-1]) + trace.span if len(begun) else 0
    left = rescales - int((trace.day[begun] == trace.day[known - 1]).sum())
    every, soonest = min(policy.every, ahead), max(1, round(SOONEST_S / trace.window_s))
    for window in range(known, windows):
        if trace.day[window] != trace.day[window - 1]:
            left = rescales
        if window >= free_from and left > 0:
            age = window - made
            if age >= every or (age >= soonest and trace.overloads[window - 1, tasks - 1]):
                plan = _plan(trace, policy, foretell, window, tasks, rescales, left)
                made = window
            asked = int(plan[window - made])
            if asked != tasks:
                tasks, left, free_from = asked, left - 1, window + trace.span
        schedule[window] = tasks
    return schedule


def _plan(
    trace: DemandTrace, policy: PlannedPolicy, foretell: Foretell, window: int, tasks: int, rescales: int, left: int
) -> IntArray:
    """Return the tasks that are planned for the day from a window on, by window."""
    ahead = trace.day_windows
    together = -(-ahead // STEPS)
    told = policy.margin * foretell(trace.demand, np.array([window]), ahead)[0]
    firsts = np.arange(0, ahead, together)
    days = np.minimum(window + firsts, len(trace.day) - 1)
    later = (window + firsts >= len(trace.day)).astype(np.int64)
    day = DemandTrace(
        np.maximum.reduceat(told, firsts), trace.capacity, trace.day[days] + later,
        together * trace.window_s, trace.rescale_s, tasks,
    )  # fmt: skip
    recursion = Recursion(day, rescales, 0, policy.price * together)
    # A plan is followed until the next one is made.
    return np.repeat(cheapest(recursion, left, -(-policy.every // together)), together)


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

    Raises OutOfTime if the clock runs out before all thresholds are tried.
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
