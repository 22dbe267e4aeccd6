"""Which failures a peer ring survives, and which lose what: the document ``tolerance`` of a plan.

The largest set of nodes that may fail together without loss is all but a smallest set that hits every copyset: each
keeps a node. On a ring with one token a node copysets are runs of neighbours, and n nodes keep nr/(r + 1) at best
([Kumbhare2015], VII), rounded down. With virtual nodes or tiered copies they are any sets, and the question is that of
a smallest hitting set, which is hard: exact for small rings, else between bounds.

Shapes: S copysets, N nodes, C copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import Copysets, copysets, fatal_zones, probability_of, single_losses
from ftplan.planners.peer_ring.survival.survival import survival
from ftplan.planners.peer_ring.tier import tier_figures

#: Sets that the search for a smallest hitting set looks at in all; what is left then is bounded.
MOST_SETS_VISITED = 100_000
#: Most nodes that a hitting set may have for the search to begin: it goes as deep.
MOST_DEPTH = 200


class BestCase(NamedTuple):
    """How many nodes may fail at best, between proven bounds, and a largest such set that was found, by number."""

    low: int
    high: int
    example: tuple[int, ...]


def best_case(problem: RingProblem, ring: Ring, sets: Copysets) -> BestCase:
    """Return the size of the largest harmless set of nodes, of all of the ring and its tier, loaded or not.

    Exact where copysets are runs of neighbours, O(T); else exact within :data:`MOST_SETS_VISITED`.
    """
    nodes = ring.nodes if ring.tier is None else np.union1d(ring.nodes, ring.tier)
    if ring.simple and ring.tier is None:
        kept = _hitting_runs(problem, ring)
        least = len(kept)
    else:
        kept, least = _hitting_sets(sets)
    alive = set(kept)
    dead = tuple(node for node in nodes.tolist() if node not in alive)
    return BestCase(len(dead), len(nodes) - least, dead)


def _hitting_runs(problem: RingProblem, ring: Ring) -> list[int]:
    """Return a smallest set of nodes with one in each run of r + 1 neighbours whose first owns key groups.

    One of the first run's nodes is in it; from each of them on, the last node of each run that is not hit yet. Where no
    arc is empty, this is every (r + 1)-th node, and one more if they do not divide n. Cost O(n).
    """
    total, copies = len(ring.node), problem.replication + 1
    begins = np.unique(ring.owner(problem.position))
    following = np.concatenate([begins, begins + total])
    best: list[int] | None = None
    for start in range(int(begins[0]), int(begins[0]) + copies):
        chosen, at = [start], start
        while True:  # the next run that begins after the last node chosen, and all runs before the first one end
            begin = int(following[np.searchsorted(following, at, side="right")]) if at < following[-1] else 2 * total
            if begin + copies - 1 >= start + total:
                break
            at = begin + copies - 1
            chosen.append(at)
        if best is None or len(chosen) < len(best):
            best = chosen
    return sorted(int(ring.node[k % total]) for k in best or ())


def _hitting_sets(sets: Copysets) -> tuple[list[int], int]:
    """Return a small set of nodes that hits each copyset, and a proven lower bound of the size of any.

    Branch and bound: of a copyset that is not hit, the fewest nodes that may still be chosen, one after another is
    chosen and then forbidden. The bound counts copysets that share no node; at the root also how many nodes it takes
    to be in as many copysets as there are.
    """
    search = _HittingSetSearch([frozenset(row) for row in sets.nodes.tolist()])
    search.run()
    return sorted(search.best), search.proven


class _HittingSetSearch:
    def __init__(self, sets: list[frozenset[int]]) -> None:
        self.sets = sets
        self.best = _greedy(sets)
        self.work = MOST_SETS_VISITED
        self.proven = max(_apart(sets, frozenset()), _by_degrees(sets))

    def run(self) -> None:
        """Search to the end, or until the work is used up; ``proven`` is the lower bound."""
        if self.proven < len(self.best) <= MOST_DEPTH and self._branch(self.sets, frozenset(), frozenset()):
            self.proven = len(self.best)

    def _branch(self, left: list[frozenset[int]], chosen: frozenset[int], out: frozenset[int]) -> bool:
        """Look for smaller sets that hold *chosen* and nothing of *out*; return whether all were looked at."""
        self.work -= max(len(left), 1)
        if self.work < 0:
            return False
        if not left:
            self.best = min(self.best, chosen, key=len)
            return True
        if len(chosen) + _apart(left, out) >= len(self.best):
            return True
        narrow = min(left, key=lambda one: (len(one - out), sorted(one)))
        count = dict.fromkeys(sorted(narrow - out), 0)
        for one in left:
            for node in one & count.keys():
                count[node] += 1
        for node in sorted(count, key=lambda n: (-count[n], n)):
            rest = [one for one in left if node not in one]
            if not self._branch(rest, chosen | {node}, out):
                return False
            out = out | {node}
        return True


def _greedy(sets: list[frozenset[int]]) -> frozenset[int]:
    """Return a hitting set: the node of most copysets that are not hit yet, again and again; then none that can go."""
    members: dict[int, set[int]] = {}
    for k, one in enumerate(sets):
        for node in one:
            members.setdefault(node, set()).add(k)
    left, chosen = {node: len(of) for node, of in members.items()}, list[int]()
    hit = [0] * len(sets)
    while left:
        node = min(left, key=lambda n: (-left[n], n))
        if left[node] == 0:
            break
        del left[node]
        chosen.append(node)
        for k in members[node]:
            hit[k] += 1
            if hit[k] == 1:
                for other in sets[k] & left.keys():
                    left[other] -= 1
    for node in list(chosen):
        if all(hit[k] > 1 for k in members[node]):
            chosen.remove(node)
            for k in members[node]:
                hit[k] -= 1
    return frozenset(chosen)


def _by_degrees(sets: list[frozenset[int]]) -> int:
    """Return how many nodes it takes at least, those of most copysets first, to be in as many as there are."""
    degrees = np.sort(np.bincount([node for one in sets for node in one]))[::-1]
    return int(np.searchsorted(np.cumsum(degrees), len(sets))) + 1


def _apart(sets: list[frozenset[int]], out: frozenset[int]) -> int:
    """Return how many copysets share no node that may be chosen, taken one after another, narrow ones first."""
    used: set[int] = set()
    count = 0
    for one in sorted((one - out for one in sets), key=lambda one: (len(one), sorted(one))):
        if used.isdisjoint(one):
            used |= one
            count += 1
    return count


#: Fatal sets that are named, those first that lose most.
MOST_NAMED_SETS = 5
#: Most nodes of a harmless set that are named.
MOST_NAMED_NODES = 24


def tolerance(problem: RingProblem, ring: Ring, without_tier: RingProblem | None = None) -> dict[str, Any]:
    """Return which failures a ring survives, as plain values with ids of nodes and zones.

    *without_tier*: the question with the probabilities of failure for the ring without its tier, if these differ.

    ``nodes``, ``copies``
        Nodes that hold something, and copies of each key group: so many less one may always fail.
    ``copysets``
        Distinct sets of nodes that hold all copies of some key group.
    ``zone_violations``
        Arcs with two holders in one zone.
    ``best_case``
        ``low`` and ``high``: the largest set of nodes that may fail together without loss has so many, nodes that hold
        nothing among them, the two being equal where it is exact; ``example`` is one of ``low`` nodes (null where it
        has more than 24, or none).
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

    Where no node has a zone, what is said of zones is null. Cost O(T log T + M), and bounded searches for best case and
    survival.
    """
    found = _of(problem, ring)
    plain = Ring(ring.token, ring.node)
    enough = len(plain.nodes) > problem.replication
    found["tier"] = tier_figures(problem, ring) if ring.tier is not None else None
    found["without_tier"] = _of(without_tier or problem, plain) if ring.tier is not None and enough else None
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
        "zone_violations": violations if problem.zoned else None,
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
        "fatal_zones": None
        if not problem.zoned
        else {
            "size": zones.size,
            "count": len(zones.zones),
            "heaviest": [
                {"zones": [zone_name(problem, zone) for zone in zones.zones[k].tolist()]}
                | _losses(problem, int(zones.key_groups[k]), float(zones.state[k]), float(zones.load[k]))
                for k in _ranked(problem, zones.key_groups, zones.state, zones.load)
            ],
        },
        "one_zone": _one_zone(problem, sets, zones.size > 1) if problem.zoned else None,
        "after_one_loss": _after_one_loss(problem, ring, zones.size, violations) if problem.zoned else None,
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
