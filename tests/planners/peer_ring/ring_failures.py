"""What failures do to a ring, by looking at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


def held(problem: RingProblem, ring: Ring) -> list[frozenset[int]]:
    """Return the holders of each position: walk clockwise from its owner, by definition."""
    tokens, nodes = ring.token.tolist(), ring.node.tolist()
    found = []
    for position in problem.position.tolist():
        at = max((k for k, token in enumerate(tokens) if token <= position), default=len(tokens) - 1)
        near: list[int] = []
        copies = problem.replication + (ring.tier is None)
        for k in range(len(tokens)):
            node = nodes[(at + k) % len(tokens)]
            if node not in near and len(near) < copies:
                near.append(node)
        found.append(frozenset(near) | (frozenset() if ring.tier is None else {int(ring.tier[at])}))
    return found


def failures(nodes: frozenset[int]) -> Iterator[frozenset[int]]:
    """Yield every set of nodes that may fail together."""
    for size in range(len(nodes) + 1):
        yield from map(frozenset, combinations(sorted(nodes), size))


def loses(held_by: list[frozenset[int]], dead: frozenset[int]) -> list[int]:
    """Return the positions that nobody holds any more."""
    return [k for k, nodes in enumerate(held_by) if nodes <= dead]


def loss(problem: RingProblem, ring: Ring) -> tuple[Fraction, Fraction]:
    """Return the probability that some position is lost, and the bytes lost on average, as exact fractions."""
    held_by = held(problem, ring)
    nodes = sorted(frozenset[int]().union(*held_by))
    zones = sorted({int(problem.zone[node]) for node in nodes})
    lost, expected = Fraction(0), Fraction(0)
    down = [Fraction(float(problem.down[node])) for node in nodes]
    for state in product((False, True), repeat=len(zones)):
        failed = {zone for zone, fails in zip(zones, state, strict=True) if fails}
        chance = Fraction(1)
        for zone, fails in zip(zones, state, strict=True):
            q = Fraction(float(problem.zone_down[zone]))
            chance *= q if fails else 1 - q
        if not chance:
            continue
        sure = frozenset(node for node in nodes if int(problem.zone[node]) in failed)
        free = [k for k, node in enumerate(nodes) if node not in sure]
        for each in product((False, True), repeat=len(free)):
            here = chance
            for k, fails in zip(free, each, strict=True):
                here *= down[k] if fails else 1 - down[k]
            if not here:
                continue
            dead = sure | {nodes[k] for k, fails in zip(free, each, strict=True) if fails}
            gone = loses(held_by, dead)
            lost += here if gone else 0
            expected += here * Fraction(float(problem.state[gone].sum()))
    return lost, expected


def without(ring: Ring, node: int) -> Ring:
    """Return the ring once a node has failed: the next live token clockwise takes its place, and is dropped."""
    tokens = list(zip(ring.token.tolist(), ring.node.tolist(), strict=True))
    tier = [-1] * len(tokens) if ring.tier is None else ring.tier.tolist()
    moved: dict[int, float] = {}  # live token by number, and where it goes
    for k, (token, dead) in enumerate(tokens):
        before = tokens[k - 1][1]
        if dead != node or before == node:
            continue
        after = next(j % len(tokens) for j in range(k + 1, k + 1 + len(tokens)) if tokens[j % len(tokens)][1] != node)
        moved[after] = token
    left = sorted((moved.get(k, token), owner, tier[k]) for k, (token, owner) in enumerate(tokens) if owner != node)
    return Ring(
        np.array([token for token, _, _ in left]),
        np.array([owner for _, owner, _ in left], dtype=np.int64),
        None if ring.tier is None else np.array([last for _, _, last in left], dtype=np.int64),
    )
