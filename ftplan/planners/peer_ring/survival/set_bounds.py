"""A probability of loss with its bounds, and bounds of the probability that all nodes of some set are down.

The latter are for many sets of few independent nodes. Shapes: S sets, C nodes in each at most, N nodes.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray

#: Bounds that are as close, relative to the upper one, need no samples; nor do those below the second number.
CLOSE_ENOUGH, NEGLIGIBLE = 0.02, 1e-290


class LossEstimate(NamedTuple):
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
        return self.high - self.low <= max(CLOSE_ENOUGH * self.high, NEGLIGIBLE)

    def narrowed(self, found: LossEstimate) -> Loss:
        """Return the loss with an estimate by samples, between what is proven."""
        low = min(max(self.low, found.low), self.high)
        high = max(min(self.high, found.high), low)
        return Loss(min(max(found.value, low), high), low, high, "sampled")


#: Most parts of sets that are summed for the lower bound, over all sets.
MOST_PARTS = 4e6
#: Sets that are down with less than this count for the upper bound only: products of such numbers are none.
LEAST_PROBABILITY = 1e-300


def reduced(rows: IntArray, down: FloatArray) -> IntArray:
    """Return the sets, (S, C), that still can be down: without those with a node that never is, and duplicates.

    Nodes that are down for certain are taken out, with -1 in their place; a row of -1 only is down. Sets that hold
    another one of a single node are left out. Rows are in order, so that equal questions have equal answers.
    """
    p = down[rows]
    left = np.unique(np.sort(np.where(p >= 1.0, -1, rows), axis=1)[(p > 0.0).all(axis=1)], axis=0)
    many = (left >= 0).sum(axis=1)
    single = np.zeros(len(down) + 1, dtype=np.bool_)
    single[left[many == 1, -1]] = True
    return np.asarray(left[(many <= 1) | ~single[left].any(axis=1)])


def alone(rows: IntArray, down: FloatArray) -> FloatArray:
    """Return the probability that each set, as of :func:`reduced`, is down, (S,)."""
    return np.asarray(np.where(rows >= 0, down[rows], 1.0).prod(axis=1))


def union_bounds(rows: IntArray, down: FloatArray) -> tuple[float, float]:
    """Return proven bounds of the probability that some set, as of :func:`reduced`, is down.

    From above ``1 - Π (1 - P(set))``, since failures are positively correlated ([Harris1960]); from below the bound of
    [Dawson1967] by the sums over sets and over pairs of sets. Both are close where the probability is small.
    """
    each = alone(rows, down)
    rare = each < LEAST_PROBABILITY
    below = float(rare.sum()) * LEAST_PROBABILITY
    rows, each = rows[~rare], each[~rare]
    if not each.size:
        return 0.0, below
    largest = float(each.max())
    if largest >= 1.0:
        return 1.0, 1.0
    high = min(float(abs(np.expm1(np.log1p(-each).sum()))), float(each.sum())) + below
    pairs = _pairs(rows, each, down)
    if pairs is None:
        return largest, max(high, largest)
    total = float(each.sum())
    k = 1 + int(2.0 * pairs / total)
    low = 2.0 / (k + 1) * total - 2.0 / (k * (k + 1)) * pairs
    return min(max(low, largest), high), max(high, largest)


def _pairs(rows: IntArray, each: FloatArray, down: FloatArray) -> float | None:
    """Return the sum over all pairs of sets of the probability that both are down; None where it takes too long.

    No set is rarer than :data:`LEAST_PROBABILITY`. Two sets with the nodes T in common are both down with
    P(a) P(b) / Π_T p, and Π_T (1/p) is the sum over all parts of T of Π (1/p - 1). So each part t of a set counts
    Π_t (1/p - 1) for each pair of the sets that hold it.
    """
    columns = rows.shape[1]
    if columns > 60 or len(rows) * 2.0**columns > MOST_PARTS or float(len(down)) ** columns >= 2.0**62:
        return None
    total = max(float(each.sum()) ** 2 - float((each**2).sum()), 0.0)
    for size in range(1, columns + 1):
        keys, weights, factors = [], [], []
        for chosen in combinations(range(columns), size):
            part = rows[:, chosen]
            whole = (part >= 0).all(axis=1)
            part = part[whole]
            keys.append((part * len(down) ** np.arange(size)).sum(axis=1))
            weights.append(each[whole])
            factors.append((1.0 / down[part] - 1.0).prod(axis=1))
        key, first, which, many = np.unique(
            np.concatenate(keys), return_index=True, return_inverse=True, return_counts=True
        )
        weight = np.concatenate(weights) * np.sqrt(np.concatenate(factors)[first][which])
        sums = np.bincount(which, weight, minlength=len(key)) ** 2
        squares = np.bincount(which, weight**2, minlength=len(key))
        total += float(np.maximum(np.where(many > 1, sums - squares, 0.0), 0.0).sum())
    return total / 2.0
