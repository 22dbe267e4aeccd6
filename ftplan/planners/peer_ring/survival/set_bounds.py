"""A probability of loss with its bounds: what is proven of many sets of few nodes, and estimates by samples.

[Karp1989]: draw one set by its probability, then the other nodes given that it is down, and count how often no earlier
set is down too. That share times the sum of the probabilities is the probability of the union, however rare it is.
Where that sum is above 1 it is likely enough that some set is down, and nodes are drawn as they fail. Zones fail by
chance too: once a set is drawn, each of its zones has failed with the probability that it has given that all of the set
is down.

Shapes: S sets (copysets), C nodes in each at most, N nodes, Z zones.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.survival.copysets import probability_of

#: Samples at most and at least, and how many looks and numbers drawn they may take in all.
MOST_SAMPLES, FEWEST_SAMPLES, MOST_SET_CHECKS, MOST_DRAWN = 60_000, 500, 2e9, 4e7
#: How sure the interval is, and most numbers that are drawn, and bytes that are looked at, at once.
CONFIDENCE, MOST_DRAWN_AT_ONCE, MOST_BYTES_AT_ONCE = 0.99, 4e6, 2e7


def harris(problem: RingProblem, rows: IntArray) -> float:
    """Return an upper bound: ``1 - Π (1 - P(set))``, as failures are positively correlated ([Harris1960])."""
    each = probability_of(problem, rows)
    return float(abs(np.expm1(np.log1p(-np.minimum(each, 1.0 - 1e-16)).sum())))


def sampled_loss(problem: RingProblem, rows: IntArray, seed: int) -> LossEstimate | None:
    """Return the probability that all nodes of some row, (S, C), are down; None where samples take too long."""
    each = probability_of(problem, rows)
    total = float(each.sum())
    samples = int(min(MOST_SAMPLES, MOST_SET_CHECKS / rows.size, MOST_DRAWN / len(problem.nodes)))
    if samples < FEWEST_SAMPLES:
        return None
    if total <= 0.0:
        return LossEstimate(0.0, 0.0, 0.0)
    plain = total > 1.0
    random = np.random.default_rng(seed)
    cumulative, given = np.cumsum(each), _zone_given(problem, rows)
    counted, size = 0, batch(len(rows), len(problem.nodes))
    for begin in range(0, samples, size):
        count = min(size, samples - begin)
        chosen = None
        if not plain:
            drawn = np.searchsorted(cumulative, random.random(count) * cumulative[-1], side="right")
            chosen = drawn.clip(max=len(each) - 1)
        counted += hits(_dead(problem, rows, given, chosen, count, random), rows, chosen)
    return interval(1.0 if plain else total, counted, samples)


def _zone_given(problem: RingProblem, rows: IntArray) -> FloatArray:
    """Return how likely the zone of each node of a set has failed if all of the set is down, (S, C)."""
    zone, p = problem.zone[rows], problem.down[rows]
    own = np.ones(rows.shape)  # that all members of the zone are down of themselves
    for k in range(rows.shape[1]):
        own *= np.where(zone == zone[:, k : k + 1], p[:, k : k + 1], 1.0)
    q = problem.zone_down[zone]
    whole = q + (1.0 - q) * own
    return np.asarray(np.divide(q, whole, out=np.zeros_like(whole), where=whole > 0.0))


def _dead(
    problem: RingProblem,
    rows: IntArray,
    given: FloatArray,
    chosen: IntArray | None,
    count: int,
    random: np.random.Generator,
) -> BoolArray:
    """Return which nodes are down in *count* samples, (count, N), all of the chosen set among them."""
    drawn = random.random((count, len(problem.zones)))
    failed = drawn < problem.zone_down
    dead = random.random((count, len(problem.nodes))) < problem.down
    if chosen is not None:
        at, nodes = np.arange(count)[:, None], rows[chosen]
        zones = problem.zone[nodes]
        failed[at, zones] = drawn[at, zones] < given[chosen]
        dead[at, nodes] = True
    return np.asarray(dead | failed[:, problem.zone])


def batch(sets: int, nodes: int) -> int:
    """Return how many samples are looked at together."""
    return max(1, int(min(MOST_DRAWN_AT_ONCE / max(nodes, 1), 8.0 * MOST_BYTES_AT_ONCE / max(sets, 1))))


def hits(dead: BoolArray, rows: IntArray, chosen: IntArray | None) -> int:
    """Return in how many samples some set is down; or, where one was *chosen*, in how many it is the first that is.

    *dead* tells of nodes in samples, (samples, N). Eight samples are looked at as one byte.
    """
    packed = np.packbits(dead.T, axis=1)
    down = packed[rows[:, 0]]
    for column in rows.T[1:]:
        down &= packed[column]
    if chosen is None:
        return int(np.unpackbits(np.bitwise_or.reduce(down, axis=0))[: len(dead)].sum())
    np.bitwise_or.accumulate(down, axis=0, out=down)
    sample = np.arange(len(dead))
    earlier = down[chosen - 1, sample >> 3] >> (7 - (sample & 7)).astype(np.uint8) & 1
    return int(((chosen == 0) | (earlier == 0)).sum())


def interval(total: float, successes: int, samples: int) -> LossEstimate:
    """Return the share of samples that succeed, times *total*, between bounds that hold with :data:`CONFIDENCE`.

    The interval is that of [Clopper1934], which never promises too much.
    """
    from scipy.special import betaincinv

    tail = (1.0 - CONFIDENCE) / 2.0
    low = float(betaincinv(successes, samples - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, samples - successes, 1.0 - tail)) if successes < samples else 1.0
    return LossEstimate(total * (successes / samples), total * low, total * high)


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
