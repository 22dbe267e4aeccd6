"""Which failures a ring survives: the notes' figures, and every set of failed nodes or zones."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival import tolerance as ring_tolerance
from ftplan.planners.peer_ring.survival.copysets import copysets, fatal_zones, lost_state, probability_of, single_losses
from ftplan.planners.peer_ring.survival.tolerance import best_case, tolerance
from tests.planners.peer_ring import ring_failures as every
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_problem
from tests.planners.peer_ring.ring_examples import rings

QUICK = settings(max_examples=60, deadline=None)


def equal_arcs(nodes: int, replication: int, zones: str | None = None) -> tuple[RingProblem, Ring]:
    problem = ring_problem([1.0] * 2 * nodes, [1.0] * nodes, zones, replication)
    return problem, even_ring(problem)


def dead_nodes(problem: RingProblem, nodes: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    dead = np.zeros(len(problem.nodes), dtype=np.bool_)
    dead[list(nodes)] = True
    return dead


@pytest.mark.parametrize(
    ("nodes", "replication", "harmless"),
    [
        (6, 1, [1, 6, 9, 2, 0, 0, 0]),
        (6, 2, [1, 6, 15, 14, 3, 0, 0]),
    ],
)
def test_harmless_sets_of_the_notes(nodes: int, replication: int, harmless: list[int]) -> None:
    problem, ring = equal_arcs(nodes, replication)
    count = [0] * (nodes + 1)
    for dead in every.failures(frozenset(range(nodes))):
        count[len(dead)] += not lost_state(problem, ring, dead_nodes(problem, dead)).positions.any()
    assert count == harmless


@pytest.mark.parametrize(("nodes", "replication", "best", "sets"), [(7, 1, 3, 29), (7, 2, 4, 71), (12, 1, 6, None)])
def test_best_case_of_the_notes(nodes: int, replication: int, best: int, sets: int | None) -> None:
    problem, ring = equal_arcs(nodes, replication)
    assert best_case(problem, ring, copysets(problem, ring))[:2] == (best, best)
    if sets is not None:
        everything = every.failures(frozenset(range(nodes)))
        harmless = [d for d in everything if not lost_state(problem, ring, dead_nodes(problem, d)).positions.any()]
        assert (len(harmless), max(map(len, harmless))) == (sets, best)


@pytest.mark.parametrize("nodes", range(3, 11))
def test_harmless_sets_of_one_backup_are_counted_by_lucas(nodes: int) -> None:
    problem, ring = equal_arcs(nodes, 1)
    for size in range(nodes // 2 + 1):
        harmless = sum(
            not lost_state(problem, ring, dead_nodes(problem, dead)).positions.any()
            for dead in combinations(range(nodes), size)
        )
        assert harmless == nodes * comb(nodes - size, size) // (nodes - size)


@pytest.mark.parametrize("nodes", range(2, 40))
def test_best_case_is_the_closed_form(nodes: int) -> None:
    for replication in range(nodes):
        problem, ring = equal_arcs(nodes, replication)
        best = best_case(problem, ring, copysets(problem, ring))
        assert best.low == best.high == nodes * replication // (replication + 1)
        assert not lost_state(problem, ring, dead_nodes(problem, best.example)).positions.any()


@QUICK
@given(rings())
def test_losses_and_best_case_are_those_of_every_failure(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    held = every.held(problem, ring)
    tier = () if ring.tier is None else ring.tier.tolist()
    nodes = frozenset[int]().union(ring.nodes.tolist(), tier)
    largest = 0
    for dead in every.failures(nodes):
        gone = every.loses(held, dead)
        found = lost_state(problem, ring, dead_nodes(problem, dead))
        assert np.flatnonzero(found.positions).tolist() == gone
        assert (found.load, found.state) == (problem.load[gone].sum(), problem.state[gone].sum())
        assert np.flatnonzero(found.key_groups).tolist() == [
            k for k, position in enumerate(problem.atom.tolist()) if position in gone
        ]
        largest = max(largest, len(dead)) if not gone else largest
    best = best_case(problem, ring, copysets(problem, ring))
    assert (best.low, best.high, len(best.example)) == (largest, largest, largest)
    assert not every.loses(held, frozenset(best.example))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ring_tolerance, "MOST_SETS_VISITED", 3)
        bounded = best_case(problem, ring, copysets(problem, ring))
    assert bounded.low == len(bounded.example) <= largest <= bounded.high
    assert not every.loses(held, frozenset(bounded.example))


@QUICK
@given(rings())
def test_fatal_sets_are_those_of_every_failure(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    held = every.held(problem, ring)
    document = tolerance(problem, ring)
    fatal = {one: every.loses(held, one) for one in set(held)}
    assert document["copysets"] == document["fatal_nodes"]["count"] == len(fatal)
    smallest = min(len(dead) for dead in every.failures(frozenset[int]().union(*held)) if every.loses(held, dead))
    assert document["fatal_nodes"]["size"] == smallest
    bytes_lost = sorted((float(problem.state[gone].sum()) for gone in fatal.values()), reverse=True)
    named = document["fatal_nodes"]["heaviest"]
    assert [item["state_bytes"] for item in named] == bytes_lost[:5]
    for item in named:
        nodes = frozenset(problem.nodes.index(name) for name in item["nodes"])
        assert item["load"] == problem.load[fatal[nodes]].sum()
        assert item["key_groups"] == sum(position in fatal[nodes] for position in problem.atom.tolist())


@QUICK
@given(rings())
def test_fatal_zones_are_those_of_every_failure(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    held = every.held(problem, ring)
    found = fatal_zones(problem, copysets(problem, ring))
    for size in range(1, len(problem.zones) + 1):
        fatal = {}
        for zones in combinations(range(len(problem.zones)), size):
            gone = every.loses(held, frozenset(np.flatnonzero(np.isin(problem.zone, zones)).tolist()))
            if gone:
                fatal[zones] = (float(problem.state[gone].sum()), float(problem.load[gone].sum()))
        if fatal:
            break
    assert found.size == size
    assert list(map(tuple, found.zones.tolist())) == sorted(fatal)
    assert list(zip(found.state, found.load, strict=True)) == [fatal[zones] for zones in sorted(fatal)]
    assert tolerance(problem, ring)["one_zone"]["harmless"] == (size > 1)


@QUICK
@given(rings())
def test_single_losses_are_those_of_the_ring_without_the_node(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    found = single_losses(problem, ring)
    near = problem.replication + (ring.tier is None)
    for node, violations, fatal in zip(*(values.tolist() for values in found), strict=True):
        after = every.without(ring, node)
        if len(after.nodes) < near:
            short = replace(problem, replication=problem.replication - 1)
            assert violations == len(after.node)
            if near > 1:
                assert fatal == fatal_zones(short, copysets(short, after)).size
            continue
        assert violations == problem.violations(after)
        assert fatal == fatal_zones(problem, copysets(problem, after)).size


def test_a_good_order_breaks_when_a_node_leaves() -> None:
    """The notes' example: abab without one is bab, where two equal neighbours lose data with their zone."""
    problem, ring = equal_arcs(4, 1, "abab")
    assert tolerance(problem, ring)["after_one_loss"] == {
        "worst": "n0",
        "fatal_zones": 1,
        "zone_violations": 1,
        "nodes_that_harm": 4,
    }
    problem, ring = equal_arcs(2, 1, "ab")
    assert tolerance(problem, ring)["after_one_loss"]["zone_violations"] == 1
    problem, ring = equal_arcs(1, 0)
    assert tolerance(problem, ring)["after_one_loss"] is None


def test_document_of_two_zones() -> None:
    """Figure 13: two zones by turns, either of which may fail as a whole."""
    problem, ring = equal_arcs(6, 1, "ababab")
    found = tolerance(replace(problem, probabilities_known=False, state_known=False), ring)
    assert found["best_case"] == {"low": 3, "high": 3, "example": ["n1", "n3", "n5"]}
    assert found["one_zone"] == {"harmless": True, "largest": "a", "nodes": 3}
    assert found["fatal_zones"] == {
        "size": 2,
        "count": 1,
        "heaviest": [{"zones": ["a", "b"], "key_groups": 12, "state_bytes": None, "load": 12.0}],
    }
    assert found["fatal_nodes"]["heaviest"][1] == {
        "nodes": ["n0", "n5"],
        "key_groups": 2,
        "state_bytes": None,
        "load": 2.0,
        "probability": None,
    }
    assert (found["survival"], found["tier"], found["without_tier"]) == (None, None, None)
    problem, ring = equal_arcs(4, 1)
    without_zones = tolerance(replace(problem, zones=("", "", "", "")), ring)
    of_zones = ("fatal_zones", "one_zone", "zone_violations", "after_one_loss")
    assert {without_zones[name] for name in of_zones} == {None}
    some = tolerance(replace(problem, zones=("", "", "", "d")), ring)
    assert some["fatal_zones"]["heaviest"][0]["zones"] == ["n0", "n1"]


@QUICK
@given(st.integers(1, 5), st.data())
def test_probability_of_a_set(count: int, data: st.DataObject) -> None:
    zones = data.draw(st.text("ab-", min_size=count, max_size=count))
    problem = ring_problem([1.0] * count, [1.0] * count, zones)
    chances = st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=count, max_size=count)
    zone_down = np.array(data.draw(chances)[: len(problem.zones)])
    problem = replace(problem, down=np.array(data.draw(chances)), zone_down=zone_down, replication=count - 1)
    found = probability_of(problem, np.arange(count)[None, :])
    assert found[0] == pytest.approx(float(every.loss(problem, even_ring(problem))[0]), rel=1e-12, abs=0.0)


def test_large_rings_are_bounded() -> None:
    """300 nodes of 20 virtual ones each: too many copysets to search, and the bounds say so."""
    problem = ring_problem([1.0] * 4096, [1.0] * 300)
    random = np.random.default_rng(0)
    ring = Ring(np.sort(random.random(6000)), random.permutation(np.repeat(np.arange(300), 20)))
    found = tolerance(problem, ring)
    assert 0 < found["best_case"]["low"] < found["best_case"]["high"] < 300
    assert found["best_case"]["example"] is None or len(found["best_case"]["example"]) <= 24
    assert found == tolerance(problem, ring)
