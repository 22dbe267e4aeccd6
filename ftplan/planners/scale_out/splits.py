"""Contiguous ranges of key groups whose largest use is least, with a limit of the state of each: exact.

A range fits where its sums, as differences of running sums, do not exceed the limits. Shapes: K key groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.compiled import pays_to_compile
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.scale_out import split_kernel

#: Covers that a bisection tries, about; and calls that are too small to pay for compiling, after which they do.
TRIED, OFTEN = 20, 5


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
        kernel = self._kernel("cover", most)
        ranges, _, _ = kernel(self.use, most_use * (1.0 + slack), self.state, self.most_state, most)
        return int(ranges) if ranges <= most else None

    def least(self, ranges: int, most_use: float = np.inf) -> float:
        """Return the least largest use of so many ranges; inf where state does not fit, or *most_use* does not do.

        Cost O(ranges x log K) for each of some tens of steps.
        """
        low = max(self.heaviest, self.use[-1] / ranges * (1.0 - ROUNDING))
        kernel = self._kernel("least_largest", ranges * TRIED)
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
        kernel = self._kernel("least_largest", ranges * TRIED)
        state = kernel(self.state, self.use, use, ranges, low, self.most_state)
        ends: IntArray = np.zeros(ranges + 1, dtype=np.int64)
        self._kernel("cuts", 3 * ranges)(self.use, use, self.state, state, ranges, ends)
        return tuple((a, b - 1) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))

    def _kernel(self, name: str, ranges: int) -> Any:
        kernel, steps = getattr(split_kernel, name), ranges * float(np.log2(self.groups + 1))
        self._steps += steps
        return kernel if pays_to_compile(max(steps, self._steps / OFTEN)) else kernel.plain


def _sums(values: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(values)])
