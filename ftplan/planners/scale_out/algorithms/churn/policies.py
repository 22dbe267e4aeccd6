"""Policies that rescale by what they have seen, replayed over a trace: no window's demand is known before its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from ftplan.compiled import compiled, pays_to_compile
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnLimits, DemandTrace

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

    Attributes
    ----------
    horizon
        Windows foretold: the peak of these, or the last window's demand if that is more, is the demand that counts; 0
        for the last window's alone.
    """

    scale_out: float
    target: float
    scale_in: float
    hold: int
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
    expected: FloatArray,
    capacity: FloatArray,
    day: IntArray,
    span: int,
    start: int,
    rescales: int,
    policy: tuple[float, float, float, int, int, int],
) -> IntArray:
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
