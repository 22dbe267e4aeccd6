"""What a ring is worth: load, zones, copies; what its steps move, in four ledgers; how evenly tiered copies lie.

Shapes: T tokens, N nodes, M positions, V nodes of the tier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.plan import finite
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.model.violation import over
from ftplan.planners.peer_ring.moves import RingMove, held_at
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import copysets


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


#: The ledgers of moves.
LEDGERS = ("takeover_bytes", "transfer_bytes", "rereplicate_bytes", "replayed_records")


def utilisations(problem: RingProblem, ring: Ring) -> FloatArray:
    """Return the share of each node's capacity that its load and other work take, (N,); inf where it has none."""
    used = problem.loads(ring) + problem.foreign
    with np.errstate(divide="ignore", invalid="ignore"):
        share = used / problem.capacity
    return np.asarray(np.where(used > 0.0, share, 0.0))


def overloaded(problem: RingProblem, ring: Ring) -> list[int]:
    """Return the nodes of a ring whose load and other work is above ``overload`` of their capacity, by number."""
    used, limit = problem.loads(ring) + problem.foreign, problem.overload * problem.capacity
    return [node for node in ring.nodes.tolist() if over(float(used[node]), float(limit[node]))]


def ring_figures(problem: RingProblem, ring: Ring, chance: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a ring is worth before anything fails.

    *chance* is what :func:`ftplan.planners.peer_ring.survival.survival.survival` says of it. Cost O(M + T r).
    """
    chance = chance or {}
    loads = problem.loads(ring)[ring.nodes]
    return {
        "nodes": len(ring.nodes),
        "tokens": len(ring.token),
        "largest_load": problem.largest_load(ring),
        "zone_violations": problem.violations(ring),
        "highest_load": float(loads.max()),
        "highest_utilisation": finite(utilisations(problem, ring)[ring.nodes].max()),
        "overloaded_nodes": len(overloaded(problem, ring)),
        "copysets": len(copysets(problem, ring).nodes),
        "survival": chance.get("survival"),
        "loss_probability": chance.get("loss_probability"),
    }


def ledgers(moves: Sequence[RingMove], state_known: bool) -> dict[str, dict[str, float | int | None]]:
    """Return the sums of the ledgers over moves, by event; bytes are None where state is unknown."""
    sums: dict[str, dict[str, float | int | None]] = {}
    for event in dict.fromkeys(move.event for move in moves):
        mine = [move for move in moves if move.event == event]
        entry: dict[str, float | int | None] = {"moves": len(mine)}
        for name in LEDGERS:
            total = float(np.sum([getattr(move, name) for move in mine]))
            entry[name] = total if state_known or name in ("takeover_bytes", "replayed_records") else None
        sums[event] = entry
    return sums


def node_figures(problem: RingProblem, ring: Ring) -> list[dict[str, Any]]:
    """Return what each node of a ring and of the tier has afterwards, in natural order. Cost O(M r + N).

    ``share`` is the load over the fair share by cpu, 1 where all is even; ``backup_bytes`` are copies for others.
    """
    size, held = len(problem.nodes), held_at(problem, ring)
    owner, loads = held[:, 0], problem.loads(ring)
    groups = np.bincount(owner[problem.atom], minlength=size)
    state = np.bincount(owner, problem.state, minlength=size)
    copies = [np.bincount(held[:, column], problem.state, minlength=size) for column in range(1, held.shape[1])]
    backup = np.sum([np.zeros(size), *copies], axis=0)
    used, tokens = utilisations(problem, ring), np.bincount(ring.node, minlength=size)
    before = None if problem.current is None else utilisations(problem, problem.current)
    fair, known = problem.cpu * _per_cpu(problem), problem.state_known
    listed = np.flatnonzero((tokens > 0) | problem.tier).tolist()
    return [
        {
            "node": problem.nodes[node],
            "zone": problem.zone_name(node),
            "cpu": float(problem.cpu[node]),
            "tokens": int(tokens[node]),
            "key_groups": int(groups[node]),
            "load": float(loads[node]),
            "share": float(loads[node] / fair[node]) if fair[node] > 0.0 and tokens[node] else None,
            "utilisation": finite(used[node]),
            "utilisation_before": None if before is None else finite(before[node]),
            "state_bytes": float(state[node]) if known else None,
            "backup_bytes": float(backup[node]) if known else None,
        }
        for node in listed
    ]


def _per_cpu(problem: RingProblem) -> float:
    """Return the load that a core would have if all was even."""
    cores = float(problem.cpu[problem.members].sum())
    return float(problem.load.sum()) / cores if cores > 0.0 else 0.0
