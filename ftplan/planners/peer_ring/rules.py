"""Which limits of a ring there are, and which of them a ring breaks.

Shapes: T tokens, N nodes, M positions, r backups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.model.violation import Breach, over
from ftplan.planners.peer_ring.moves import held_at
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring

REPLICATION, TOKENS, ZONES_APART, ONE_ZONE = "replication", "tokens", "zones-apart", "one-zone"
CAPACITY, MOST_BYTES, TARGET_LOAD, ORDER = "capacity", "max-bytes", "target-load", "order"
#: The rules that a ring can name, in the order in which :func:`broken` looks at them.
RULES = (REPLICATION, TOKENS, ZONES_APART, ONE_ZONE, CAPACITY, MOST_BYTES, TARGET_LOAD, ORDER)
#: What is wrong with tokens or copies: ``current`` of a breach of :data:`TOKENS` or :data:`REPLICATION`.
NOWHERE, SEVERAL, TOGETHER = "at no position", "several tokens", "one node twice"


def requested_rules(problem: RingProblem) -> tuple[str, ...]:
    """Return the names of the rules that a question asks for, whatever the ring."""
    given = {
        REPLICATION: True,
        CAPACITY: problem.holds_capacity,
        MOST_BYTES: problem.max_bytes is not None,
        ORDER: problem.rebalance,
    }
    return tuple(rule for rule in RULES if given.get(rule))


def demanded_rules(problem: RingProblem) -> tuple[str, ...]:
    """Return the rules that any ring is held to whose plan names none: those asked for, and that zones lose nothing.

    With two backups or more, where some ring of the members is as safe and nothing that is asked for stands against it.
    """
    asked = requested_rules(problem)
    safe = problem.replication >= 2 and problem.least_losses == 0
    free = not (problem.keep or {CAPACITY, MOST_BYTES, ORDER} & set(asked))
    return tuple(rule for rule in RULES if rule in asked or (rule == ONE_ZONE and safe and free))


def judged_rules(problem: RingProblem) -> tuple[str, ...]:
    """Return the rules that can be judged of any ring of a problem."""
    zoned = (ZONES_APART, ONE_ZONE) if problem.zoned else ()
    loaded = (TARGET_LOAD,) if problem.target_load is not None else ()
    return tuple(dict.fromkeys((TOKENS, *zoned, *loaded, *requested_rules(problem))))


def rules(problem: RingProblem, ring: Ring, moved: float) -> tuple[str, ...]:
    """Return the rules that a plan states: those asked for, and what else its ring keeps.

    *moved*: what travels, as :attr:`RingProblem.worth` counts it.
    """
    promised = set(judged_rules(problem)) - set(requested_rules(problem))
    if _too_few(problem, ring):  # then there are no holders, of which nothing can be promised
        return requested_rules(problem)
    checks = _checks(problem, ring, moved)
    kept = {rule for rule in promised if next(checks[rule], None) is None}
    return tuple(rule for rule in RULES if rule in kept or rule in requested_rules(problem))


def broken(problem: RingProblem, ring: Ring, moved: float, held: Collection[str] = RULES) -> list[Breach]:
    """Return every rule of *held* that a ring breaks, asked for or not, a breach for each node, token or zone of it.

    :data:`REPLICATION` is always among them, and where a ring has too few nodes for the copies, that alone. Cost O(M r
    + T r).
    """
    copies = list(_copies(problem, ring))
    if _too_few(problem, ring):
        return copies
    checks = _checks(problem, ring, moved).items()
    return [*copies, *(breach for rule, breaches in checks if rule in held for breach in breaches)]


def _checks(problem: RingProblem, ring: Ring, moved: float) -> dict[str, Iterator[Breach]]:
    """Return the breaches of each rule but :data:`REPLICATION`, looked for when they are asked for."""
    return {
        TOKENS: _tokens(problem, ring),
        ZONES_APART: _zones_apart(problem, ring),
        ONE_ZONE: _one_zone(problem, ring),
        CAPACITY: _capacity(problem, ring),
        MOST_BYTES: _budget(problem, moved),
        TARGET_LOAD: _target(problem, ring),
        ORDER: _order(problem, ring),
    }


def _needed(problem: RingProblem, ring: Ring) -> int:
    """Return how many nodes a ring has to have for the copies."""
    return problem.replication + (1 if ring.tier is None else 0)


def _too_few(problem: RingProblem, ring: Ring) -> bool:
    return len(ring.nodes) < _needed(problem, ring)


def _copies(problem: RingProblem, ring: Ring) -> Iterator[Breach]:
    """There are r + 1 different nodes for every key group."""
    if _too_few(problem, ring):
        needed, nodes = _needed(problem, ring), len(ring.nodes)
        text = f"the ring has {nodes} nodes, and {needed} different ones have to hold each key group"
        yield Breach(REPLICATION, needed, nodes, None, None, text)
        return
    held = ring.holders(problem.replication)
    for token in np.flatnonzero((np.diff(np.sort(held, axis=1), axis=1) == 0).any(axis=1)).tolist():
        owner, last = problem.nodes[held[token, 0]], problem.nodes[held[token, -1]]
        text = f"the arc of {owner} from {ring.token[token]:.12g}: {last} holds two of its copies"
        yield Breach(REPLICATION, None, TOGETHER, None, f"node:{owner}", text)


def _tokens(problem: RingProblem, ring: Ring) -> Iterator[Breach]:
    """Every node has one token, and that is where a key group begins."""
    for node, many in zip(*np.unique(ring.node, return_counts=True), strict=True):
        if many > 1:
            name = problem.nodes[node]
            yield Breach(TOKENS, 1, SEVERAL, None, f"node:{name}", f"{name} has {many:,} tokens, not one")
    for token in np.flatnonzero(~np.isin(ring.token, problem.position)).tolist():
        name, at = problem.nodes[ring.node[token]], ring.token[token]
        yield Breach(TOKENS, None, NOWHERE, None, f"node:{name}", f"{name}: no key group begins at its token {at:.12g}")


def _zones_apart(problem: RingProblem, ring: Ring) -> Iterator[Breach]:
    """All holders of a key group are in different zones."""
    held = ring.holders(problem.replication)
    zones = np.sort(problem.zone[held], axis=1)
    same = zones[:, 1:] == zones[:, :-1]
    for token in np.flatnonzero(same.any(axis=1)).tolist():
        owner, zone = problem.nodes[held[token, 0]], problem.zones[zones[token, 1:][same[token]][0]]
        text = f"the arc of {owner} from {ring.token[token]:.12g}: two of its holders are in zone {zone}"
        yield Breach(ZONES_APART, 0, 1, None, f"node:{owner}", text)


def _one_zone(problem: RingProblem, ring: Ring) -> Iterator[Breach]:
    """No zone holds all copies of a key group."""
    zones = problem.zone[held_at(problem, ring)]
    inside = (zones == zones[:, :1]).all(axis=1)
    lost = np.bincount(zones[inside, 0], minlength=len(problem.zones))
    for zone in np.flatnonzero(lost).tolist():
        name, gone = problem.zones[zone], inside & (zones[:, 0] == zone)
        groups = int(gone[problem.atom].sum())
        text = f"zone {name} holds all copies of {groups:,} key groups: its loss loses them"
        yield Breach(ONE_ZONE, 0, groups, None, f"zone:{name}", text)


def _capacity(problem: RingProblem, ring: Ring) -> Iterator[Breach]:
    """No node is overloaded that took load."""
    after = problem.loads(ring)
    before = np.zeros(len(problem.nodes)) if problem.current is None else problem.loads(problem.current)
    for node in ring.nodes.tolist():
        used, limit = float(after[node] + problem.foreign[node]), float(problem.overload * problem.capacity[node])
        if over(used, limit) and over(float(after[node]), float(before[node])):
            name = problem.nodes[node]
            text = f"{name} takes load and has {used:.6g} afterwards, at most {limit:.6g} is no overload"
            yield Breach(CAPACITY, limit, used, used, f"node:{name}", text)


def _budget(problem: RingProblem, moved: float) -> Iterator[Breach]:
    most = problem.max_bytes
    if most is not None and over(moved, most):
        yield Breach(MOST_BYTES, most, moved, moved, None, f"{moved:.6g} bytes travel, at most {most:.6g} may")


def _target(problem: RingProblem, ring: Ring) -> Iterator[Breach]:
    target, value = problem.target_load, problem.largest_load(ring)
    if target is not None and over(value, target):
        text = f"the largest load is {value:.9g} of the fair share, at most {target:.9g} was asked for"
        yield Breach(TARGET_LOAD, target, value, value, None, text)


def _order(problem: RingProblem, ring: Ring) -> Iterator[Breach]:
    """Clockwise, the nodes follow each other as on the ring in place."""
    if problem.rebalance and problem.current is not None and not same_circle(problem.current.node, ring.node):
        yield Breach(ORDER, None, None, None, None, "nodes do not follow each other as on the ring in place")


def same_circle(one: IntArray, other: IntArray) -> bool:
    """Return whether two circular sequences, (T,), are the same but for where they begin."""
    if len(one) != len(other):
        return False
    starts = np.flatnonzero(other == one[0]) if len(one) else np.zeros(1, dtype=np.int64)
    return any(np.array_equal(np.roll(other, -start), one) for start in starts.tolist())
