"""How a ring changes: neighbours take half an arc, nodes join midway, leave or fail ([Kumbhare2015], VI and VII).

Tokens lie on positions where something begins. The paper puts a token midway between two others; a token midway and one
at the first position at or above it own the same, so that rounding *up* to a position changes nothing. Only where the
upper half holds no position does one move all the same: the last of the arc. Each node keeps at least one position.

Shapes: T tokens, N nodes, M positions, ascending.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.ring import Ring

#: Positions that are closer to the middle of an arc lie on it: positions of fractions are further apart.
_ON_IT = 1e-12


def positions_of_arcs(ring: Ring, position: FloatArray) -> IntArray:
    """Return how many positions the arc of each token holds, (T,)."""
    first = np.searchsorted(position, ring.token, side="left")
    return np.asarray(np.diff(np.append(first, first[0] + len(position))))


def clockwise(ring: Ring, node: int) -> IntArray:
    """Return the other nodes of a ring of one token a node, the nearest clockwise first, (T - 1,)."""
    at = _at(ring, node)
    return np.asarray(np.roll(ring.node, -at)[1:])


def half_way(ring: Ring, position: FloatArray, node: int) -> float | None:
    """Return the position where the upper half of a node's arc begins, None where the arc holds one position only."""
    at, total = _at(ring, node), len(ring.token)
    token = ring.token[at]
    span = float((ring.token[(at + 1) % total] - token) % 1.0) or 1.0
    count = int(positions_of_arcs(ring, position)[at])
    if count < 2:
        return None
    first = int(np.searchsorted(position, token, side="left"))
    arc = position[np.arange(first, first + count) % len(position)]
    below = int(((arc - token) % 1.0 < span / 2.0 - _ON_IT).sum())
    return float(arc[min(max(below, 1), count - 1)])


def balanced(ring: Ring, position: FloatArray, node: int) -> Ring | None:
    """Return the ring where a node's clockwise neighbour has taken the upper half of its arc, as figure 10 shows.

    None where there is no neighbour, or the node has one position only.
    """
    token = half_way(ring, position, node)
    if token is None or len(ring.token) < 2:
        return None
    tokens = ring.token.copy()
    tokens[(_at(ring, node) + 1) % len(tokens)] = token
    return _in_order(tokens, ring.node, ring.tier)


def scaled_out(ring: Ring, position: FloatArray, node: int, new: int) -> Ring | None:
    """Return the ring that a new node has joined midway in a node's arc, as figure 11 shows.

    Tiered copies of its half stay where they are. None where the node has one position only.
    """
    token = half_way(ring, position, node)
    if token is None:
        return None
    tier = None if ring.tier is None else np.append(ring.tier, ring.tier[_at(ring, node)])
    return _in_order(np.append(ring.token, token), np.append(ring.node, new), tier)


def without(ring: Ring, gone: BoolArray) -> Ring:
    """Return the ring after nodes have left or failed, as figure 12 and section VII have it; empty if all have.

    In each run of tokens of nodes that are gone, the next token clockwise moves to the farthest one: its node holds
    copies of the last r arcs of the run. The same with many tokens a node: it is the first holder that is left.

    Parameters
    ----------
    gone
        (N,) by number of the node.
    """
    dead = gone[ring.node]
    left = np.flatnonzero(~dead)
    if left.size == 0:
        return Ring(ring.token[left], ring.node[left], None if ring.tier is None else ring.tier[left])
    before = np.roll(left, 1)
    farthest = (before + 1) % len(dead)  # right after the live token before: itself, or where its run of dead begins
    tier = None if ring.tier is None else ring.tier[left]
    return _in_order(ring.token[farthest], ring.node[left], tier)


def _at(ring: Ring, node: int) -> int:
    return int(np.flatnonzero(ring.node == node)[0])


def _in_order(token: FloatArray, node: IntArray, tier: IntArray | None) -> Ring:
    at = np.argsort(token, kind="stable")
    return Ring(token[at], node[at], None if tier is None else tier[at])
