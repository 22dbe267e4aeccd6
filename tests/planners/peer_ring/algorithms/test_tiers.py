"""Where the last copies lie: against every choice, and what tiers are worth and what not."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import SearchOptions
from ftplan.planners.peer_ring.algorithms import tiers
from ftplan.planners.peer_ring.algorithms.exact import exact
from ftplan.planners.peer_ring.algorithms.tiers import with_tier
from ftplan.planners.peer_ring.moves import moved_bytes
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.survival.copysets import copysets, expected_lost_bytes
from ftplan.planners.peer_ring.survival.survival import loss
from ftplan.planners.peer_ring.survival.tolerance import tolerance
from ftplan.planners.peer_ring.tier import tier_figures
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_problem, with_current

QUICK = settings(max_examples=60, deadline=None)


@st.composite
def questions(draw: st.DrawFn) -> tuple[RingProblem, Ring]:
    """Return a question with two or three nodes of the tier, and a ring of the others without last copies."""
    nodes, tier, replication = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    letters = draw(st.text("aabbc-", min_size=nodes, max_size=nodes)) + draw(
        st.text("abcd", min_size=tier, max_size=tier)
    )
    groups = draw(st.integers(nodes, 8))
    state = draw(st.lists(st.integers(0, 9).map(float), min_size=groups, max_size=groups))
    cpu = draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=nodes + tier, max_size=nodes + tier))
    problem = ring_problem([1.0] * groups, cpu, letters, replication, state, tier=range(nodes, nodes + tier))
    return problem, even_ring(problem, draw(st.permutations(range(nodes))))


def every_choice(problem: RingProblem, ring: Ring) -> list[Ring]:
    nodes = np.flatnonzero(problem.tier).tolist()
    return [Ring(ring.token, ring.node, np.array(last)) for last in product(nodes, repeat=len(ring.token))]


@QUICK
@given(questions())
def test_last_copies_are_apart_wherever_they_can_be(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    planned = with_tier(problem, ring)
    figures = tier_figures(problem, planned)
    others = every_choice(problem, ring)
    assert problem.violations(planned) == min(map(problem.violations, others))
    assert figures["apart"] == max(tier_figures(problem, other)["apart"] for other in others)
    if len(ring.nodes) > problem.replication:  # else all arcs have the same holders, which would be uneven
        assert len(copysets(problem, planned).nodes) == min(len(copysets(problem, other).nodes) for other in others)
    assert sum(item["arcs"] for item in figures["nodes"]) == len(ring.token)
    assert sum(item["state_bytes"] for item in figures["nodes"]) == pytest.approx(problem.state.sum())


@QUICK
@given(questions())
def test_last_copies_are_even(case: tuple[RingProblem, Ring]) -> None:
    """As even as can be where all choices are looked at; else often, and close."""
    problem, ring = case
    figures = tier_figures(problem, with_tier(problem, ring))
    others = [tier_figures(problem, other) for other in every_choice(problem, ring)]
    best = min(other["largest"] for other in others if other["apart"] == figures["apart"])
    assert figures["bound"] <= best * (1 + 1e-12)
    if len(ring.nodes) > problem.replication:
        assert figures["largest"] == pytest.approx(best)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiers, "MOST_CHOICES_ENUMERATED", 0)
        searched = tier_figures(problem, with_tier(problem, ring))
    assert figures["largest"] <= searched["largest"] * (1 + 1e-12) <= 3 * figures["largest"] + 1e-9
    assert searched["apart"] == figures["apart"]


@QUICK
@given(questions(), st.data())
def test_last_copies_stay_where_they_are(case: tuple[RingProblem, Ring], data: st.DataObject) -> None:
    problem, ring = case
    nodes = np.flatnonzero(problem.tier)
    last = data.draw(st.lists(st.sampled_from(nodes.tolist()), min_size=len(ring.token), max_size=len(ring.token)))
    order = data.draw(st.permutations(ring.node.tolist()))
    current = Ring(ring.token, np.array(order), np.array(last))
    problem = replace(problem, current=current)
    planned = with_tier(problem, ring)
    fewest = problem.violations(planned)
    others = every_choice(problem, ring)
    apart = tier_figures(problem, planned)["apart"]
    assert fewest == min(map(problem.violations, others))
    assert moved_bytes(problem, current, planned) == pytest.approx(
        min(moved_bytes(problem, current, o) for o in others if tier_figures(problem, o)["apart"] == apart)
    )


def test_large_tiers_are_even() -> None:
    random = np.random.default_rng(0)
    state = random.exponential(1e6, 8192)
    problem = ring_problem(
        [1.0] * 8192, [1.0] * 200 + [1.0, 2.0, 4.0], "ab" * 100 + "vvv", 1, state.tolist(), tier=(200, 201, 202)
    )
    planned = with_tier(problem, even_ring(problem))
    figures = tier_figures(problem, planned)
    assert figures["apart"] == 200
    assert figures["bound"] == pytest.approx(1.0)
    assert 1.0 <= figures["largest"] < 1.001
    assert with_tier(problem, even_ring(problem)).tier.tolist() == planned.tier.tolist()  # type: ignore[union-attr]


def test_virtual_nodes_with_the_same_holders_share_a_last_copy() -> None:
    random = np.random.default_rng(0)
    problem = ring_problem([1.0] * 4096, [1.0] * 9, "abcdef" + "vvv", 2, tier=(6, 7, 8))
    ring = Ring(np.sort(random.random(300)), random.permutation(np.repeat(np.arange(6), 50)))
    planned = with_tier(problem, ring)
    pairs = {tuple(sorted(row)) for row in ring.holders(1).tolist()}
    assert len(copysets(problem, planned).nodes) == len(pairs) == 15


@QUICK
@given(questions(), st.data())
def test_a_tier_that_fails_no_more_often_loses_no_more_on_average(
    case: tuple[RingProblem, Ring], data: st.DataObject
) -> None:
    """The last copy's node is up whatever else fails; clockwise it may be in a zone with the others."""
    problem, ring = case
    if len(ring.nodes) <= problem.replication:
        return
    chances = st.sampled_from([0.0, 0.01, 0.1, 0.5])
    down = np.array([data.draw(chances) for _ in problem.nodes])
    zone_down = np.array([data.draw(chances) for _ in problem.zones])
    down[problem.tier] = down[~problem.tier].min()
    zone_down[problem.zone[problem.tier]] = zone_down.min()
    problem = replace(problem, down=down, zone_down=zone_down)
    planned = with_tier(problem, ring)
    if tier_figures(problem, planned)["apart"] < len(ring.token):
        return
    without = expected_lost_bytes(problem, copysets(problem, ring))
    assert expected_lost_bytes(problem, copysets(problem, planned)) <= without * (1 + 1e-12)


def test_a_tier_may_make_some_loss_more_likely() -> None:
    """abab loses something if both zones fail; with last copies in v, if v and any other does: twice as likely."""
    problem = ring_problem([1.0] * 8, [1.0] * 5, "ababv", 1, tier=(4,), zone_down=np.full(3, 0.01))
    problem = replace(problem, down=np.zeros(5))
    ring = even_ring(problem)
    planned = with_tier(problem, ring)
    assert loss(problem, ring).value == pytest.approx(1e-4)
    assert loss(problem, planned).value == pytest.approx(0.01 * (1 - 0.99**2))
    both = [copysets(problem, one) for one in (ring, planned)]
    assert expected_lost_bytes(problem, both[0]) == pytest.approx(expected_lost_bytes(problem, both[1]))


def test_a_tier_helps_where_neighbours_share_a_zone() -> None:
    problem = ring_problem([1.0] * 8, [1.0] * 5, "aabbv", 1, tier=(4,), zone_down=np.full(3, 0.01))
    planned = with_tier(problem, even_ring(problem))
    found = tolerance(problem, planned)
    assert found["survival"]["loss_probability"] < found["without_tier"]["survival"]["loss_probability"] / 10
    assert (found["one_zone"]["harmless"], found["without_tier"]["one_zone"]["harmless"]) == (True, False)
    assert found["tier"]["nodes"] == [{"node": "n4", "zone": "v", "arcs": 4, "state_bytes": 8.0}]


@QUICK
@given(questions(), st.integers(0, 3))
def test_more_copies_never_lose_more_with_the_same_tier(case: tuple[RingProblem, Ring], seed: int) -> None:
    problem, ring = case
    problem = replace(problem, down=np.random.default_rng(seed).random(len(problem.nodes)))
    planned = with_tier(problem, ring)
    losses = [loss(replace(problem, replication=r), planned).value for r in range(1, len(ring.nodes) + 1)]
    assert losses == pytest.approx(sorted(losses, reverse=True), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(questions(), st.booleans(), st.data())
def test_planned_anew_the_last_copies_are_where_they_are_asked_for(
    case: tuple[RingProblem, Ring], more: bool, data: st.DataObject
) -> None:
    """Whatever tier the ring in place has; what is proven of bytes holds for the ring that is planned."""
    problem, ring = case
    nodes = np.flatnonzero(problem.tier).tolist()
    last = data.draw(st.lists(st.sampled_from(nodes), min_size=len(ring.token), max_size=len(ring.token)))
    current = Ring(ring.token, ring.node, np.array(last) if more else None)
    if not more and len(ring.nodes) <= problem.replication:
        return
    now = problem.tier.copy()
    now[nodes[1:]] = data.draw(st.booleans())
    asked = with_current(problem, current, tier=np.flatnonzero(now).tolist(), members=ring.nodes.tolist())
    result = exact(asked, SearchOptions(iterations=50))
    assert result.answer is not None
    planned = result.answer.ring
    assert planned.tier is not None
    assert asked.tier[planned.tier].all()
    bound = result.answer.bytes_bound
    assert bound is not None
    assert bound <= moved_bytes(asked, current, planned) * (1 + 1e-9)
    if not more:
        assert bound >= asked.worth.sum() * (1 - 1e-9)


def test_a_ring_that_one_zone_destroys_with_its_tier_does_not_stay() -> None:
    """Three arcs have two copies in one zone, one of them all three in the tier's: apart, all four have two there."""
    problem = ring_problem([1.0] * 4, [1.0] * 5, "aa--a", 2, [0.0, 0.0, 0.0, 1.0], tier=[4])
    current = Ring(problem.position, np.array([2, 1, 0, 3]), np.array([4, 4, 4, 4]))
    result = exact(with_current(problem, current), SearchOptions(iterations=50))
    assert result.answer is not None
    assert problem.zone_cost(current) == (1, 3)
    assert (result.status, problem.zone_cost(result.answer.ring)) == ("optimal", (0, 4))


def test_neighbours_are_apart_with_a_tier_too() -> None:
    problem = ring_problem([1.0] * 24, [1.0] * 9, "aaabbbccv"[:8] + "v", 1, tier=(8,))
    result = exact(problem, SearchOptions(iterations=50))
    assert result.answer is not None
    planned = result.answer.ring
    assert problem.violations(planned) == problem.violations(Ring(planned.token, planned.node)) == 0


@settings(max_examples=30, deadline=None)
@given(questions())
def test_violations_are_bounded_where_members_are_in_zones_of_the_tier(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    result = exact(problem, SearchOptions(iterations=50))
    if result.answer is None:
        return
    bound = result.answer.violations_bound
    assert bound is not None
    orders = (even_ring(problem, order) for order in permutations(ring.node.tolist()))
    best = min(problem.violations(with_tier(problem, other)) for other in orders)
    assert bound <= best
    zones = np.unique(problem.zone[problem.tier])
    if problem.replication == 1 and len(zones) == 1:
        assert bound == best == problem.violations(result.answer.ring)
