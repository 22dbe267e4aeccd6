"""The sets of nodes that hold a peer ring's key groups, and what is gone when all nodes of some set are down.

A copyset ([Cidon2013]) is a set of nodes that together hold all copies of some key group: data is lost exactly where
all nodes of a copyset fail. Arcs without key groups lose nothing, and count for none.

Shapes: S copysets, C copies (replication + 1), N nodes, M positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class Copysets:
    """Distinct sets of holders, in order of their nodes, and what each holds of all that is on the ring.

    Attributes
    ----------
    nodes
        (S, C) nodes by number, ascending in each row.
    key_groups, load, state
        (S,) how many key groups have just these holders, their load per second and their bytes.
    """

    nodes: IntArray
    key_groups: IntArray
    load: FloatArray
    state: FloatArray

    @property
    def holders(self) -> IntArray:
        """Return the numbers of all nodes that hold something, ascending."""
        return np.unique(self.nodes)


def copysets(problem: RingProblem, ring: Ring) -> Copysets:
    """Return the distinct sets of nodes that hold key groups of a ring. Cost O(T log T + M)."""
    owner = ring.owner(problem.position)
    arcs, arc = np.unique(owner, return_inverse=True)
    rows = np.sort(ring.holders(problem.replication)[arcs], axis=1)
    nodes, which = np.unique(rows, axis=0, return_inverse=True)
    which, count = which.reshape(-1)[arc], len(nodes)
    groups = np.bincount(problem.atom, minlength=len(problem.position))
    return Copysets(
        nodes,
        np.bincount(which, groups, minlength=count).astype(np.int64),
        np.asarray(np.bincount(which, problem.load, minlength=count), dtype=np.float64),
        np.asarray(np.bincount(which, problem.state, minlength=count), dtype=np.float64),
    )


@dataclass(frozen=True, eq=False)
class LostState:
    """What is gone when some nodes fail together: (M,) positions, (K,) key groups, load per second and bytes."""

    positions: BoolArray
    key_groups: BoolArray
    load: float
    state: float


def lost_state(problem: RingProblem, ring: Ring, dead: BoolArray) -> LostState:
    """Return what nobody holds any more once the nodes of *dead*, (N,), fail at the same time.

    On a ring with one token a node, a run of m dead neighbours loses its first m - r arcs ([Kumbhare2015], VII).
    """
    arcs = np.asarray(dead[ring.holders(problem.replication)].all(axis=1))
    gone = arcs[ring.owner(problem.position)]
    return LostState(gone, gone[problem.atom], float(problem.load[gone].sum()), float(problem.state[gone].sum()))


def probability_of(problem: RingProblem, nodes: IntArray) -> FloatArray:
    """Return the probability that all nodes of each row, (S, C), are down within one repair window, (S,).

    A node is down if it or its zone fails, all independently: over the zones of a row, the product of q + (1 - q) Πp.
    """
    at = np.argsort(problem.zone[nodes], axis=1, kind="stable")
    held = np.take_along_axis(nodes, at, axis=1)
    zone, p = problem.zone[held], problem.down[held]
    whole, members = np.ones(len(nodes)), np.ones(len(nodes))
    for k in range(nodes.shape[1]):
        members = members * p[:, k]
        ends = np.ones(len(nodes), dtype=np.bool_)
        if k + 1 < nodes.shape[1]:
            ends = zone[:, k] != zone[:, k + 1]
        q = problem.zone_down[zone[:, k]]
        whole = np.where(ends, whole * (q + (1.0 - q) * members), whole)
        members = np.where(ends, 1.0, members)
    return np.asarray(whole)


def expected_lost_bytes(problem: RingProblem, sets: Copysets) -> float:
    """Return the bytes that one repair window loses on average: exact, since expectations add up."""
    return float((sets.state * probability_of(problem, sets.nodes)).sum())
