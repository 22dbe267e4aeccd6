"""The nodes of a simulated ring, those that may join it, and the pieces of its arcs in which positions are followed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.peer_ring.inputs.members import eligible_nodes
from ftplan.planners.peer_ring.prepare import PreparedRing
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class SimulatedNodes:
    """Those of the cluster and then new ones, N in all."""

    names: tuple[str, ...]
    #: ``capacity``, ``replay_rate``: (N,) load and replayed records per second; the mean of the ring for those that
    #: could not be on it
    capacity: FloatArray
    replay_rate: FloatArray
    spares: tuple[int, ...]  # nodes by number that may join: of the cluster, then new ones

    @classmethod
    def of(cls, prepared: PreparedRing, ring: Ring, new: int) -> SimulatedNodes:
        """Return the nodes of a ring with so many new ones that may join.

        Raises FtplanError if a node has no capacity left.
        """
        problem, on_ring = prepared.problem, ring.nodes
        capacity, replayed = problem.capacity - problem.foreign, problem.setting.replay_rate
        full = [problem.nodes[n] for n in on_ring.tolist() if not capacity[n] > 0.0 or not replayed[n] > 0.0]
        if full:
            raise FtplanError(f"{full[0]}: other work takes all of its capacity: give --capacity-per-core")
        can = eligible_nodes(prepared.cluster) & (capacity > 0.0) & ~problem.removed & ~problem.tier & ~problem.fails
        can[on_ring] = False
        known = can.copy()
        known[on_ring] = True
        mean, mean_replayed = float(capacity[on_ring].mean()), float(replayed[on_ring].mean())
        many, taken = len(problem.nodes), set(problem.nodes)
        named = [name for k in range(1, new + many + 1) if (name := f"new{k}") not in taken][:new]
        return cls(
            (*problem.nodes, *named),
            np.append(np.where(known, capacity, mean), np.full(new, mean)),
            np.append(np.where(known & (replayed > 0.0), replayed, mean_replayed), np.full(new, mean_replayed)),
            (*np.flatnonzero(can).tolist(), *range(many, many + new)),
        )


#: Pieces of an arc at most, of all arcs about, and counts of batches in all copies at most: a byte each.
PIECES, ALL_PIECES, MOST_COUNTS = 32, 8192, 300_000_000


@dataclass(frozen=True, eq=False)
class Pieces:
    """P pieces of M positions."""

    position: FloatArray  # (P,) where each piece begins
    first: IntArray  # (P,) its first position, by number
    warnings: tuple[Warn, ...] = ()

    def sums(self, worth: FloatArray) -> FloatArray:
        """Return sums over the positions of each piece, (P,) from (M,)."""
        return np.asarray(np.add.reduceat(worth, self.first))


def cut(problem: RingProblem, ring: Ring, batches: int) -> Pieces:
    """Return pieces of the arcs of a ring, as fine as memory allows; nodes take over whole pieces.

    Raises FtplanError if not even one piece for each arc can be followed.
    """
    total = len(problem.position)
    begins = np.unique(np.searchsorted(problem.position, ring.token) % total)
    lengths = np.diff(np.append(begins, begins[0] + total))
    room = MOST_COUNTS // ((problem.replication + 1) * max(batches, 1))
    if room < len(begins) + 1:
        text = f"{len(begins):,} arcs in {problem.replication + 1:,} copies and {batches:,} batches are too many"
        raise FtplanError(f"--tick: {text} to follow: give a longer tick, or a shorter --until")
    most = max(min(PIECES, ALL_PIECES // len(begins), room // len(begins)), 1)
    starts = [
        (begin + np.arange(pieces) * length // pieces) % total
        for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True)
        for pieces in (min(most, length),)
    ]
    first = np.unique(np.append(np.concatenate(starts), 0))
    if len(first) >= total:
        return Pieces(problem.position, np.arange(total))
    text = f"{total:,} places on the ring are followed in {len(first):,} pieces; nodes take over whole ones"
    return Pieces(problem.position[first], first, (Warn("IN_PIECES", text),))
