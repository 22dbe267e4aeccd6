"""Consistent hashing: tokens on a circle, who owns a position, and who holds copies of it.

Positions and tokens are numbers in [0, 1); **clockwise is upwards**. The owner of a position is the node with the
largest token that is not above it, wrapping at 0, so that a token owns the arc up to the next one; its backups are the
next nodes clockwise ([Kumbhare2015], V-A and V-B; ``--tier`` after [Cidon2015]). Key group g of an operator with G key
groups has the position g/G and is never cut. g/G as a float is the same for equal fractions and differs for others
(two fractions with denominators up to 2^15 are at least 2^-30 apart), so that positions compare exactly.

Shapes: T tokens, N nodes, M positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from functools import cached_property

import numpy as np

from ftplan.model.topology import FloatArray, IntArray

#: A token of a plan that is so near to a position is at it.
NEAR = 1e-11
_DOWN = Context(prec=12, rounding=ROUND_FLOOR)


@dataclass(frozen=True, eq=False)
class Ring:
    """Tokens in ascending order, all different, the node of each, and where the last copy of its arc lies if not next.

    Attributes
    ----------
    token
        (T,) in [0, 1), strictly ascending.
    node
        (T,) node by number. A node may have several tokens (virtual nodes).
    tier
        (T,) node that holds the last copy of the token's arc instead of the r-th backup clockwise; None without
        tiered copies.
    """

    token: FloatArray
    node: IntArray
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

        Raises
        ------
        ValueError
            If the ring has too few nodes for so many copies.
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
