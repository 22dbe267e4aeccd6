"""The largest set of nodes that may fail together without loss: all but a smallest set that hits every copyset.

A set of failed nodes is harmless where each copyset keeps a node. On a ring with one token a node copysets are runs of
neighbours, and n nodes keep nr/(r + 1) at best ([Kumbhare2015], VII), rounded down. With virtual nodes or tiered
copies they are any sets, and the question is that of a smallest hitting set, which is hard: exact for small rings, else
between bounds.

Shapes: S copysets, C copies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import Copysets

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
    """Return the size of the largest harmless set of nodes, of all that hold something.

    Exact where copysets are runs of neighbours, O(T); else exact within :data:`MOST_SETS_VISITED`.
    """
    nodes = sets.holders
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
