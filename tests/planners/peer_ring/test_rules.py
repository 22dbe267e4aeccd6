"""The rules of a ring: each is broken by what should break it, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.rules import (
    CAPACITY,
    MOST_BYTES,
    ONE_ZONE,
    ORDER,
    REPLICATION,
    RULES,
    TARGET_LOAD,
    TOKENS,
    ZONES_APART,
    broken,
    requested_rules,
    rules,
    same_circle,
)
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_of, ring_problem, with_current


def names(problem: RingProblem, ring: Ring, moved: float = 0.0) -> set[str]:
    return {breach.rule for breach in broken(problem, ring, moved)}


SIX = ring_problem([1.0] * 12, [1.0] * 6, "ababab")


def test_a_ring_that_keeps_all_promises_them() -> None:
    assert rules(SIX, even_ring(SIX), 0.0) == (REPLICATION, TOKENS, ZONES_APART, ONE_ZONE)
    assert broken(SIX, even_ring(SIX), 0.0) == []
    assert set(RULES) >= set(requested_rules(SIX)) == {REPLICATION}


def test_too_few_nodes_are_all_there_is_to_say() -> None:
    few = replace(SIX, replication=6)
    (breach,) = broken(few, even_ring(SIX), 0.0)
    assert (breach.rule, breach.limit, breach.current) == (REPLICATION, 7, 6)
    assert rules(few, even_ring(SIX), 0.0) == (REPLICATION,)  # nothing is promised of copies that nobody holds


def test_a_tier_node_that_holds_another_copy_too() -> None:
    tiered = Ring(even_ring(SIX).token, even_ring(SIX).node, np.array([0, 0, 0, 0, 0, 0]))
    assert [b.where for b in broken(SIX, tiered, 0.0) if b.rule == REPLICATION] == ["node:n0"]


@pytest.mark.parametrize(
    ("token", "says"), [([0.0, 0.25, 0.5, 0.6, 0.75, 0.9], {"node:n3", "node:n5"}), ([0.0] * 6, set())]
)
def test_tokens_lie_where_key_groups_begin(token: list[float], says: set[str]) -> None:
    ring = Ring(np.array(sorted(set(token))), np.arange(len(set(token))))
    found = [b for b in broken(replace(SIX, replication=0), ring, 0.0) if b.rule == TOKENS]
    assert {b.where for b in found} == says


def test_a_node_with_two_tokens() -> None:
    ring = Ring(np.array([0.0, 0.25, 0.5, 0.75]), np.array([0, 1, 2, 1]))
    (breach,) = (b for b in broken(SIX, ring, 0.0) if b.rule == TOKENS)
    assert (breach.where, breach.limit) == ("node:n1", 1)


def test_zones_by_looking_at_every_zone_that_fails() -> None:
    """A breach for each zone whose loss loses something, and for each arc with two holders in one zone."""
    problem = ring_problem([1.0] * 12, [1.0] * 6, "aabbcc", replication=1)
    ring = even_ring(problem)
    found = {b.where for b in broken(problem, ring, 0.0) if b.rule == ONE_ZONE}
    lost = set()
    for zone in range(len(problem.zones)):
        dead = np.flatnonzero(problem.zone == zone)
        holders = ring.holders(1)
        if any(set(row) <= set(dead.tolist()) for row in holders.tolist()):
            lost.add(f"zone:{problem.zones[zone]}")
    assert found == lost == {"zone:a", "zone:b", "zone:c"}
    apart = [b.where for b in broken(problem, ring, 0.0) if b.rule == ZONES_APART]
    assert len(apart) == problem.violations(ring) == 3
    mixed = even_ring(problem, [0, 2, 4, 1, 3, 5])
    assert names(problem, mixed) == set()


def test_a_node_is_overloaded_only_where_it_takes_load() -> None:
    problem = replace(SIX, capacity=np.array([4.0, 2.0, 4.0, 4.0, 4.0, 4.0]), overload=0.75)
    ring = even_ring(problem)
    assert names(problem, ring) == {CAPACITY}  # n1 has 2 of 2
    assert names(with_current(problem, ring), ring) == set()  # and had them before
    more = ring_of(problem, [0, 1, 2, 3, 4, 5], [1, 2, 5, 6, 8, 10])
    assert names(with_current(problem, ring), more) == {CAPACITY}
    foreign = replace(problem, capacity=np.full(6, 4.0), foreign=np.array([0.0, 0.0, 0.0, 2.0, 0.0, 0.0]))
    assert [b.where for b in broken(foreign, ring, 0.0)] == ["node:n3"]


def test_limits_that_were_asked_for() -> None:
    ring = even_ring(SIX)
    asked = replace(with_current(SIX, ring), max_bytes=3.0, target_load=1.1, rebalance=True)
    assert set(requested_rules(asked)) == {REPLICATION, MOST_BYTES, ORDER}
    assert set(rules(asked, ring, 3.0)) == {REPLICATION, TOKENS, ZONES_APART, ONE_ZONE, MOST_BYTES, TARGET_LOAD, ORDER}
    uneven = ring_of(SIX, [0, 1, 2, 3, 4, 5], [0, 1, 4, 6, 8, 10])
    assert names(asked, uneven, 4.0) == {MOST_BYTES, TARGET_LOAD}
    assert TARGET_LOAD not in rules(asked, uneven, 3.0)
    assert names(asked, even_ring(SIX, [0, 3, 2, 1, 4, 5])) == {ORDER}
    assert names(asked, even_ring(SIX, [2, 3, 4, 5, 0, 1])) == set()


def test_circular_sequences_are_the_same_wherever_they_begin() -> None:
    for size in range(5):
        one = np.array([0, 1, 0, 2, 1][:size])
        for start in range(size + 1):
            assert same_circle(one, np.roll(one, start))
    assert not same_circle(np.array([0, 1, 2]), np.array([0, 2, 1]))
    assert not same_circle(np.array([0, 1]), np.array([0, 1, 0, 1]))
    assert sum(same_circle(np.array([0, 0, 1]), np.array(other)) for other in combinations([0, 0, 1, 1], 3)) == 2
