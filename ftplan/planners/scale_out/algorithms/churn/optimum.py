"""The cheapest schedule that a trace allows with all demand known: what no autoscaler beats.

:func:`timely_schedule` also knows all demand, but works off what rescales leave over: how near the bound one can come.
A state of the recursion is (overloads left, rescales left today, tasks); arrays have these axes in this order, K + 1,
N + 1 and P long.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ftplan.compiled import compiled, pays_to_compile
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnAccount, ChurnLimits, DemandTrace, account

#: Steps of a state, about, over all prices that are tried.
STEPS = 50.0


class Recursion(NamedTuple):
    """What the recursion looks at: a trace, the most rescales of a day, and the most overloaded windows, K.

    With a price in task-seconds of an overloaded window, these are not counted and K is 0: the Lagrangian relaxation.
    """

    trace: DemandTrace
    rescales: int
    overloads: int
    price: float | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the values of one window."""
        return self.overloads + 1, self.rescales + 1, self.trace.most

    def swept(self, first: int, last: int, tail: FloatArray, choices: Any) -> FloatArray:
        """Return the least values of states before the windows from ``first`` on, (S, K + 1, N + 1, P).

        *tail*: (S, K + 1, N + 1, P) the same of the windows from ``last`` on. *choices*: (last - first, K + 1, N + 1,
        P) is filled with the tasks that are best in each state; not where it is empty.
        """
        trace = self.trace
        steps = STEPS * float(np.prod(self.shape)) * len(trace.demand)
        kernel = _sweep if pays_to_compile(steps) else _sweep.plain
        days = np.append(trace.day, trace.day[-1] if len(trace.day) else 0)
        answer: FloatArray = kernel(
            first, last, tail, choices, trace.overloads, trace.overloads_after, days, trace.window_s, trace.rescale_s,
            self.price or 0.0, self.price is None,
        )  # fmt: skip
        return answer


@compiled
def _sweep(
    first: int, last: int, tail: FloatArray, choices: Any, overloads: Any, overloads_after: Any, days: IntArray,
    window_s: float, rescale_s: float, price: float, counted: bool,
) -> FloatArray:  # fmt: skip
    """Go back over the windows. A kernel takes plain arrays and numbers, therefore so many parameters.

    The best rescale out and in is kept while tasks go down and up: O(1) a state.
    """
    span, limits, rescales, most = tail.shape
    windows = len(overloads)
    ring = np.empty((span + 1, limits, rescales, most))
    for step in range(span):
        ring[(last + step) % (span + 1)] = tail[step]
    landing = np.empty(most)
    out_best = np.empty(most)
    out_to = np.empty(most, dtype=np.int64)
    for window in range(last - 1, first - 1, -1):
        after, landed = min(window + 1, windows), min(window + span, windows)
        paid = (landed - window) * window_s
        stay, jump, now = ring[(window + 1) % (span + 1)], ring[(window + span) % (span + 1)], ring[window % (span + 1)]
        new_day, new_day_then = days[after] != days[window], days[landed] != days[window]
        for k in range(limits):
            for n in range(rescales):
                for p in range(most):
                    landing[p] = np.inf
                    if n > 0:
                        hits = overloads_after[window, p]
                        k_then = k - hits if counted else k
                        if k_then >= 0:
                            n_then = rescales - 1 if new_day_then else n - 1
                            landing[p] = jump[k_then, n_then, p] + (p + 1) * paid
                            if not counted:
                                landing[p] += price * hits
                best, to = np.inf, -1
                for p in range(most - 1, -1, -1):
                    out_best[p], out_to[p] = best, to
                    if landing[p] <= best:
                        best, to = landing[p], p
                best, to = np.inf, -1
                for p in range(most):
                    value, choice = np.inf, -1
                    hit = overloads[window, p]
                    k_then = k - 1 if counted and hit else k
                    if k_then >= 0:
                        value, choice = stay[k_then, rescales - 1 if new_day else n, p] + (p + 1) * window_s, p
                        if hit and not counted:
                            value += price
                    if out_best[p] < value:
                        value, choice = out_best[p], out_to[p]
                    if best + (p + 1) * rescale_s < value:
                        value, choice = best + (p + 1) * rescale_s, to
                    now[k, n, p] = value
                    if len(choices) > 0:
                        choices[window - first, k, n, p] = choice
                    if landing[p] - (p + 1) * rescale_s <= best:
                        best, to = landing[p] - (p + 1) * rescale_s, p
    head = np.empty(tail.shape)
    for step in range(span):
        head[step] = ring[(first + step) % (span + 1)]
    return head


#: What demand is multiplied with, and shares of the overloaded windows that are allowed, for optima to begin with.
HEADROOM, ALLOWED = (1.0, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5), (1.0, 0.6, 0.3)

#: States of one bound, up to which a schedule is looked for: some ten seconds.
MAX_TIMELY_STATES = 1e6

#: States, times windows, up to which overloads are counted: some ten seconds; and bytes that this may take.
MOST_STATES, MOST_BYTES = 2e9, 1e9


def timely_schedule(trace: DemandTrace, limits: ChurnLimits) -> tuple[IntArray, ChurnAccount] | None:
    """Return a cheap schedule that keeps the limits by its late windows; None where none is known, or it takes long.

    The best of the offline optima for a little more demand and fewer overloaded windows: not proven, but all that keep
    the limits so lie above the offline optimum's bound. Cost of some ten Lagrangian bounds.
    """
    best: tuple[IntArray, ChurnAccount] | None = None
    if len(trace.demand) * trace.most * (limits.rescales(trace) + 1) > MAX_TIMELY_STATES:
        return None
    for headroom in HEADROOM:
        more = replace(trace, demand=headroom * trace.demand)
        for allowed in ALLOWED:
            schedule = offline_optimum(more, limits._replace(overloaded=allowed * limits.overloaded), 0.0).schedule
            if schedule is None:
                continue
            entry = account(trace, schedule)
            if entry.keeps(limits, trace, late=True) and (best is None or entry.task_s < best[1].task_s):
                best = schedule, entry
    return best


class OfflineOptimum(NamedTuple):
    """The fewest task-seconds within the limits."""

    #: ``schedule``, ``account``: None where no schedule keeps the limits
    schedule: IntArray | None
    account: ChurnAccount | None
    bound: float  # task-seconds that no schedule within the limits undercuts; inf where there is none
    least_overloaded: int  # windows that are overloaded under any schedule with so many rescales

    @property
    def proven(self) -> bool:
        """Whether the schedule is optimal, or there is none."""
        return self.account is None or self.account.task_s <= self.bound * (1.0 + ROUNDING)


def offline_optimum(trace: DemandTrace, limits: ChurnLimits, most_states: float = MOST_STATES) -> OfflineOptimum:
    """Return the schedule of fewest task-seconds with so many rescales a day and so many windows overloaded.

    What an overloaded window leaves over does not count against the next one: the optimum gives up the dearest windows,
    and is a bound for all schedules that keep the limits by their late windows.

    Dynamic programming over windows, backward, in the state (tasks, rescales left today, overloads left): exact, in
    O(W P N K) for W windows, P tasks, N rescales and K overloads. Before, overloads are priced instead of counted
    (Lagrangian relaxation, [Geoffrion1974]), which leaves O(W P N) for each of a few prices: the edge of the convex
    hull of (overloads, task-seconds) at K. Its value there is a bound; where a schedule reaches it, or where counting
    takes more than ``most_states``, the best of these schedules is returned.
    """
    most, rescales = limits.windows(trace), limits.rescales(trace)
    dear = (len(trace.demand) + 1.0) * trace.most * (trace.window_s + trace.rescale_s) + 1.0
    kept = _accounted(Recursion(trace, rescales, 0, dear))
    least = kept[1].overloaded
    if least > most:
        return OfflineOptimum(None, None, math.inf, least)
    above = _accounted(Recursion(trace, rescales, 0, 0.0))
    if above[1].overloaded <= most:
        return OfflineOptimum(*above, above[1].task_s, least)
    while True:
        (_, low), (_, high) = kept, above
        price = (low.task_s - high.task_s) / (high.overloaded - low.overloaded)
        middle = _accounted(Recursion(trace, rescales, 0, price))
        value = middle[1].task_s + price * middle[1].overloaded
        if value >= (low.task_s + price * low.overloaded) * (1.0 - ROUNDING):
            break
        if middle[1].overloaded <= most:
            kept = middle
        else:
            above = middle
    best = OfflineOptimum(*kept, min(value - price * most, kept[1].task_s), least)
    counted = Recursion(trace, rescales, most)
    states = float(np.prod(counted.shape))
    if best.proven or states * len(trace.demand) > most_states or states * _bytes(trace) > MOST_BYTES:
        return best
    exact = _accounted(counted)
    return OfflineOptimum(*exact, exact[1].task_s, least)


def _accounted(recursion: Recursion) -> tuple[IntArray, ChurnAccount]:
    schedule = cheapest(recursion)
    return schedule, account(recursion.trace, schedule)


def cheapest(recursion: Recursion, left: int | None = None, first_windows: int | None = None) -> IntArray:
    """Return the schedule of least value; *left* rescales are left of the first day (None: all).

    Only its *first_windows* are followed, where these are given; what comes after is 0.

    Values are kept at the beginning of segments only, and each segment is gone over again for its choices: memory is
    O(sqrt(W S)) layers of states for rescales of S windows.
    """
    trace = recursion.trace
    windows, span, length = len(trace.demand), trace.span, _segment(trace)
    firsts = range(0, windows, length)
    tail: FloatArray = np.zeros((span, *recursion.shape))
    tails = {}
    nothing = np.empty((0, *recursion.shape), dtype=np.int16)
    for first in reversed(firsts):
        tails[first] = tail
        if first:
            tail = recursion.swept(first, min(first + length, windows), tail, nothing)
    walk = _ScheduleWalk(recursion, recursion.rescales if left is None else left, first_windows or windows)
    for first in firsts:
        if first >= walk.until:
            break
        choices = np.empty((min(length, windows - first), *recursion.shape), dtype=np.int16)
        recursion.swept(first, first + len(choices), tails.pop(first), choices)
        walk.on(first, choices)
    return walk.schedule


def _segment(trace: DemandTrace) -> int:
    """Return the windows of a segment: as many layers of choices as of values at the beginnings of segments."""
    return max(trace.span, math.isqrt(8 * len(trace.demand) * trace.span))


def _bytes(trace: DemandTrace) -> float:
    """Return the memory that each state takes: 2 bytes for each choice, 8 for each value."""
    segments = len(trace.demand) / _segment(trace)
    return 2.0 * _segment(trace) + 8.0 * trace.span * (segments + 3.0)


class _ScheduleWalk:
    """Follows the choices from the first window on."""

    def __init__(self, recursion: Recursion, left: int, until: int) -> None:
        self.recursion, self.until = recursion, until
        self.schedule = np.zeros(len(recursion.trace.demand), dtype=np.int64)
        self.at, self.tasks = 0, recursion.trace.start - 1
        self.overloads, self.rescales = recursion.overloads, left

    def on(self, first: int, choices: Any) -> None:
        """Go on through a segment whose choices begin at a window."""
        trace, counted = self.recursion.trace, self.recursion.price is None
        while self.at < min(first + len(choices), self.until):
            window = self.at
            chosen = int(choices[window - first, self.overloads, self.rescales, self.tasks])
            if chosen < 0:
                raise ValueError("no schedule keeps the limits")
            changes = chosen != self.tasks
            self.at = min(window + (trace.span if changes else 1), len(self.schedule))
            self.schedule[window : self.at] = chosen + 1
            hits = trace.overloads_after if changes else trace.overloads
            self.overloads -= int(hits[window, chosen]) if counted else 0
            self.rescales -= changes
            if self.at < len(trace.day) and trace.day[self.at] != trace.day[window]:
                self.rescales = self.recursion.rescales
            self.tasks = chosen
