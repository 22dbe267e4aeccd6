"""Consistent hashing: tokens on a circle, who owns a position, who holds copies of it, and how a ring changes.

Positions and tokens are numbers in [0, 1); **clockwise is upwards**. The owner of a position is the node with the
largest token that is not above it, wrapping at 0, so that a token owns the arc up to the next one; its backups are the
next nodes clockwise ([Kumbhare2015], V-A and V-B; ``--tier`` after [Cidon2015]). Key group g of an operator with G key
groups has the position g/G and is never cut. g/G as a float is the same for equal fractions and differs for others
(two fractions with denominators up to 2^15 are at least 2^-30 apart), so that positions compare exactly.

Neighbours take half an arc, nodes join midway, leave or fail ([Kumbhare2015], VI and VII). Tokens lie on positions
where something begins. The paper puts a token midway between two others; a token midway and one at the first position
at or above it own the same, so that rounding *up* to a position changes nothing. Only where the upper half holds no
position does one move all the same: the last of the arc. Each node keeps at least one position.

Shapes: T tokens, N nodes, M positions, ascending.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from functools import cached_property

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray

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
    return in_order(tokens, ring.node, ring.tier)


def scaled_out(ring: Ring, position: FloatArray, node: int, new: int) -> Ring | None:
    """Return the ring that a new node has joined midway in a node's arc, as figure 11 shows.

    Tiered copies of its half stay where they are. None where the node has one position only.
    """
    token = half_way(ring, position, node)
    if token is None:
        return None
    tier = None if ring.tier is None else np.append(ring.tier, ring.tier[_at(ring, node)])
    return in_order(np.append(ring.token, token), np.append(ring.node, new), tier)


def without(ring: Ring, gone: BoolArray) -> Ring:
    """Return the ring after nodes have left or failed, as figure 12 and section VII have it; empty if all have.

    In each run of tokens of nodes that are gone, the next token clockwise moves to the farthest one: its node holds
    copies of the last r arcs of the run. The same with many tokens a node: it is the first holder that is left.

    *gone*: (N,) by number of the node.
    """
    dead = gone[ring.node]
    left = np.flatnonzero(~dead)
    if left.size == 0:
        return Ring(ring.token[left], ring.node[left], None if ring.tier is None else ring.tier[left])
    before = np.roll(left, 1)
    farthest = (before + 1) % len(dead)  # right after the live token before: itself, or where its run of dead begins
    tier = None if ring.tier is None else ring.tier[left]
    return in_order(ring.token[farthest], ring.node[left], tier)


def _at(ring: Ring, node: int) -> int:
    return int(np.flatnonzero(ring.node == node)[0])


def in_order(token: FloatArray, node: IntArray, tier: IntArray | None) -> Ring:
    """Return the ring of tokens in any order."""
    at = np.argsort(token, kind="stable")
    return Ring(token[at], node[at], None if tier is None else tier[at])


#: A token of a plan that is so near to a position is at it.
NEAR = 1e-11
_DOWN = Context(prec=12, rounding=ROUND_FLOOR)


@dataclass(frozen=True, eq=False)
class Ring:
    """Tokens in ascending order, all different, the node of each, and where its arc's last copy lies if not next."""

    token: FloatArray  # (T,) in [0, 1), strictly ascending
    #: (T,) node by number. A node may have several tokens (virtual nodes).
    node: IntArray
    #: (T,) node that holds the last copy of the token's arc instead of the r-th backup clockwise; None without tiered
    #: copies
    tier: IntArray | None = None

    @cached_property
    def nodes(self) -> IntArray:
        """Numbers of the nodes that have a token, ascending."""
        return np.unique(self.node)

    @property
    def simple(self) -> bool:
        """Whether each node has one token: then what is lost follows from runs of dead neighbours."""
        return len(self.nodes) == len(self.node)

    @property
    def most_copies(self) -> int:
        """How many copies an arc can have at most beside its owner's, the one of a tier among them."""
        return len(self.nodes) - (self.tier is None)

    def owner(self, position: FloatArray) -> IntArray:
        """Return the number of the token that owns each position, same shape."""
        return np.asarray((np.searchsorted(self.token, position, side="right") - 1) % len(self.token))

    def holders(self, replication: int) -> IntArray:
        """Return the nodes that hold each token's arc, (T, replication + 1): the owner, then its backups in order.

        Backups are the next *distinct* nodes clockwise; with ``tier`` and a backup at all, the last column is that
        node. Cost O(T (replication + 1)) for simple rings, else O(T) times the tokens that have to be skipped.

        Raises ValueError if the ring has too few nodes for so many copies.
        """
        tiered = self.tier is not None and replication > 0
        walked = replication if tiered else replication + 1
        if len(self.nodes) < walked:
            raise ValueError(f"{len(self.nodes)} nodes cannot hold {walked} copies")
        held = self._next_distinct(walked)
        return np.column_stack([held, self.tier]) if tiered and self.tier is not None else held

    def _next_distinct(self, count: int) -> IntArray:
        total = len(self.node)
        if self.simple:  # no token has to be skipped
            return np.asarray(self.node[(np.arange(total)[:, None] + np.arange(count)) % total])
        held = np.full((total, count), -1, dtype=np.int64)
        held[:, 0] = self.node
        found, step = np.ones(total, dtype=np.int64), 0
        rows = np.flatnonzero(found < count)
        while rows.size:
            step += 1
            near = self.node[(rows + step) % total]
            new = ~(held[rows] == near[:, None]).any(axis=1)
            held[rows[new], found[rows[new]]] = near[new]
            found[rows[new]] += 1
            rows = rows[found[rows] < count]
        return held


def written_token(token: float) -> float:
    """Return a token as plans hold it: rounded *down* to 12 digits, so that it is never above the position it is at.

    Rounded to nearest, 2/3 would be written as 0.666666666667, and the key group at 2/3 would belong to the token
    before.
    """
    return float(_DOWN.create_decimal(repr(float(token))))


def read_tokens(token: FloatArray, position: FloatArray) -> FloatArray:
    """Return tokens as a plan's reader takes them: those within 1e-11 of a position (M, ascending) are at the nearest.

    Plans hold 12 digits rounded down, and those made by hand are rounded to nearest. A planner whose tokens need not
    lie on positions passes them through this, so that its ring is the one that is read back.
    """
    token = np.asarray(token, dtype=np.float64)
    if not len(position):
        return token
    right = np.minimum(np.searchsorted(position, token), len(position) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(position[left] - token) <= np.abs(position[right] - token), left, right)
    return np.asarray(np.where(np.abs(position[nearest] - token) <= NEAR, position[nearest], token))


def position_of(key_group: IntArray, key_groups: IntArray) -> FloatArray:
    """Return where key groups lie on the ring: their number by how many their operator has."""
    return np.asarray(key_group / key_groups, dtype=np.float64)
