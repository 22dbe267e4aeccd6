"""Cuts of a ring in a given order: the least largest load, against all cuts."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.compiled import called_often
from ftplan.planners.peer_ring.algorithms.partition import partition, ring_of, scattered
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from tests.planners.peer_ring.algorithms.cases import ring_problem

LOADS = st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.0, 3.0, 7.0, 20.0]), min_size=1, max_size=9)
CPUS = st.lists(st.sampled_from([1.0, 2.0, 4.0, 8.0]), min_size=1, max_size=5)


def least(problem: RingProblem, order: list[int]) -> float:
    """Return the least largest load of the order, turned in every way, over all first positions."""
    best = np.inf
    for first in combinations(range(len(problem.position)), len(order)):
        for turn in range(len(order)):
            ring = Ring(problem.position[list(first)], np.roll(np.array(order), turn))
            best = min(best, problem.largest_load(ring))
    return best


@settings(max_examples=80, deadline=None)
@given(LOADS, CPUS, st.randoms(use_true_random=False))
def test_partition_against_all_cuts(loads: list[float], cpu: list[float], random: Random) -> None:
    cpu = cpu[: len(loads)]
    problem = ring_problem(loads, cpu, replication=0)
    order = list(range(len(cpu)))
    random.shuffle(order)
    cuts = partition(problem, np.array(order))
    assert cuts.largest == pytest.approx(least(problem, order), rel=1e-11, abs=1e-15)
    ring = ring_of(problem, np.array(order), cuts.first)
    assert problem.largest_load(ring) == cuts.largest
    turned = np.roll(ring.node, -ring.node.tolist().index(order[0]))
    assert turned.tolist() == order
    assert len(set(cuts.first.tolist())) == len(order)


def test_a_position_too_heavy_for_the_node_beside_it() -> None:
    """Greedy arcs would leave the small node nothing: it gets a light position, and the arc before ends there."""
    problem = ring_problem([8.0, 1.0, 8.0, 8.0, 1.0], [8.0, 1.0, 8.0], replication=0)
    cuts = partition(problem, np.array([0, 1, 2]))
    assert cuts.largest == pytest.approx(least(problem, [0, 1, 2]), rel=1e-12)


def test_compiled_and_plain_agree() -> None:
    random = np.random.default_rng(7)
    problem = ring_problem(random.exponential(size=60).tolist(), random.choice([1.0, 3.0], 9).tolist(), replication=0)
    plain = partition(problem, np.arange(9))
    with called_often():
        fast = partition(problem, np.arange(9))
    assert (plain.first.tolist(), plain.largest) == (fast.first.tolist(), fast.largest)


def test_without_load_arcs_are_even() -> None:
    cuts = partition(ring_problem([0.0] * 12, [1.0] * 4, replication=0), np.arange(4))
    assert cuts.largest == 0.0
    assert sorted(np.diff(np.sort(cuts.first)).tolist()) == [3, 3, 3]


def test_within_the_limit_arcs_are_near_fair_shares() -> None:
    """One heavy position decides the largest load; the others still share what is left."""
    cuts = partition(ring_problem([10.0] + [1.0] * 9, [1.0] * 4, replication=0), np.arange(4))
    ring_loads = np.sort(np.diff(np.append(np.sort(cuts.first), np.sort(cuts.first)[0] + 10)))
    assert ring_loads[-1] <= 5


def test_below_and_at_least_end_the_search() -> None:
    problem = ring_problem([1.0, 2.0, 3.0, 4.0], [1.0, 1.0], replication=0)
    best = partition(problem, np.array([0, 1])).largest
    assert not len(partition(problem, np.array([0, 1]), below=best).first)
    assert partition(problem, np.array([0, 1]), at_least=best).largest == best


def test_start_may_be_given() -> None:
    problem = ring_problem([1.0, 2.0, 3.0, 4.0], [1.0, 2.0], replication=0)
    cuts = partition(problem, np.array([0, 1]), starts=np.array([2]))
    assert cuts.first[0] == 2


def test_scattered_visits_each_place_once() -> None:
    for count in range(1, 40):
        assert sorted(scattered(count, 5, 50).tolist()) == list(range(5, 5 + count))
    assert sorted(scattered(7, 5, 7).tolist()) == list(range(7))


@pytest.mark.parametrize(("loads", "expected"), [("equal", 1.007), ("exponential", 1.04)])
def test_at_scale_near_the_mean(loads: str, expected: float) -> None:
    random = np.random.default_rng(0)
    load = np.ones(32_768) if loads == "equal" else random.exponential(size=32_768)
    problem = ring_problem(load.tolist(), [1.0] * 1000, replication=1)
    assert partition(problem, np.arange(1000)).largest == pytest.approx(expected, abs=0.012)
