"""Which failures a peer ring survives, and which lose what: the document ``tolerance`` of a plan.

Shapes: S copysets, N nodes, C copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import Copysets, copysets, fatal_zones, probability_of, single_losses
from ftplan.planners.peer_ring.survival.harmless import best_case
from ftplan.planners.peer_ring.survival.survival import survival
from ftplan.planners.peer_ring.tier import tier_figures

#: Fatal sets that are named, those first that lose most.
MOST_NAMED_SETS = 5
#: Most nodes of a harmless set that are named.
MOST_NAMED_NODES = 24


def tolerance(problem: RingProblem, ring: Ring) -> dict[str, Any]:
    """Return which failures a ring survives, as plain values with ids of nodes and zones.

    ``nodes``, ``copies``
        Nodes that hold something, and copies of each key group: so many less one may always fail.
    ``copysets``
        Distinct sets of nodes that hold all copies of some key group.
    ``zone_violations``
        Arcs with two holders in one zone.
    ``best_case``
        ``low`` and ``high``: the largest set of nodes that may fail together without loss has so many, the two being
        equal where it is exact; ``example`` is one of ``low`` nodes (null where it has more than 24, or none).
    ``fatal_nodes``, ``fatal_zones``
        The smallest sets whose loss loses something: ``size`` of each, ``count`` of them, and ``heaviest``, the five
        that lose most bytes (load where no state is known): ``nodes`` or ``zones``, ``key_groups``, ``state_bytes``
        (null if unknown), ``load``, and ``probability`` that all these nodes are down in one repair window.
    ``one_zone``
        The claim of figure 13 for this ring: ``harmless`` if the loss of any one zone, all its nodes at once, loses
        nothing; ``largest`` is the zone of most nodes, and ``nodes`` how many these are.
    ``after_one_loss``
        Once one node of the ring failed and its neighbours took over and made all copies again: ``worst`` is the node
        whose loss leaves least, with ``fatal_zones`` and ``zone_violations`` then, and ``nodes_that_harm`` counts those
        after which fewer zones are fatal, or more violations there, than now. Null where no second node is left.
    ``survival``
        See :func:`ftplan.planners.peer_ring.survival.survival.survival`; null where no probability of failure is known.
    ``tier``
        With tiered copies: see :func:`ftplan.planners.peer_ring.tier.tier_figures`; else null.
    ``without_tier``
        With tiered copies: the same for the ring whose last copy lies on the next node clockwise; null without tiers,
        or where the ring has too few nodes for so many copies.

    Cost O(T log T + M), and bounded searches for best case and survival.
    """
    found = _of(problem, ring)
    plain = Ring(ring.token, ring.node)
    enough = len(plain.nodes) > problem.replication
    found["tier"] = tier_figures(problem, ring) if ring.tier is not None else None
    found["without_tier"] = _of(problem, plain) if ring.tier is not None and enough else None
    return found


def _of(problem: RingProblem, ring: Ring) -> dict[str, Any]:
    sets = copysets(problem, ring)
    best = best_case(problem, ring, sets)
    zones = fatal_zones(problem, sets)
    violations = problem.violations(ring)
    return {
        "nodes": len(sets.holders),
        "copies": problem.replication + 1,
        "copysets": len(sets.nodes),
        "zone_violations": violations,
        "best_case": {
            "low": best.low,
            "high": best.high,
            "example": _ids(problem, best.example) if 0 < best.low <= MOST_NAMED_NODES else None,
        },
        "fatal_nodes": {
            "size": problem.replication + 1,
            "count": len(sets.nodes),
            "heaviest": _heaviest_nodes(problem, sets),
        },
        "fatal_zones": {
            "size": zones.size,
            "count": len(zones.zones),
            "heaviest": [
                {"zones": [zone_name(problem, zone) for zone in zones.zones[k].tolist()]}
                | _losses(problem, int(zones.key_groups[k]), float(zones.state[k]), float(zones.load[k]))
                for k in _ranked(problem, zones.key_groups, zones.state, zones.load)
            ],
        },
        "one_zone": _one_zone(problem, sets, zones.size > 1),
        "after_one_loss": _after_one_loss(problem, ring, zones.size, violations),
        "survival": survival(problem, ring),
    }


def zone_name(problem: RingProblem, zone: int) -> str:
    """Return the id of a zone; a node without one is a zone of its own, named like the node."""
    return problem.zones[zone] or problem.nodes[int(np.flatnonzero(problem.zone == zone)[0])]


def _heaviest_nodes(problem: RingProblem, sets: Copysets) -> list[dict[str, Any]]:
    ranked = _ranked(problem, sets.key_groups, sets.state, sets.load)
    likely = probability_of(problem, sets.nodes[ranked])
    return [
        {"nodes": _ids(problem, sets.nodes[k].tolist())}
        | _losses(problem, int(sets.key_groups[k]), float(sets.state[k]), float(sets.load[k]))
        | {"probability": float(p) if problem.probabilities_known else None}
        for k, p in zip(ranked, likely.tolist(), strict=True)
    ]


def _ranked(problem: RingProblem, key_groups: IntArray, state: FloatArray, load: FloatArray) -> list[int]:
    """Return the first sets by what they lose; ties end at the order in which they are given."""
    by = (-key_groups, -load, -state) if problem.state_known else (-key_groups, -load)
    order: list[int] = np.lexsort((np.arange(len(key_groups)), *by))[:MOST_NAMED_SETS].tolist()
    return order


def _losses(problem: RingProblem, key_groups: int, state: float, load: float) -> dict[str, Any]:
    return {"key_groups": key_groups, "state_bytes": state if problem.state_known else None, "load": load}


def _one_zone(problem: RingProblem, sets: Copysets, harmless: bool) -> dict[str, Any]:
    count = np.bincount(problem.zone[sets.holders], minlength=len(problem.zones))
    largest = int(count.argmax())
    return {"harmless": harmless, "largest": zone_name(problem, largest), "nodes": int(count[largest])}


def _after_one_loss(problem: RingProblem, ring: Ring, fatal: int, violations: int) -> dict[str, Any] | None:
    if len(ring.nodes) < 2:
        return None
    after = single_losses(problem, ring)
    worst = int(np.lexsort((after.nodes, -after.violations, after.fatal_zones))[0])
    harmed = (after.fatal_zones < fatal) | (after.violations > violations)
    return {
        "worst": problem.nodes[after.nodes[worst]],
        "fatal_zones": int(after.fatal_zones[worst]),
        "zone_violations": int(after.violations[worst]),
        "nodes_that_harm": int(harmed.sum()),
    }


def _ids(problem: RingProblem, nodes: Iterable[int]) -> list[str]:
    return [problem.nodes[node] for node in nodes]
