"""A probability of loss with its bounds, and how an estimate narrows them."""

from __future__ import annotations

from typing import NamedTuple

#: Bounds that are as close, relative to the upper one, need no samples; nor do those below the second number.
CLOSE, NOTHING = 0.02, 1e-290


class Estimate(NamedTuple):
    """An estimate from samples, with the bounds of its interval."""

    value: float
    low: float
    high: float


class Loss(NamedTuple):
    """A probability and its bounds: equal (``exact``), proven (``bounded``), or those of samples (``sampled``)."""

    value: float
    low: float
    high: float
    method: str

    @classmethod
    def between(cls, low: float, high: float) -> Loss:
        """Return what is known by proven bounds: the value is the upper one."""
        high = min(high, 1.0)
        low = min(low, high)
        return cls(high, low, high, "exact" if low == high else "bounded")

    @property
    def close(self) -> bool:
        """Whether the bounds are as close as samples would make them, about."""
        return self.high - self.low <= max(CLOSE * self.high, NOTHING)

    def narrowed(self, found: Estimate, beside: float = 0.0, left: float = 0.0) -> Loss:
        """Return the loss with an estimate of a part of it, *beside* what is known, and at most *left* besides."""
        low = min(max(self.low, beside + found.low), self.high)
        high = max(min(self.high, beside + found.high + left), low)
        return Loss(min(max(beside + found.value, low), high), low, high, "sampled")
