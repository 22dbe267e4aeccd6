"""A policy that plans ahead: the cheapest schedule for the day that is foretold, made anew as the day goes on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.scale_out.churn.optimum import cheapest
from ftplan.planners.scale_out.churn.policies import Foretell, Replay, ThresholdPolicy
from ftplan.planners.scale_out.churn.schedule_sweep import Recursion
from ftplan.planners.scale_out.churn.trace import ChurnLimits, DemandTrace, exceeds

#: What is tried: the share of what is foretold that is planned for, and the price of an overloaded window, in windows
#: of all the tasks that suffice for the mean demand.
MARGIN, PRICE = (1.0, 1.05, 1.2, 1.4), (2.0, 6.0)
#: How often plans are made anew.
EVERY_S = 3600.0


class PlannedPolicy(NamedTuple):
    """Receding horizon: tasks are those of the last plan, which covers the day that follows.

    A plan is the optimum of the demand foretold times ``margin``, with ``price`` task-seconds for an overloaded window,
    and with the rescales that the day has left. It is made anew after ``every`` windows, and after an overloaded one.
    On the first day, from which no day can be foretold, ``first_day`` stands in.
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
    return float(plans * trace.day_windows * trace.most * (limits.rescales(trace) + 1))


def planned_schedule(trace: DemandTrace, limits: ChurnLimits, policy: PlannedPolicy, foretell: Foretell) -> IntArray:
    """Return the parallelism of each window, (W,). Cost O(H P N) a plan, for a day of H windows."""
    windows, ahead, rescales = len(trace.demand), trace.day_windows, limits.rescales(trace)
    schedule = np.empty(windows, dtype=np.int64)
    known = min(ahead, windows)
    schedule[:known] = Replay(trace.part(0, known), limits, foretell).schedule(policy.first_day)
    tasks, made, plan = int(schedule[known - 1]), -windows, np.zeros(0, dtype=np.int64)
    begun = np.flatnonzero(np.diff(schedule[:known], prepend=trace.start))
    free_from = int(begun[-1]) + trace.span if len(begun) else 0
    left = rescales - int((trace.day[begun] == trace.day[known - 1]).sum())
    days = np.concatenate([trace.day, trace.day[-1] + 1 + np.arange(ahead) // ahead])
    for window in range(known, windows):
        if trace.day[window] != trace.day[window - 1]:
            left = rescales
        if window >= free_from:
            overloaded = bool(exceeds(trace.demand[window - 1], trace.capacity[tasks - 1]))
            if window - made >= min(policy.every, ahead) or overloaded:
                told = policy.margin * foretell(trace.demand, np.array([window]), ahead)[0]
                day = DemandTrace(
                    told, trace.capacity, days[window : window + ahead], trace.window_s, trace.rescale_s, tasks
                )
                plan = cheapest(Recursion(day, rescales, 0, policy.price), left)
                made = window
            asked = int(plan[window - made])
            if asked != tasks and left > 0:
                tasks, left, free_from = asked, left - 1, window + trace.span
        schedule[window] = tasks
    return schedule
