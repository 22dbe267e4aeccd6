"""Estimate by samples how likely it is that all nodes of some set are down, with an interval, however rare it is.

[Karp1989]: draw one set by its probability, then the other nodes given that it is down, and count how often no earlier
set is down too. That share times the sum of the probabilities is the probability of the union. Where that sum is above
1 it is likely enough that some set is down, and nodes are drawn as they fail.

Shapes: S sets, C nodes in each at most, N nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.metrics.ring_loss import Estimate
from ftplan.metrics.ring_set_bounds import alone
from ftplan.model.topology import BoolArray, FloatArray, IntArray

#: Samples, how sure the interval is, and most numbers that are looked at at once.
SAMPLES, CONFIDENCE, AT_ONCE = 4_000, 0.99, 4e6


class Stratum(NamedTuple):
    """A state of the zones: its probability, sets as of ``ring_set_bounds.reduced``, (S, C), and (N,) probabilities."""

    weight: float
    rows: IntArray
    down: FloatArray


def sampled_loss(strata: Sequence[Stratum], seed: int) -> Estimate:
    """Return the probability that some set is down, over states of which one is the case. Cost O(samples S C)."""
    chances = [stratum.weight * alone(stratum.rows, stratum.down) for stratum in strata]
    weights, sums = np.array([s.weight for s in strata]), np.array([float(each.sum()) for each in chances])
    if float(sums.sum()) <= 0.0:
        return Estimate(0.0, 0.0, 0.0)
    plain = float(sums.sum()) > float(weights.sum())
    each_sum = weights if plain else sums
    total = float(each_sum.sum())
    random = np.random.default_rng(seed)
    drawn = np.bincount(random.choice(len(strata), SAMPLES, p=each_sum / total), minlength=len(strata))
    counted = 0
    for stratum, each, count in zip(strata, chances, drawn.tolist(), strict=True):
        size = max(1, int(AT_ONCE / max(len(each), len(stratum.down))))
        for begin in range(0, count, size):
            many = min(size, count - begin)
            chosen = None if plain else _chosen(each, many, random)
            down = _down(stratum, chosen, many, random)
            counted += int((down.any(axis=1) if chosen is None else down.argmax(axis=1) == chosen).sum())
    return interval(total, counted, SAMPLES)


def _chosen(each: FloatArray, count: int, random: np.random.Generator) -> IntArray:
    """Return *count* sets, drawn by their probabilities."""
    cumulative = np.cumsum(each)
    drawn = np.searchsorted(cumulative, random.random(count) * cumulative[-1], side="right")
    return np.asarray(drawn.clip(max=len(each) - 1))


def _down(stratum: Stratum, chosen: IntArray | None, count: int, random: np.random.Generator) -> BoolArray:
    """Return which sets are down in *count* samples, (count, S), where one is chosen given that it is down."""
    nodes = len(stratum.down)
    dead = np.ones((count, nodes + 1), dtype=np.bool_)  # the last column is for -1
    dead[:, :nodes] = random.random((count, nodes)) < stratum.down
    if chosen is not None:
        dead[np.arange(count)[:, None], stratum.rows[chosen]] = True
    down = np.ones((count, len(stratum.rows)), dtype=np.bool_)
    for column in stratum.rows.T:
        down &= dead[:, column]
    return down


def interval(total: float, successes: int, samples: int) -> Estimate:
    """Return the share of samples that succeed, times *total*, between bounds that hold with :data:`CONFIDENCE`.

    The interval is that of [Clopper1934], which never promises too much.
    """
    from scipy.special import betaincinv

    tail = (1.0 - CONFIDENCE) / 2.0
    low = float(betaincinv(successes, samples - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, samples - successes, 1.0 - tail)) if successes < samples else 1.0
    return Estimate(total * (successes / samples), total * low, total * high)
