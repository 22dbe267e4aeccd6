"""The exact planner of rings against all rings, and what it says where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import SearchOptions
from ftplan.planners.peer_ring.algorithms.baselines import baselines
from ftplan.planners.peer_ring.algorithms.bounds import any_bound, load_bound
from ftplan.planners.peer_ring.algorithms.exact import exact
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from tests.effort import examples
from tests.planners.peer_ring.algorithms.cases import best_ring, even_ring, ring_problem

LOAD = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0, 7.0, 20.0])


@st.composite
def questions(draw: st.DrawFn) -> RingProblem:
    cpu = draw(st.lists(st.sampled_from([1.0, 2.0, 4.0, 8.0]), min_size=1, max_size=5))
    if draw(st.booleans()):
        cpu = [1.0] * len(cpu)
    loads = draw(st.lists(LOAD, min_size=len(cpu), max_size=9))
    zones = draw(st.text("aabc-", min_size=len(cpu), max_size=len(cpu)))
    replication = draw(st.integers(0, min(3, len(cpu) - 1)))
    return ring_problem(loads, cpu, zones, replication)


@settings(max_examples=60, deadline=None)
@given(questions())
def test_exact_against_all_rings(problem: RingProblem) -> None:
    """Violations first, then the largest load, both proven, whatever sizes, zones and heavy positions there are."""
    is_best(problem)


@pytest.mark.parametrize("seed", range(examples(40)))
def test_exact_against_all_rings_of_many_nodes(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(5, 7))
    size = int(random.integers(count, 11))
    load = random.choice([0.0, 1.0, 2.0, 3.0, 7.0, 20.0], size) if seed % 2 else random.exponential(size=size)
    cpu = random.choice([1.0, 2.0, 4.0, 8.0], count) if seed % 3 else random.uniform(0.1, 8.0, count)
    zones = "".join(random.choice(list("aabc-"), count))
    is_best(ring_problem(load.tolist(), cpu.tolist(), zones, int(random.integers(4))))


def is_best(problem: RingProblem) -> None:
    zones, largest = best_ring(problem)
    result = exact(problem, SearchOptions())
    answer = result.answer
    assert answer is not None
    assert result.bound is not None
    assert result.status == "optimal"
    assert problem.zone_cost(answer.ring) == (problem.least_losses, answer.violations_bound) == zones
    assert problem.largest_load(answer.ring) == pytest.approx(largest, rel=1e-9)
    assert result.bound <= largest * (1.0 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(questions(), st.integers(0, 1000))
def test_bounds_are_below_every_ring(problem: RingProblem, seed: int) -> None:
    _, largest = best_ring(replace(problem, zone=np.arange(len(problem.nodes))))
    assert any_bound(problem) <= load_bound(problem) <= largest * (1.0 + 1e-12)
    random = np.random.default_rng(seed)
    owner = problem.member[random.integers(len(problem.member), size=len(problem.position))]
    loads = np.bincount(owner, problem.load, minlength=len(problem.nodes))[problem.member]
    total = float(problem.load.sum())
    if total:
        share = problem.cpu[problem.member] / problem.cpu[problem.member].sum() * total
        assert any_bound(problem) <= float((loads / share).max()) * (1.0 + 1e-12)


def test_same_answer_twice_and_with_another_order_of_calls() -> None:
    random = np.random.default_rng(3)
    load, cpu = random.exponential(size=60).tolist(), random.choice([2.0, 4.0], 9).tolist()
    problem = ring_problem(load, cpu, "abcabcabc", 1)
    first, second = (exact(problem, SearchOptions()).answer for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.ring.token.tolist() == second.ring.token.tolist()
    assert first.ring.node.tolist() == second.ring.node.tolist()


def test_more_nodes_than_positions() -> None:
    problem = ring_problem([1.0, 2.0, 3.0], [4.0, 1.0, 2.0, 1.0, 4.0], replication=1)
    result = exact(problem, SearchOptions())
    assert (result.status, result.answer) == ("infeasible", None)
    why = result.infeasible
    assert why is not None
    assert (why.limit, why.current, why.needed) == ("key-groups", 3, 5)
    assert why.smallest_fix == "--remove n1 --remove n3"
    fixed = ring_problem([1.0, 2.0, 3.0], [4.0, 1.0, 2.0, 1.0, 4.0], replication=1, removed=[1, 3])
    assert exact(fixed, SearchOptions()).status == "optimal"


def test_more_nodes_than_positions_where_no_removal_helps() -> None:
    result = exact(ring_problem([1.0, 2.0], [1.0] * 4, replication=3), SearchOptions())
    assert result.infeasible is not None
    assert result.infeasible.smallest_fix == "operators with at least 4 key groups"
    single = exact(ring_problem([1.0], [1.0] * 2), SearchOptions()).infeasible
    assert single is not None
    assert single.reason == "2 nodes on the ring, but key groups at 1 place only: each node needs one of its own"


def test_a_ring_that_only_fails_stays() -> None:
    problem = ring_problem([1.0, 5.0, 2.0, 2.0], [1.0, 1.0], replication=1)
    ring = even_ring(problem)
    result = exact(replace(problem, current=ring, keep=True), SearchOptions())
    assert result.answer is not None
    assert (result.answer.steps, result.answer.ring) == ((), ring)
    assert problem.largest_load(ring) == pytest.approx(1.2)
    assert result.bound == pytest.approx(1.0)
    assert (problem.violations(ring), result.answer.violations_bound) == (0, 0)


def test_a_ring_that_stays_is_held_against_rings_like_it() -> None:
    """A node that owns nothing leaves others more, and one with several tokens has arcs that can be any."""
    problem = ring_problem([1.0, 5.0, 2.0, 2.0], [4.0, 4.0, 1.0], "aab", replication=1)
    idle = Ring(np.array([0.0, 0.3, 0.5]), np.array([0, 2, 1]))
    many = Ring(np.array([0.0, 0.25, 0.5, 0.75]), np.array([0, 1, 2, 0]))
    for ring, violations in ((idle, 1), (many, None)):
        result = exact(replace(problem, current=ring, keep=True), SearchOptions())
        assert result.answer is not None
        assert result.bound is not None
        assert result.bound <= problem.largest_load(ring)
        assert result.answer.violations_bound == violations


def test_no_load_at_all() -> None:
    problem = ring_problem([0.0] * 6, [1.0, 2.0, 1.0], "aab", 1)
    result = exact(problem, SearchOptions())
    assert result.status == "optimal"
    assert result.answer is not None
    assert (problem.largest_load(result.answer.ring), result.bound) == (0.0, 0.0)


def test_bounds_hold_at_scale_where_nothing_is_proven() -> None:
    random = np.random.default_rng(5)
    cpu = random.integers(2, 32, 60).astype(np.float64)
    problem = ring_problem(random.lognormal(size=512).tolist(), cpu.tolist(), "abcd" * 15, 1)
    result = exact(problem, SearchOptions())
    assert result.answer is not None
    assert result.bound is not None
    largest = problem.largest_load(result.answer.ring)
    assert 0.99 < result.bound <= largest < 1.06
    assert problem.violations(result.answer.ring) == 0


def test_baselines_are_no_better_than_what_is_proven() -> None:
    problem = ring_problem([1.0] * 64, [1.0] * 4, replication=1)
    known = baselines(problem, 0)
    result = exact(problem, SearchOptions())
    assert result.bound is not None
    assert known["random"]["largest_load"] > result.bound
    assert known["virtual_nodes"]["largest_load"] >= any_bound(problem)
    assert known == baselines(problem, 0)


def test_memory_does_not_grow_with_replication() -> None:
    """Histories of as many zones as there are nodes are counted, not made."""
    cpu = [1.0, 2.0] * 20
    problem = ring_problem(np.arange(1.0, 81.0).tolist(), cpu, "ab" * 20, replication=30)
    result = exact(problem, SearchOptions(iterations=10))
    assert result.answer is not None
    assert isinstance(result.answer.ring, Ring)
