"""Estimate by samples of nodes and zones together how likely it is that some copyset is down.

For rings over so many zones that their states cannot be gone through. Shapes: S copysets, C copies, N nodes, Z zones.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.survival.copysets import probability_of
from ftplan.planners.peer_ring.survival.loss import Estimate
from ftplan.planners.peer_ring.survival.sampled_loss import batch, hits, interval

#: Samples at most and at least, and how many looks and numbers drawn they may take in all.
MOST, FEWEST, LOOKS, DRAWN = 20_000, 500, 2e9, 4e7


def harris(problem: RingProblem, rows: IntArray) -> float:
    """Return an upper bound: ``1 - Π (1 - P(set))``, as failures are positively correlated ([Harris1960])."""
    each = probability_of(problem, rows)
    return float(abs(np.expm1(np.log1p(-np.minimum(each, 1.0 - 1e-16)).sum())))


def sampled_with_zones(problem: RingProblem, rows: IntArray, seed: int) -> Estimate | None:
    """Return the probability that all nodes of some row, (S, C), are down; None where samples take too long.

    The method of ``ring_sampled_loss``, with zones that fail by chance too: once a set is drawn, each of its zones has
    failed with the probability that it has given that all of the set is down.
    """
    each = probability_of(problem, rows)
    total = float(each.sum())
    samples = int(min(MOST, LOOKS / rows.size, DRAWN / len(problem.nodes)))
    if samples < FEWEST:
        return None
    if total <= 0.0:
        return Estimate(0.0, 0.0, 0.0)
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
