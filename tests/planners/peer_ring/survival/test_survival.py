"""How likely a ring loses something: the notes' figures, and every failure looked at as an exact fraction."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.loss_probability import union_probability
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival import set_bounds as ring_sampled_loss
from ftplan.planners.peer_ring.survival import set_bounds as ring_set_bounds
from ftplan.planners.peer_ring.survival import survival as ring_survival
from ftplan.planners.peer_ring.survival import (
    zone_states as ring_zone_states,
)
from ftplan.planners.peer_ring.survival.copysets import copysets, expected_lost_bytes
from ftplan.planners.peer_ring.survival.set_bounds import hits, reduced, union_bounds
from ftplan.planners.peer_ring.survival.survival import loss, survival
from tests.planners.peer_ring import ring_failures as every
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_problem
from tests.planners.peer_ring.ring_examples import rings

QUICK = settings(max_examples=60, deadline=None)


def equal_arcs(
    zones: str, replication: int, down: float, zone_down: float = 0.0, groups: int = 60
) -> tuple[RingProblem, Ring]:
    problem = ring_problem([1.0] * groups, [1.0] * len(zones), zones, replication)
    fails = np.array([zone_down if len(zone) == 1 else 0.0 for zone in problem.zones])
    problem = replace(problem, down=np.full(len(zones), down), zone_down=fails)
    return problem, even_ring(problem)


def virtual(problem: RingProblem, tokens: int, seed: int = 0) -> Ring:
    random = np.random.default_rng(seed)
    nodes = np.repeat(problem.member, tokens)
    return Ring(np.sort(random.random(len(nodes))), random.permutation(nodes))


@pytest.mark.parametrize(
    ("zones", "replication", "down", "zone_down", "expected"),
    [
        ("------", 1, 0.01, 0.0, 5.939706e-4),
        ("------", 2, 0.01, 0.0, 5.940001e-6),
        ("------", 1, 0.1, 0.0, 5.3758e-2),
        ("------", 2, 0.1, 0.0, 5.401e-3),
        ("ababab", 1, 0.001, 0.01, 1.652e-4),
        ("aaabbb", 1, 0.001, 0.01, 1.991e-2),
        ("abcabc", 1, 0.001, 0.01, 4.213e-4),
        ("aabbcc", 1, 0.001, 0.01, 2.971e-2),
        ("abcabc", 2, 0.001, 0.01, 1.717e-6),
        ("aabbcc", 2, 0.001, 0.01, 3.568e-4),
        ("aaabbc", 2, 0.001, 0.01, 1.012e-2),
    ],
)
def test_figures_of_equal_arcs(zones: str, replication: int, down: float, zone_down: float, expected: float) -> None:
    problem, ring = equal_arcs(zones, replication, down, zone_down)
    found = loss(problem, ring)
    assert (found.low, found.method) == (found.high, "exact")
    assert found.value == pytest.approx(expected, rel=5e-4)


def test_all_pairs_of_six_virtual_nodes() -> None:
    problem, _ = equal_arcs("------", 1, 0.01, groups=400)
    ring = virtual(problem, 50)
    assert len(copysets(problem, ring).nodes) == 15
    assert loss(problem, ring).value == pytest.approx(1.460e-3, rel=5e-4)


@pytest.mark.parametrize(("often", "least", "most"), [(1.0, 0.6, 0.999), (0.1, 6.0, 9.99), (1e-3, 600.0, 999.0)])
def test_a_tier_helps_as_much_as_it_fails_less_often(often: float, least: float, most: float) -> None:
    """The claim of [Cidon2015] needs a tier that fails less often: one that is like the workers hurts survival."""
    problem, ring = equal_arcs("abcabdacdbcde", 2, 0.001, 0.003)
    vault = np.arange(13) == 12
    problem = replace(problem, members=~vault, tier=vault)
    problem = replace(problem, down=problem.down * np.where(vault, often, 1.0))
    problem = replace(problem, zone_down=problem.zone_down * np.where(np.arange(len(problem.zones)) == 4, often, 1.0))
    ring = Ring(np.arange(12) / 12, np.arange(12))
    without, tiered = survival(problem, ring), survival(problem, Ring(ring.token, ring.node, np.full(12, 12)))
    assert without is not None
    assert tiered is not None
    assert least <= without["loss_probability"] / tiered["loss_probability"] <= most
    vault_down = 1.0 - (1.0 - 0.001 * often) * (1.0 - 0.003 * often)
    other_down = 1.0 - (1.0 - 0.001) * (1.0 - 0.003)
    ratio = without["expected_lost_bytes"] / tiered["expected_lost_bytes"]
    assert ratio == pytest.approx(other_down / vault_down)


@QUICK
@given(rings())
def test_loss_is_the_sum_over_every_failure(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    lost, expected = every.loss(problem, ring)
    found = loss(problem, ring)
    assert (found.low, found.value, found.method) == (found.high, found.high, "exact")
    assert found.value == pytest.approx(float(lost), rel=1e-12, abs=0.0)
    assert expected_lost_bytes(problem, copysets(problem, ring)) == pytest.approx(float(expected), rel=1e-12, abs=0.0)


@settings(max_examples=15, deadline=None)
@given(rings(8, zones_fail=False, kinds=("simple", "tier")))
def test_runs_are_the_sum_over_every_failure(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    found = ring_survival.run_loss(problem, ring)
    assert found is not None
    assert found[0] == found[1] == pytest.approx(float(every.loss(problem, ring)[0]), rel=1e-12, abs=0.0)


@QUICK
@given(rings())
def test_bounds_hold_where_nothing_is_exact(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    exact = float(every.loss(problem, ring)[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ring_survival, "MOST_HOLDERS", 0)
        patch.setattr(ring_survival, "MOST_BRANCHED_SETS", 0)
        patch.setattr(ring_set_bounds, "CLOSE_ENOUGH", 1.0)
        for states in (1, 2, 100):
            patch.setattr(ring_survival, "MOST_ZONE_STATES", states)
            found = ring_survival.set_loss(problem, copysets(problem, ring), 0)
            assert found.low * (1 - 1e-12) <= exact <= found.high * (1 + 1e-12)
            assert found.value == found.high
    if ring.simple:
        runs = ring_survival.run_loss(problem, ring)
        assert runs is not None
        assert runs[0] == runs[1] == pytest.approx(exact, rel=1e-12, abs=0.0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ring_zone_states, "MOST_COPIED", 1.0)
            bounds = ring_survival.run_loss(problem, ring)
        assert bounds is not None
        assert bounds[0] * (1 - 1e-12) <= exact <= bounds[1] * (1 + 1e-12)


def test_tiny_probabilities_are_accurate() -> None:
    problem, ring = equal_arcs("------", 1, 1e-150)
    assert loss(problem, ring).value == pytest.approx(6e-300, rel=1e-12)
    assert loss(problem, Ring(ring.token, ring.node, np.roll(ring.node, -1))).value == pytest.approx(6e-300, rel=1e-12)
    sets = frozenset(map(frozenset, (("a", "b"), ("b", "c"), ("d", "e"))))
    found = union_probability(sets, dict.fromkeys("abcde", 1e-100), {}, {})
    assert found.low == found.high == pytest.approx(3e-200, rel=1e-12)


def test_twenty_zones_are_exact() -> None:
    """Against zones taken for nodes: 20 zones of two nodes that never fail alone are 20 nodes that do."""
    zones = "abcdefghijklmnopqrst"
    problem, ring = equal_arcs(zones * 2, 1, 0.0, 0.05, 80)
    alike, small = equal_arcs("-" * 20, 1, 0.05)
    found = loss(problem, ring)
    assert found.method == "exact"
    assert found.value == pytest.approx(loss(alike, small).value, rel=1e-12)


@QUICK
@given(rings(6))
def test_bounds_agree_with_every_failure(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    problem = replace(problem, zone_down=np.zeros(len(problem.zones)))
    exact = loss(problem, ring).value
    rows = reduced(copysets(problem, ring).nodes, problem.down)
    low, high = union_bounds(rows, problem.down)
    assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)


def test_large_rings_of_virtual_nodes_are_sampled_or_bounded() -> None:
    """All pairs of 40 nodes: loss unless at most one is down."""
    problem = ring_problem([1.0] * 8000, [1.0] * 40)
    ring = virtual(problem, 400)
    assert len(copysets(problem, ring).nodes) == 40 * 39 // 2
    for down, method in ((1e-5, "bounded"), (0.02, "sampled")):
        problem = replace(problem, down=np.full(40, down))
        exact = sum(
            float(np.prod([down] * k)) * (1 - down) ** (40 - k) * len(list(combinations(range(40), k)))
            for k in range(2, 5)
        )
        found = loss(problem, ring)
        assert found.method == method
        assert found.low <= found.value <= found.high
        assert found.value == pytest.approx(exact, rel=0.1 if method == "sampled" else 1e-3)
        assert found == loss(problem, ring)


@QUICK
@given(rings(kinds=("simple", "virtual")))
def test_more_copies_never_lose_more(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    losses = [loss(replace(problem, replication=r), ring).value for r in range(len(ring.nodes))]
    assert all(more <= less * (1 + 1e-12) for less, more in pairwise(losses))


def test_document() -> None:
    problem, ring = equal_arcs("ababab", 1, 0.001, 0.01)
    found = survival(problem, ring)
    assert found is not None
    assert found["survival"] == 1.0 - found["loss_probability"]
    assert found["expected_lost_bytes"] == pytest.approx(60 * (0.01 + 0.99 * 0.001) ** 2)
    assert survival(replace(problem, probabilities_known=False), ring) is None
    unknown = survival(replace(problem, state_known=False), ring)
    assert unknown is not None
    assert unknown["expected_lost_bytes"] is None


@QUICK
@given(rings(6))
def test_samples_of_nodes_and_zones_agree_with_every_failure(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    exact = loss(problem, ring).value
    rows = copysets(problem, ring).nodes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ring_sampled_loss, "MOST_SAMPLES", 2_000)
        found = ring_sampled_loss.sampled_loss(problem, rows, 0)
        assert found == ring_sampled_loss.sampled_loss(problem, rows, 0)
    assert found is not None
    assert found.low <= found.value <= found.high
    wide = 4 * (found.high - found.low)  # 99 % are not all of hundreds of examples
    assert found.low - wide <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= found.high + wide
    assert exact <= ring_sampled_loss.harris(problem, rows) * (1 + 1e-12)


def test_rings_over_many_zones_are_sampled() -> None:
    """200 zones of two nodes that never fail alone, the same twice around, are 200 nodes that do."""
    problem = ring_problem([1.0] * 800, [1.0] * 400)
    names = tuple(f"z{k}" for k in range(200))
    down = np.zeros(400)
    problem = replace(problem, zones=names, zone=np.arange(400) % 200, zone_down=np.full(200, 0.02), down=down)
    found = loss(problem, even_ring(problem))
    alike = ring_problem([1.0] * 400, [1.0] * 200, down=np.full(200, 0.02))
    exact = loss(alike, even_ring(alike)).value
    assert (found.method, found == loss(problem, even_ring(problem))) == ("sampled", True)
    assert found.low <= exact <= found.high
    assert found.high - found.low < 0.1 * exact
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ring_sampled_loss, "MOST_SET_CHECKS", 0.0)
        proven = loss(problem, even_ring(problem))
    assert proven.method == "bounded"
    assert proven.low <= exact <= proven.high == proven.value


def test_very_many_copies_are_branched_on_or_bounded() -> None:
    problem = ring_problem([1.0] * 40, [1.0] * 40, replication=30)
    exact = loss(problem, even_ring(problem))
    assert exact.method == "exact"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ring_survival, "MOST_CHANGES", 1e4)
        assert loss(problem, even_ring(problem)).value == pytest.approx(exact.value, rel=1e-12)
        patch.setattr(ring_survival, "MOST_BRANCHED_SETS", 0)
        found = loss(problem, even_ring(problem))
    assert found.low <= exact.value <= found.high <= 40 * 0.01**31 * (1 + 1e-12)


@QUICK
@given(st.integers(1, 20), st.integers(1, 6), st.integers(0, 1000))
def test_samples_are_counted_one_by_one(samples: int, sets: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    dead, rows = random.random((samples, 5)) < 0.6, random.integers(0, 5, (sets, 2))
    chosen = random.integers(0, sets, samples)
    dead[np.arange(samples)[:, None], rows[chosen]] = True
    down = np.asarray(dead[:, rows].all(axis=2))
    assert hits(dead, rows, None) == int(down.any(axis=1).sum())
    assert hits(dead, rows, chosen) == int((down.argmax(axis=1) == chosen).sum())
