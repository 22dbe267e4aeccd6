"""The probability that a ring, such as one with virtual nodes, loses something: that a copyset is down as a whole.

Over all sets of failed nodes it is exact for few nodes (:func:`enumerated_loss`); else copysets are branched on,
bounded, or sampled. Shapes: S copysets, C copies, H nodes that hold something; 2^H sets of failed nodes, as numbers
whose bits are nodes.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.measures.loss_probability import union_probability
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.survival.copysets import Copysets
from ftplan.planners.peer_ring.survival.sampled_loss import harris, sampled_loss
from ftplan.planners.peer_ring.survival.set_bounds import Loss, reduced, union_bounds
from ftplan.planners.peer_ring.survival.zone_states import fatal_masks, own_probabilities, zone_states

#: Most nodes whose failures are all looked at.
MOST_HOLDERS = 20


def enumerated_loss(problem: RingProblem, sets: IntArray) -> float | None:
    """Return the probability that all nodes of some row of *sets*, (S, C), are down; None for more than 20 nodes.

    Zones are independent, so that the probability of a set of failed nodes is a product over them. Sums have positive
    terms only. Cost O(H 2^H).
    """
    holders = np.unique(sets)
    if len(holders) > MOST_HOLDERS:
        return None
    order = holders[np.argsort(problem.zone[holders], kind="stable")]
    place = np.zeros(len(problem.nodes), dtype=np.int64)
    place[order] = np.arange(len(order))
    fatal = _fatal(np.bitwise_or.reduce(1 << place[sets], axis=1), len(order))
    chance = np.ones(1)
    for zone in np.unique(problem.zone[order]).tolist():
        of_zone = _chances(problem.down[order[problem.zone[order] == zone]], float(problem.zone_down[zone]))
        chance = (of_zone[:, None] * chance[None, :]).reshape(-1)  # later zones have the higher bits
    return min(float(chance[fatal].sum()), 1.0)


def _chances(down: FloatArray, zone_down: float) -> FloatArray:
    """Return the probability of each set of failed nodes of one zone, (2^nodes,)."""
    chance = np.full(1, 1.0 - zone_down)
    for p in down.tolist():
        chance = np.concatenate([chance * (1.0 - p), chance * p])
    chance[-1] += zone_down
    return chance


def _fatal(copysets: IntArray, nodes: int) -> BoolArray:
    """Return which sets of failed nodes hold one of *copysets*, (2^nodes,): supersets of fatal ones are fatal."""
    fatal = np.zeros(1 << nodes, dtype=np.bool_)
    fatal[copysets] = True
    for k in range(nodes):
        with_node = fatal.reshape(-1, 2, 1 << k)
        with_node[:, 1, :] |= with_node[:, 0, :]
    return fatal


#: Most copysets that are branched on, and most zones for that.
MOST_BRANCHED_SETS, MOST_BRANCHED_ZONES = 600, 12
#: Copysets, times 2^C, that are bounded over all states of the zones; and most such states.
MOST_BOUNDED_SETS, MOST_ZONE_STATES = 1e6, 250


def set_loss(problem: RingProblem, sets: Copysets, seed: int) -> Loss:
    """Return how likely it is that some copyset is down: over all failures of up to 20 nodes, else by branching.

    Where that is not exact, the value is the upper of two bounds that are close, or else an estimate by samples.
    """
    exact = enumerated_loss(problem, sets.nodes)
    if exact is not None:
        return Loss.between(exact, exact)
    low, high = _branched(problem, sets)
    if low == high:
        return Loss.between(low, high)
    down, zones = own_probabilities(problem, sets.holders)
    masks = fatal_masks(sets.nodes, problem.zone, down, zones, None)
    most = int(
        min(MOST_ZONE_STATES, max(1.0, MOST_BOUNDED_SETS / len(sets.nodes) / 2.0 ** min(sets.nodes.shape[1], 60)))
    )
    states = zone_states(problem.zone_down[zones], masks, most)
    bounds = np.array([_bounds(sets, np.isin(problem.zone, zones[failed]), down) for failed in states.failed])
    below, above = (states.weight @ bounds.reshape(-1, 2)).tolist()
    proven = Loss.between(
        max(low, states.certain + below), min(high, states.certain + above + states.left, harris(problem, sets.nodes))
    )
    return with_samples(problem, sets, proven, seed)


def _bounds(sets: Copysets, gone: BoolArray, down: FloatArray) -> tuple[float, float]:
    """Return bounds of the probability that some copyset is down where the nodes *gone*, (N,), are with their zones."""
    p = np.where(gone, 1.0, down)
    return union_bounds(reduced(sets.nodes, p), p)


def with_samples(problem: RingProblem, sets: Copysets, proven: Loss, seed: int) -> Loss:
    """Return what is proven, narrowed by samples of nodes and zones where the bounds are far apart."""
    if proven.close:
        return proven
    proven = Loss.between(proven.low, min(proven.high, harris(problem, sets.nodes)))
    found = None if proven.close else sampled_loss(problem, sets.nodes, seed)
    return proven if found is None else proven.narrowed(found)


def _branched(problem: RingProblem, sets: Copysets) -> tuple[float, float]:
    if len(sets.nodes) > MOST_BRANCHED_SETS:
        return 0.0, 1.0
    ids = problem.nodes
    shared = problem.zone_down > 0.0
    of_zone = {ids[k]: str(problem.zone[k]) for k in sets.holders.tolist() if shared[problem.zone[k]]}
    if len(set(of_zone.values())) > MOST_BRANCHED_ZONES:
        return 0.0, 1.0
    found = union_probability(
        frozenset(frozenset(ids[k] for k in row) for row in sets.nodes.tolist()),
        dict(zip(ids, problem.down.tolist(), strict=True)),
        {str(zone): float(problem.zone_down[zone]) for zone in np.flatnonzero(shared).tolist()},
        of_zone,
    )
    return found.low, found.high
