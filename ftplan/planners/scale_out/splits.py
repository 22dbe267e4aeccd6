"""Contiguous ranges of key groups whose largest use is least, with a limit of the state of each: exact.

A range fits where its sums, as differences of running sums, (K + 1,), do not exceed the limits. Shapes: K key groups.
The kernels are compiled where there are many of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.compiled import Kernel, compiled, pays_to_compile
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray

#: Covers that a bisection tries, about; and calls that are too small to pay for compiling, after which they do.
TRIED_COVERS, SMALL_CALLS = 20, 5


@compiled
def reach(sums: Any, start: Any, limit: Any) -> Any:
    """Return the last end of a range from *start* on whose sum is within a limit; *start* where there is none."""
    low, high = start, len(sums) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if sums[middle] - sums[start] <= limit:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def cover(first: Any, limit: Any, second: Any, other: Any, parts: Any) -> Any:
    """Cover all key groups from the left by ranges that are as long as both limits let them be.

    Returns how many ranges that takes, parts + 1 where *parts* do not do; the largest first sum of these, and the least
    first limit above the present one at which any of them would be longer, inf where none would.
    """
    groups = len(first) - 1
    start, used, largest, higher = 0, 0, 0.0, float("inf")
    while start < groups:
        if used == parts:
            return parts + 1, largest, higher
        by_first, by_second = reach(first, start, limit), reach(second, start, other)
        end = min(by_first, by_second)
        if by_first < by_second:
            higher = min(higher, first[by_first + 1] - first[start])
        if end == start:
            return parts + 1, largest, higher
        largest = max(largest, first[end] - first[start])
        start = end
        used += 1
    return used, largest, higher


@compiled
def least_largest(first: Any, second: Any, other: Any, parts: Any, low: Any, high: Any) -> Any:
    """Return the least limit of first sums with which *parts* ranges do, between *low* and *high*; inf where none does.

    Bisection whose limits step to sums that ranges really have, so that it ends with the exact value [Pinar2004].
    """
    used, largest, _ = cover(first, high, second, other, parts)
    if used > parts:
        return float("inf")
    high = largest
    middle = low
    while low < high:
        used, largest, higher = cover(first, middle, second, other, parts)
        if used <= parts:
            high = largest
        else:
            low = higher
        middle = low + (high - low) / 2
        if not middle < high:
            middle = low
    return high


@compiled
def cuts(first: Any, limit: Any, second: Any, other: Any, parts: Any, ends: Any) -> Any:
    """Put the ends of *parts* ranges within both limits into *ends*, (parts + 1,), first sums as even as can be.

    There has to be such a cover; no range is empty, with at least as many key groups as ranges.
    """
    groups = len(first) - 1
    ends[parts] = groups
    for part in range(parts - 1, 0, -1):  # the earliest ends with which the ranges after them do
        low, high = part, ends[part + 1] - 1
        while low < high:
            middle = (low + high) // 2
            after = ends[part + 1]
            if first[after] - first[middle] <= limit and second[after] - second[middle] <= other:
                high = middle
            else:
                low = middle + 1
        ends[part] = low
    ends[0] = 0
    total = first[groups]
    for part in range(1, parts):
        start = ends[part - 1]
        last = min(reach(first, start, limit), reach(second, start, other), groups - (parts - part))
        earliest = max(ends[part], start + 1)
        even = first[start] + (total - first[start]) / (parts - part + 1)  # what is left, divided evenly
        if total > 0.0:
            end = reach(first, start, even - first[start])
            if end < last and first[end + 1] - even < even - first[end]:
                end += 1
        else:
            end = groups * part // parts
        ends[part] = min(max(end, earliest), last)
    return ends


class Splitting:
    """The key groups of one operator, to be divided into ranges.

    Parameters
    ----------
    use, state
        (K,) of each key group, not negative.
    most_state
        That a range may have, inf for no limit.
    """

    def __init__(self, use: FloatArray, state: FloatArray, most_state: float) -> None:
        self.use, self.state = _sums(use), _sums(state)
        self.groups = len(use)
        self._steps = 0.0
        self.most_state = most_state * (1.0 + ROUNDING)
        self.heaviest = float(np.diff(self.use).max(initial=0.0))
        self.largest_state = float(np.diff(self.state).max(initial=0.0))

    def fewest(self, most_use: float, most: int, slack: float = ROUNDING) -> int | None:
        """Return the fewest ranges, at most so many, none of which has more use by *slack*; None where there are none.

        Cost O(ranges x log K).
        """
        kernel = self._kernel(cover, most)
        ranges, _, _ = kernel(self.use, most_use * (1.0 + slack), self.state, self.most_state, most)
        return int(ranges) if ranges <= most else None

    def least(self, ranges: int, most_use: float = np.inf) -> float:
        """Return the least largest use of so many ranges; inf where state does not fit, or *most_use* does not do.

        Cost O(ranges x log K) for each of some tens of steps.
        """
        low = max(self.heaviest, self.use[-1] / ranges * (1.0 - ROUNDING))
        kernel = self._kernel(least_largest, ranges * TRIED_COVERS)
        return float(kernel(self.use, self.state, self.most_state, ranges, low, most_use))

    def even(self, ranges: int) -> tuple[float, float]:
        """Return the largest use and the largest state of ranges of even number, as engines make them."""
        ends = -(-np.arange(ranges + 1) * self.groups // ranges)
        return float(np.diff(self.use[ends]).max()), float(np.diff(self.state[ends]).max())

    def balanced(self, ranges: int) -> tuple[tuple[int, int], ...]:
        """Return the first and last key group of each range: the largest use is least, then the largest state.

        What these leave open goes to ranges of even use.

        Raises
        ------
        ValueError
            If state does not fit into so many ranges, or there are fewer key groups.
        """
        use = self.least(ranges)
        if ranges > self.groups or not np.isfinite(use):
            raise ValueError(f"{self.groups} key groups do not fit into {ranges} ranges")
        low = max(self.largest_state, self.state[-1] / ranges * (1.0 - ROUNDING))
        kernel = self._kernel(least_largest, ranges * TRIED_COVERS)
        state = kernel(self.state, self.use, use, ranges, low, self.most_state)
        ends: IntArray = np.zeros(ranges + 1, dtype=np.int64)
        self._kernel(cuts, 3 * ranges)(self.use, use, self.state, state, ranges, ends)
        return tuple((a, b - 1) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))

    def _kernel(self, kernel: Kernel, ranges: int) -> Any:
        steps = ranges * float(np.log2(self.groups + 1))
        self._steps += steps
        return kernel if pays_to_compile(max(steps, self._steps / SMALL_CALLS)) else kernel.plain


def _sums(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])
