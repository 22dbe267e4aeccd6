"""What a ring is worth: load, zones, copies; and what its steps move, in four ledgers.

Shapes: T tokens, N nodes, M positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.plan import finite
from ftplan.model.topology import FloatArray
from ftplan.model.violation import over
from ftplan.planners.peer_ring.moves import RingMove, held_at
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import copysets

#: The ledgers of moves.
LEDGERS = ("takeover_bytes", "transfer_bytes", "rereplicate_bytes", "replayed_records")


def utilisations(problem: RingProblem, ring: Ring) -> FloatArray:
    """Return the share of each node's capacity that its load and other work take, (N,); inf where it has none."""
    return share_of(problem.loads(ring) + problem.foreign, problem.capacity)


def share_of(amount: FloatArray, capacity: FloatArray) -> FloatArray:
    """Return amounts over capacity, (N,): infinite where there is something and no capacity."""
    none = np.where(amount > 0.0, np.inf, 0.0)
    return np.divide(amount, capacity, out=none, where=capacity > 0.0)


def overloaded(problem: RingProblem, ring: Ring) -> list[int]:
    """Return the nodes of a ring whose load and other work is above ``overload`` of their capacity, by number."""
    used, limit = problem.loads(ring) + problem.foreign, problem.overload * problem.capacity
    return [node for node in ring.nodes.tolist() if over(float(used[node]), float(limit[node]))]


def ring_figures(problem: RingProblem, ring: Ring, chance: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a ring is worth before anything fails.

    *chance* is what :func:`ftplan.planners.peer_ring.survival.survival.survival` says of it. Cost O(M + T r).
    """
    chance = chance or {}
    loads, zones = problem.loads(ring)[ring.nodes], problem.zone_cost(ring)
    return {
        "nodes": len(ring.nodes),
        "tokens": len(ring.token),
        "largest_load": problem.largest_load(ring),
        "zone_losses": zones.losses if problem.zoned else None,
        "zone_violations": zones.violations if problem.zoned else None,
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

    ``cpu`` are the cores that other work leaves, ``share`` the load over the fair share by these, 1 where all is even;
    ``backup_bytes`` are copies for others.
    """
    size, held = len(problem.nodes), held_at(problem, ring)
    owner, loads = held[:, 0], problem.loads(ring)
    groups = np.bincount(owner[problem.atom], minlength=size)
    state = np.bincount(owner, problem.state, minlength=size)
    copies = [np.bincount(held[:, column], problem.state, minlength=size) for column in range(1, held.shape[1])]
    backup = np.sum([np.zeros(size), *copies], axis=0)
    used, tokens = utilisations(problem, ring), np.bincount(ring.node, minlength=size)
    before = None if problem.current is None else utilisations(problem, problem.current)
    fair, known = problem.cpu * problem.per_cpu, problem.state_known
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
