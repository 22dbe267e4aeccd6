"""A policy that plans ahead: the cheapest schedule for the day that is foretold, made anew as the day goes on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.scale_out.algorithms.churn.optimum import cheapest
from ftplan.planners.scale_out.algorithms.churn.policies import Foretell, PolicyReplay, ThresholdPolicy
from ftplan.planners.scale_out.algorithms.churn.schedule_sweep import Recursion
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnLimits, DemandTrace

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
