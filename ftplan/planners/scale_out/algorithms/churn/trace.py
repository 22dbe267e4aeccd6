"""A demand over time, and what a schedule of parallelism costs on it: one account for optimum and policies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class DemandTrace:
    """Demand of an operator (or job) in W windows of equal length, and what p = 1..P tasks take.

    Nothing is processed for ``rescale_s`` from the beginning of the window in which a rescale begins, while old and new
    tasks are paid for; the next one begins when that is over. A window is overloaded when its demand exceeds what the
    tasks take in the rest of it; it is late when this and what was left over before it exceed that. An overloaded
    window is late.
    """

    demand: FloatArray  # (W,) in any unit of rate, such as records per second, or the tasks that it keeps busy
    #: (P,) of p + 1 tasks, in the same unit; not always increasing, since key groups divide unevenly
    capacity: FloatArray
    day: IntArray  # (W,) the day that a rescale in this window counts on, never decreasing
    window_s: float
    rescale_s: float
    start: int  # tasks before the first window, 1..P

    @property
    def most(self) -> int:
        """P, the largest parallelism."""
        return len(self.capacity)

    @cached_property
    def available(self) -> FloatArray:
        """(S,) the share of each window in which tasks work, from the one in which a rescale begins to its last.

        A rescale longer than the trace lasts as long as that.
        """
        span = max(1, min(int(np.ceil(self.rescale_s / self.window_s - 1e-9)), len(self.demand)))
        down = self.rescale_s - self.window_s * np.arange(span)
        share: FloatArray = 1.0 - np.clip(down / self.window_s, 0.0, 1.0)
        return share

    @cached_property
    def span(self) -> int:
        """S, the windows of a rescale, at least 1."""
        return len(self.available)

    @cached_property
    def day_windows(self) -> int:
        """Windows of the longest day."""
        return int(np.bincount(self.day - self.day[0]).max())

    @cached_property
    def overloads(self) -> BoolArray:
        """(W, P) whether so many tasks are overloaded in a window without a rescale."""
        return exceeds(self.demand[:, None], self.capacity)

    @cached_property
    def overloads_after(self) -> IntArray:
        """(W, P) how many windows of a rescale to so many tasks are overloaded, by the window in which it begins."""
        count = np.zeros((len(self.demand), self.most), dtype=np.int64)
        for step, share in enumerate(self.available.tolist()):
            count[: len(count) - step] += exceeds(self.demand[step:, None], self.capacity * share)
        return count

    def part(self, first: int, last: int, start: int | None = None) -> DemandTrace:
        """Return the windows from ``first`` up to, but without, ``last``."""
        kept = slice(first, last)
        tasks = self.start if start is None else start
        return DemandTrace(self.demand[kept], self.capacity, self.day[kept], self.window_s, self.rescale_s, tasks)


class ChurnLimits(NamedTuple):
    """Most rescales that begin on one day, and the share of windows that may be overloaded."""

    rescales_per_day: int
    overloaded: float

    def rescales(self, trace: DemandTrace) -> int:
        """Return how many rescales a day of a trace may, and can, have."""
        return min(self.rescales_per_day, -(-trace.day_windows // trace.span))

    def windows(self, trace: DemandTrace) -> int:
        """Return how many windows of a trace may be overloaded."""
        return int(np.floor(self.overloaded * len(trace.demand) + 1e-9))


class ChurnAccount(NamedTuple):
    """What a schedule costs."""

    task_s: float  # task-seconds: those of the tasks of each window, and of tasks that go while a rescale is under way
    overloaded: int  # windows whose demand exceeds what the tasks take
    #: ``rescales``, ``rescales_per_day``: in all, and on the day with most
    rescales: int
    rescales_per_day: int
    late: int  # windows that end with work left over

    def keeps(self, limits: ChurnLimits, trace: DemandTrace, late: bool = False) -> bool:
        """Return whether both limits are kept on a trace, the second by all late windows if so asked."""
        windows = self.late if late else self.overloaded
        return self.rescales_per_day <= limits.rescales_per_day and windows <= limits.windows(trace)


def exceeds(demand: FloatArray, capacity: FloatArray) -> BoolArray:
    """Return where a demand is more than tasks take, by more than rounding."""
    above: BoolArray = demand > capacity * (1.0 + 1e-9)
    return above


def account(trace: DemandTrace, schedule: IntArray) -> ChurnAccount:
    """Return what a schedule costs, (W,) the parallelism of each window; a change is a rescale.

    Raises ValueError where a rescale begins before the last one is over. Cost O(W).
    """
    before = np.concatenate([[trace.start], schedule[:-1]])
    begun = np.flatnonzero(schedule != before)
    if (np.diff(begun) < trace.span).any():
        raise ValueError("a rescale begins before the last one is over")
    share = np.ones(len(schedule))
    for step, part in enumerate(trace.available.tolist()):
        within = begun[begun + step < len(share)] + step
        share[within] = part
    double = np.maximum(before[begun] - schedule[begun], 0).sum()
    takes = trace.capacity[schedule - 1] * share
    excess = np.cumsum(trace.demand - takes)
    left_over = excess - np.minimum(np.minimum.accumulate(excess), 0.0)
    overloaded = exceeds(trace.demand, takes)
    by_day = np.unique(trace.day[begun], return_counts=True)[1]
    return ChurnAccount(
        task_s=float(schedule.sum() * trace.window_s + double * trace.rescale_s),
        overloaded=int(overloaded.sum()),
        rescales=len(begun),
        rescales_per_day=int(by_day.max()) if len(by_day) else 0,
        late=int((overloaded | (left_over > 1e-9 * trace.demand.max(initial=0.0))).sum()),
    )
