"""The recursion of :mod:`optimum`, compiled where it pays.

A state is (overloads left, rescales left today, tasks); arrays have these axes in this order, K + 1, N + 1 and P long.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ftplan.compiled import compiled, pays_to_compile
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out.algorithms.churn.trace import DemandTrace

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

        Parameters
        ----------
        tail
            (S, K + 1, N + 1, P) the same of the windows from ``last`` on.
        choices
            (last - first, K + 1, N + 1, P) is filled with the tasks that are best in each state; not where it is empty.
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
    first: int,
    last: int,
    tail: FloatArray,
    choices: Any,
    overloads: Any,
    overloads_after: Any,
    days: IntArray,
    window_s: float,
    rescale_s: float,
    price: float,
    counted: bool,
) -> FloatArray:
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
