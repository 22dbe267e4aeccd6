"""Nodes of a simulated ring, and those that may join it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.inputs.members import eligible_nodes
from ftplan.planners.peer_ring.prepare import PreparedRing
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class SimulatedNodes:
    """Those of the cluster and then new ones, N in all.

    Attributes
    ----------
    capacity, replay_rate
        (N,) load and replayed records per second; the mean of the ring for those that could not be on it.
    spares
        Nodes by number that may join: of the cluster, then new ones.
    """

    names: tuple[str, ...]
    capacity: FloatArray
    replay_rate: FloatArray
    spares: tuple[int, ...]

    @classmethod
    def of(cls, prepared: PreparedRing, ring: Ring, new: int) -> SimulatedNodes:
        """Return the nodes of a ring with so many new ones that may join.

        Raises
        ------
        FtplanError
            If a node has no capacity left.
        """
        asked, on_ring = prepared.problem, ring.nodes
        capacity, replayed = asked.capacity - asked.foreign, asked.setting.replay_rate
        full = [asked.nodes[n] for n in on_ring.tolist() if not capacity[n] > 0.0 or not replayed[n] > 0.0]
        if full:
            raise FtplanError(f"{full[0]}: other work takes all of its capacity: give --capacity-per-core")
        can = eligible_nodes(prepared.cluster) & (capacity > 0.0) & ~asked.removed & ~asked.tier & ~asked.fails
        can[on_ring] = False
        known = can.copy()
        known[on_ring] = True
        mean, mean_replayed = float(capacity[on_ring].mean()), float(replayed[on_ring].mean())
        many, taken = len(asked.nodes), set(asked.nodes)
        named = [name for k in range(1, new + many + 1) if (name := f"new{k}") not in taken][:new]
        return cls(
            (*asked.nodes, *named),
            np.append(np.where(known, capacity, mean), np.full(new, mean)),
            np.append(np.where(known & (replayed > 0.0), replayed, mean_replayed), np.full(new, mean_replayed)),
            (*np.flatnonzero(can).tolist(), *range(many, many + new)),
        )
