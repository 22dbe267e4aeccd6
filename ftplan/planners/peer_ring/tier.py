"""How evenly the tiered copies of a ring lie on its tier. Shapes: T tokens, N nodes, V nodes of the tier."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


def tier_nodes(problem: RingProblem, ring: Ring) -> IntArray:
    """Return the nodes that may hold last copies, by number: those that were asked for, and those that hold some."""
    held = np.zeros(0, dtype=np.int64) if ring.tier is None else ring.tier
    return np.union1d(np.flatnonzero(problem.tier), held)


def weights(problem: RingProblem, nodes: IntArray) -> FloatArray:
    """Return the share of all bytes that is each node's, in proportion to cpu; all alike where one has none."""
    cpu = problem.cpu[nodes]
    cpu = cpu if (cpu > 0.0).all() else np.ones(len(nodes))
    return np.asarray(cpu / cpu.sum())


def apart(problem: RingProblem, ring: Ring, nodes: IntArray) -> BoolArray:
    """Return which nodes are in no zone of an arc's other holders, (T, V)."""
    walked = min(problem.replication, len(ring.nodes))  # fewer nodes than copies while others are still to join
    held = problem.zone[Ring(ring.token, ring.node).holders(walked - 1)]
    zones = problem.zone[nodes]
    beside = np.zeros((len(held), len(nodes)), dtype=np.bool_)
    for column in held.T:
        beside |= column[:, None] == zones[None, :]
    return ~beside


def tier_figures(problem: RingProblem, ring: Ring) -> dict[str, Any]:
    """Return what each node of the tier holds, as plain values, and how even that is.

    ``nodes``
        ``node``, ``zone``, ``arcs`` and ``state_bytes`` (null if unknown), in natural order.
    ``largest``
        Most bytes (key groups where no state is known) on a node over its share by cpu: 1 is even.
    ``bound``
        No choice of last copies with as many of them outside the zones of their arcs has less.
    ``apart``
        Arcs whose last copy is in no zone of the others.
    """
    assert ring.tier is not None
    nodes = tier_nodes(problem, ring)
    worth, state = problem.arcs(ring, problem.worth), problem.arcs(ring, problem.state)
    at = np.searchsorted(nodes, ring.tier)
    count = np.bincount(at, minlength=len(nodes))
    held, stored = np.bincount(at, worth, minlength=len(nodes)), np.bincount(at, state, minlength=len(nodes))
    total = max(float(worth.sum()), 1e-300)
    free = apart(problem, ring, nodes)
    return {
        "nodes": [
            {
                "node": problem.nodes[node],
                "zone": problem.zones[problem.zone[node]] or None,
                "arcs": int(count[k]),
                "state_bytes": float(stored[k]) if problem.state_known else None,
            }
            for k, node in enumerate(nodes.tolist())
        ],
        "largest": float((held / weights(problem, nodes)).max() / total),
        "bound": least_share(worth, free, weights(problem, nodes)) / total,
        "apart": int(free[np.arange(len(at)), at].sum()),
    }


def least_share(worth: FloatArray, free: BoolArray, weight: FloatArray) -> float:
    """Return a lower bound of the largest sum of *worth*, (T,), over weight, (V,), of any choice among *free*, (T, V).

    For each set of nodes that some arcs are free to choose from: all arcs that have no other choice have to share it.
    An arc with no free node may go anywhere. The sets are those of single arcs and their union; O(distinct sets^2 V).
    """
    anywhere = ~free.any(axis=1, keepdims=True)
    choices, which = np.unique(free | anywhere, axis=0, return_inverse=True)
    sums = np.bincount(which.reshape(-1), worth, minlength=len(choices))
    largest = np.zeros(len(choices))
    np.maximum.at(largest, which.reshape(-1), worth)
    bound = float(worth.sum()) / float(weight.sum())
    for one, heaviest in zip(choices, largest.tolist(), strict=True):
        inside = ~(choices & ~one).any(axis=1)
        bound = max(bound, float(sums[inside].sum()) / float(weight[one].sum()), heaviest / float(weight[one].max()))
    return bound
