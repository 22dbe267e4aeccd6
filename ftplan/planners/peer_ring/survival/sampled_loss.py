"""Estimate by samples how likely it is that all nodes of some set are down, with an interval, however rare it is.

[Karp1989]: draw one set by its probability, then the other nodes given that it is down, and count how often no earlier
set is down too. That share times the sum of the probabilities is the probability of the union. Where that sum is above
1 it is likely enough that some set is down, and nodes are drawn as they fail. Zones fail by chance too: once a set is
drawn, each of its zones has failed with the probability that it has given that all of the set is down.

Shapes: S sets (copysets), C nodes in each at most, N nodes, Z zones.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.survival.copysets import probability_of
from ftplan.planners.peer_ring.survival.set_bounds import LossEstimate

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
