"""Which node of the tier holds the last copy of each arc of a ring ([Cidon2015]).

Shapes: T tokens, V nodes of the tier, G groups of arcs with the same other holders.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.moves import held_at
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.tier import apart, weights

#: Groups, and choices, up to which all choices are looked at.
MOST_GROUPS_ENUMERATED, MOST_CHOICES_ENUMERATED = 14, 20_000
#: Most exchanges, and most groups at each end that one is chosen from.
MOST_EXCHANGES, MOST_GROUPS_COMPARED = 500, 250


def tiered(problem: RingProblem, ring: Ring) -> Ring:
    """Return the ring with the last copy of each arc on a node of the tier, where there is one."""
    if not problem.tier.any():
        return ring
    copies = min(problem.replication, len(ring.nodes))  # fewer while the first nodes join a ring
    return with_tier(replace(problem, replication=copies), ring)


def with_tier(problem: RingProblem, ring: Ring) -> Ring:
    """Return the ring with the last copy of each arc on a node of the tier, instead of the r-th one clockwise.

    Lexicographic. (1) Outside the zones of the arc's other holders wherever the tier has such a node: proven, since
    arcs choose freely. (2) With a ring in place, where most of the arc's bytes are held already: the fewest bytes that
    travel for last copies of this ring, proven for the same reason. (3) The same node for all arcs with the same other
    holders: with virtual nodes the fewest copysets that such last copies can have, proven. Not where (2) has a say, nor
    where such arcs together have more than half of what a node of the tier holds on average. (4) Even by bytes over
    cpu: the best of all choices where there are few; else the heaviest first to the node with the least, then moves and
    exchanges that make the fullest node less full. :func:`ftplan.planners.peer_ring.tier.least_share` is a bound.

    Departs from the paper, which chooses all copies of a copyset at once: the others are given by the ring.
    Cost O(T (r + V) + T log T), and as much for each exchange.
    """
    nodes = np.flatnonzero(problem.tier)
    worth = problem.arcs(ring, problem.worth)
    rest = Ring(ring.token, ring.node)
    free = apart(problem, rest, nodes)
    free |= ~free.any(axis=1, keepdims=True)
    there = held_at(problem, problem.current) if problem.current is not None else np.zeros((0, 0), dtype=np.int64)
    if np.isin(there, nodes).any():
        group = np.arange(len(ring.token))
        missing = np.where(free, _missing(problem, rest, there, nodes), np.inf)
        free &= missing <= missing.min(axis=1, keepdims=True) * (1.0 + NOISE)
    else:
        group = _groups(problem, rest)
        if float(np.bincount(group, worth).max()) > 0.5 * float(worth.sum()) / len(nodes):
            group = np.arange(len(ring.token))
    first = np.unique(group, return_index=True)[1]
    sums = np.asarray(np.bincount(group, worth), dtype=np.float64)
    chosen = _even(sums, free[first], weights(problem, nodes))
    return Ring(ring.token, ring.node, nodes[chosen[group]])


def _groups(problem: RingProblem, ring: Ring) -> IntArray:
    """Return which other holders an arc has, (T,), as numbers in order of the first arc that has them."""
    rows = np.sort(ring.holders(min(problem.replication, len(ring.nodes)) - 1), axis=1)
    first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)[1:]
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[group.reshape(-1)])


def _missing(problem: RingProblem, ring: Ring, there: IntArray, nodes: IntArray) -> FloatArray:
    """Return what would travel for the last copy of each arc, (T, V): what a node is not *there*, (M, C), to hold."""
    owner = ring.owner(problem.position)
    missing = np.empty((len(ring.token), len(nodes)))
    for k, node in enumerate(nodes.tolist()):
        lacks = ~(there == node).any(axis=1)
        missing[:, k] = np.bincount(owner, problem.worth * lacks, minlength=len(ring.token))
    return missing


def _even(worth: FloatArray, free: BoolArray, weight: FloatArray) -> IntArray:
    """Return a node for each group, (G,), so that the largest sum of *worth* over weight is small."""
    if len(worth) <= MOST_GROUPS_ENUMERATED and float(len(weight)) ** len(worth) <= MOST_CHOICES_ENUMERATED:
        return _evenest(worth, free, weight)
    held = np.zeros(len(weight))
    chosen = np.zeros(len(worth), dtype=np.int64)
    for group in np.lexsort((np.arange(len(worth)), -worth)).tolist():
        after = np.where(free[group], (held + worth[group]) / weight, np.inf)
        chosen[group] = int(after.argmin())
        held[chosen[group]] += worth[group]
    for _ in range(MOST_EXCHANGES):
        if not _improved(worth, free, weight, chosen, held):
            break
    return chosen


def _evenest(worth: FloatArray, free: BoolArray, weight: FloatArray) -> IntArray:
    """Return the first of all choices, in their order, that has the least largest sum over weight."""
    every = np.indices((len(weight),) * len(worth)).reshape(len(worth), -1).T
    every = every[free[np.arange(len(worth)), every].all(axis=1)]
    sums = np.stack([(worth * (every == node)).sum(axis=1) for node in range(len(weight))], axis=1)
    return np.asarray(every[int((sums / weight).max(axis=1).argmin())])


def _improved(worth: FloatArray, free: BoolArray, weight: FloatArray, chosen: IntArray, held: FloatArray) -> bool:
    """Move a group off the fullest node, or exchange one there for a lighter one, where both ends stay below it."""
    full = int((held / weight).argmax())
    limit = held[full] / weight[full] * (1.0 - NOISE)
    mine = np.flatnonzero(chosen == full)
    for node in np.argsort(held / weight, kind="stable").tolist():
        if node == full:
            continue
        best = _exchange(worth, free, weight, (mine, np.flatnonzero(chosen == node)), held, (full, node))
        if best is None or best[0] >= limit:
            continue
        _, out, back = best
        chosen[out] = node
        held[[full, node]] += (-worth[out], worth[out])
        if back is not None:
            chosen[back] = full
            held[[full, node]] += (worth[back], -worth[back])
        return True
    return False


def _exchange(
    worth: FloatArray,
    free: BoolArray,
    weight: FloatArray,
    groups: tuple[IntArray, IntArray],
    held: FloatArray,
    ends: tuple[int, int],
) -> tuple[float, int, int | None] | None:
    """Return the least largest share of two nodes after a move or exchange, and the groups that go and come."""
    full, node = ends
    out = _some(worth, groups[0][free[groups[0], node] & (worth[groups[0]] > 0.0)])
    if not out.size:
        return None
    back = _some(worth, groups[1][free[groups[1], full]])
    comes = np.concatenate([[0.0], worth[back]])
    net = worth[out][:, None] - comes[None, :]
    share = np.maximum((held[full] - net) / weight[full], (held[node] + net) / weight[node])
    at = int(share.argmin())
    k, other = divmod(at, len(comes))
    return float(share.flat[at]), int(out[k]), None if other == 0 else int(back[other - 1])


def _some(worth: FloatArray, groups: IntArray) -> IntArray:
    """Return at most :data:`MOST_GROUPS_COMPARED` groups, from light to heavy."""
    ranked = groups[np.argsort(worth[groups], kind="stable")]
    if len(ranked) <= MOST_GROUPS_COMPARED:
        return np.asarray(ranked)
    return np.asarray(ranked[np.linspace(0, len(ranked) - 1, MOST_GROUPS_COMPARED).astype(np.int64)])
