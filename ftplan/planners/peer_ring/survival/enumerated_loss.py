"""The probability that some copyset is down as a whole, over all sets of failed nodes: exact for few nodes.

Shapes: S copysets, C copies, H nodes that hold something; 2^H sets of failed nodes, as numbers whose bits are nodes.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem

#: Most nodes whose failures are all looked at.
MOST = 20


def enumerated_loss(problem: RingProblem, sets: IntArray) -> float | None:
    """Return the probability that all nodes of some row of *sets*, (S, C), are down; None for more than 20 nodes.

    Zones are independent, so that the probability of a set of failed nodes is a product over them. Sums have positive
    terms only. Cost O(H 2^H).
    """
    holders = np.unique(sets)
    if len(holders) > MOST:
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
