"""Random tokens and negotiation: what the paper's ring comes to, and what is planned of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.peer_ring.algorithms import paper as ring_paper
from ftplan.planners.peer_ring.algorithms.outcome import at_positions
from ftplan.planners.peer_ring.algorithms.paper import negotiate_by_round, paper, random_ring
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem
from ftplan.planners.peer_ring.ring import Ring, positions_of_arcs
from ftplan.planners.peer_ring.rules import broken, same_circle
from ftplan.planners.result import Result
from tests.planners.peer_ring.algorithms.cases import best_ring, even_ring, ring_of, ring_problem, with_current


def planned(problem: RingProblem, seed: int = 0, iterations: int | None = None) -> Result[RingAnswer]:
    return paper(problem, SearchOptions(seed, iterations=iterations))


def answer(problem: RingProblem, seed: int = 0) -> RingAnswer:
    found = planned(problem, seed).answer
    assert found is not None
    return found


def tokens(ring: Ring) -> dict[int, float]:
    return dict(zip(ring.node.tolist(), ring.token.tolist(), strict=True))


def eight(capacity: Any = 10.0, nodes: int = 4, **others: Any) -> RingProblem:
    """Sixteen key groups of load 1; four nodes with a quarter each are at 4."""
    return ring_problem([1.0] * 16, [1.0] * nodes, capacity=np.full(nodes, 1.0) * capacity, **others)


def codes(result: Result[RingAnswer]) -> list[str]:
    return [warning.code for warning in result.warnings]


def test_random_tokens_are_distinct_positions_in_random_order() -> None:
    problem = eight(nodes=9)
    rings = [random_ring(problem, seed) for seed in range(3)]
    for ring in rings:
        assert np.isin(ring.token, problem.position).all()
        assert (np.diff(ring.token) > 0).all()
        assert ring.nodes.tolist() == list(range(9))
    assert len({tuple(ring.node.tolist()) for ring in rings}) == 3


def test_neighbours_help_until_nobody_is_overloaded() -> None:
    problem = with_current(eight(8.0), ring_of(eight(), [0, 1, 2, 3], [0, 10, 12, 14]))
    found = answer(problem)
    assert [step.event for step in found.steps] == ["balance", "balance"]
    assert tokens(found.steps[0].ring) == {0: 0.0, 1: 5 / 16, 2: 12 / 16, 3: 14 / 16}
    assert tokens(found.ring) == {0: 0.0, 1: 5 / 16, 2: 9 / 16, 3: 14 / 16}
    assert found.out_of_room == ()


def test_a_chain_is_a_move_each() -> None:
    """Node 1 is full too: it first gives half to 2, and then takes half from 0."""
    capacity = np.array([8.0, 2.0, 20.0, 20.0])
    problem = with_current(eight(capacity), ring_of(eight(), [0, 1, 2, 3], [0, 8, 10, 12]), overload=0.85)
    found = planned(replace(problem, thresholds=replace(problem.thresholds, cpu_high=0.95)))
    assert found.answer is not None
    first, second = (tokens(step.ring) for step in found.answer.steps[:2])
    assert first == {0: 0.0, 1: 8 / 16, 2: 9 / 16, 3: 12 / 16}
    assert second == {0: 0.0, 1: 4 / 16, 2: 9 / 16, 3: 12 / 16}


def test_nobody_can_help() -> None:
    problem = with_current(eight(4.1), even_ring(eight()))
    result = planned(problem)
    assert result.answer is not None
    assert (result.answer.steps, result.answer.out_of_room) == ((), (0, 1, 2, 3))
    assert result.reason == "no change: no node can take load"


def test_nobody_asks() -> None:
    result = planned(with_current(eight(), even_ring(eight())))
    assert (result.reason, result.warnings) == ("no change: no node is overloaded", ())


def test_a_single_position_cannot_be_divided() -> None:
    problem = ring_problem([9.0, 1.0, 1.0, 1.0], [1.0] * 3, capacity=np.full(3, 9.0))
    result = planned(with_current(problem, ring_of(problem, [0, 1, 2], [0, 1, 2])))
    assert codes(result) == ["ONE_POSITION"]
    assert result.reason == "no change: what overloads a node lies at one position"


def test_what_goes_in_circles_is_left_out() -> None:
    """A heavy position overloads whoever has it: the plan ends where the ring was most even first."""
    load = [1.0] * 12
    load[3] = 30.0
    problem = ring_problem(load, [1.0] * 4, capacity=np.full(4, 20.0))
    before = even_ring(problem)
    result = planned(with_current(problem, before))
    assert result.answer is not None
    assert problem.largest_load(result.answer.ring) <= problem.largest_load(before)
    for step in result.answer.steps[:-1]:
        assert problem.largest_load(step.ring) > problem.largest_load(result.answer.ring)


def test_moves_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ring_problem([1.0] * 128, [1.0] * 6, capacity=np.full(6, 128 / 6 / 0.7))
    assert codes(planned(problem)) == ["NEGOTIATION_ENDED"]
    monkeypatch.setattr(ring_paper, "MOST_ROUNDS", 1)
    assert codes(planned(problem)) == ["NEGOTIATION_ENDED"]


@pytest.mark.parametrize("seed", range(4))
def test_more_rounds_are_never_worse(seed: int) -> None:
    problem = ring_problem(np.random.default_rng(seed).exponential(size=64).tolist(), [1.0] * 6)
    problem = replace(problem, capacity=np.full(6, problem.load.sum() / 6 / 0.7))
    found = [planned(problem, seed, iterations).answer for iterations in (1, 2, 5, 20, None)]
    values = [problem.largest_load(one.ring) for one in found if one is not None]
    assert values == sorted(values, reverse=True)
    assert values[-1] <= problem.largest_load(random_ring(problem, seed))


def test_a_target_ends_the_negotiation() -> None:
    problem = ring_problem([1.0] * 64, [1.0] * 4, capacity=np.full(4, 64 / 4 / 0.7))
    current = ring_of(problem, [0, 1, 2, 3], [0, 60, 61, 62])
    ends = [len(answer(with_current(problem, current, target_load=x)).steps) for x in (None, 1.5, 2.5, 3.9)]
    assert ends == sorted(ends, reverse=True)
    assert ends[-1] == 0 < ends[0]
    enough = planned(with_current(problem, current, target_load=3.9))
    assert (enough.reason, codes(enough)) == ("no change: the largest load is within --target-load", [])
    result = planned(with_current(problem, current, target_load=2.5))
    assert "target-load" in result.rules


@pytest.mark.parametrize("most", [0.0, 5.0, 20.0, 30.0, 1e9])
def test_bytes_are_a_limit_of_moves(most: float) -> None:
    problem = ring_problem([1.0] * 64, [1.0] * 4, capacity=np.full(4, 64 / 4 / 0.7))
    problem = with_current(problem, ring_of(problem, [0, 1, 2, 3], [0, 60, 61, 62]), max_bytes=most)
    result = planned(problem)
    assert result.answer is not None
    assert worth_moved(problem, result.answer.steps) <= most
    assert "max-bytes" in result.rules
    assert ("MOVES_LEFT_OUT" in codes(result)) == (most < 1e9)
    if most == 0.0:
        assert result.reason == "no change: no move of half an arc within --max-bytes makes the ring more even"


def test_a_new_node_halves_the_fullest_arc() -> None:
    """Load over capacity counts, and the next one looks at the ring after the first."""
    capacity = np.array([10.0, 10.0, 2.0, 10.0, 10.0, 10.0])
    problem = eight(capacity, nodes=6, members=range(4))
    problem = with_current(problem, ring_of(problem, [0, 1, 2, 3], [0, 8, 10, 12]), members=range(6), added=[4, 5])
    found = answer(problem)
    assert [step.event for step in found.steps] == ["scale-out", "scale-out"]
    assert tokens(found.steps[0].ring) == {0: 0.0, 1: 8 / 16, 2: 10 / 16, 4: 11 / 16, 3: 12 / 16}
    assert tokens(found.ring)[5] == 4 / 16


def test_who_cannot_be_divided_is_no_place_for_a_new_node() -> None:
    problem = ring_problem([9.0, 1.0, 1.0], [1.0] * 3, members=range(2), capacity=np.full(3, 10.0))
    problem = with_current(problem, ring_of(problem, [0, 1], [0, 1]), members=range(3), added=[2])
    assert tokens(answer(problem).ring) == {0: 0.0, 1: 1 / 3, 2: 2 / 3}


def test_who_leaves_is_followed_by_the_neighbour() -> None:
    problem = with_current(eight(10.0), even_ring(eight()), removed=[1, 2], overload=1.2)
    found = answer(problem)
    assert [(step.event, tokens(step.ring)) for step in found.steps] == [
        ("scale-in", {0: 0.0, 1: 0.25, 3: 0.5}),
        ("scale-in", {0: 0.0, 3: 0.25}),
    ]
    assert "capacity" in planned(problem).rules


def test_the_sum_of_both_loads_is_checked() -> None:
    """8 of 10 is within 0.85; 12 of 10 is not, and the overload that is needed is enough."""
    assert planned(with_current(eight(), even_ring(eight()), removed=[1])).status == "feasible"
    problem = with_current(eight(), even_ring(eight()), removed=[1, 2])
    why = planned(problem).infeasible
    assert why is not None
    assert (why.limit, why.current, why.needed) == ("capacity", 0.85, 1.2)
    assert why.smallest_fix.startswith("--overload 1.2")
    assert planned(replace(problem, overload=1.2)).status == "feasible"


def test_nodes_join_after_others_leave_where_there_is_no_room_for_both() -> None:
    problem = ring_problem([1.0] * 4, [1.0] * 6, members=range(4), capacity=np.full(6, 10.0))
    problem = with_current(problem, even_ring(problem), members=[2, 3, 4, 5], removed=[0, 1], added=[4, 5])
    found = answer(problem)
    assert [step.event for step in found.steps] == ["scale-in"] * 2 + ["scale-out"] * 2
    assert sorted(found.ring.node.tolist()) == [2, 3, 4, 5]


def test_more_nodes_than_positions() -> None:
    why = planned(ring_problem([1.0] * 3, [1.0] * 4)).infeasible
    assert why is not None
    assert why.limit == "key-groups"


def test_windows_make_queues() -> None:
    """Load 12 of 10 for ten seconds: two seconds of work wait, and the neighbour takes half; then it is calm."""
    hot = np.array([3.0] * 4 + [0.5] * 12)
    windows = np.array([np.ones(16), hot, hot, np.ones(16)])
    problem = eight(10.0, windows=windows, window_s=10.0, rebalance=True)
    problem = replace(problem, load=windows.mean(axis=0))
    problem = with_current(problem, even_ring(problem))
    found = answer(problem)
    assert [step.event for step in found.steps] == ["balance"]
    assert tokens(found.ring) == {0: 0.0, 1: 2 / 16, 2: 0.5, 3: 0.75}
    patient = replace(problem, thresholds=replace(problem.thresholds, hold=3))
    assert answer(patient).steps == ()
    short = replace(problem, thresholds=replace(problem.thresholds, queue_high_s=2.5))
    assert len(answer(short).steps) == 1  # by the end of the second hot window four seconds wait
    assert answer(replace(short, windows=windows[:2])).steps == ()
    waiting = replace(short, windows=windows[:2], queue_s=np.array([7.0, 0.0, 0.0, 0.0]))
    assert len(answer(waiting).steps) == 1


def test_windows_in_which_nobody_can_help_are_counted() -> None:
    windows = np.array([np.full(16, 1.0), np.full(16, 3.0), np.full(16, 3.0), np.full(16, 0.1)])
    problem = eight(10.0, windows=windows, window_s=10.0, rebalance=True)
    result = planned(with_current(problem, even_ring(problem)))
    assert [warning.message for warning in result.warnings] == [
        "in 2 of 4 windows an overloaded node found none that can take load"
    ]
    assert result.answer is not None
    assert result.answer.out_of_room == (0, 1, 2, 3)


def test_a_ring_of_many_tokens_is_planned_anew() -> None:
    problem = eight()
    many = Ring(np.arange(8) / 16, np.arange(8) % 4)
    found = answer(with_current(problem, many))
    assert [step.event for step in found.steps] == ["re-plan"]
    assert found.ring.simple
    with pytest.raises(FtplanError, match="several tokens"):
        planned(with_current(problem, many, rebalance=True))


def test_the_ring_in_place_is_kept_where_only_a_failure_is_asked_for() -> None:
    problem = with_current(eight(4.1), even_ring(eight()), keep=True, fails=[0])
    assert answer(problem).ring is problem.current


@given(st.lists(st.integers(0, 99), min_size=1, max_size=6, unique=True), st.integers(6, 12))
@settings(max_examples=60, deadline=None)
def test_tokens_in_place_go_to_positions(at: list[int], size: int) -> None:
    problem = ring_problem([1.0] * size, [1.0] * 6)
    ring = Ring(np.array(sorted(at)) / 100, np.arange(len(at)))
    placed, steps = at_positions(problem, ring)
    assert np.isin(placed.token, problem.position).all()
    assert (positions_of_arcs(placed, problem.position) > 0).all()
    assert same_circle(ring.node, placed.node)
    if (np.bincount(ring.owner(problem.position), minlength=len(at)) > 0).all():
        owners = [one.node[one.owner(problem.position)].tolist() for one in (ring, placed)]
        assert owners[0] == owners[1]
    assert (steps == []) == np.array_equal(ring.token, placed.token)


@given(
    st.lists(st.integers(0, 9).map(float), min_size=4, max_size=9),
    st.lists(st.sampled_from([1.0, 2.0]), min_size=2, max_size=4),
    st.integers(0, 3),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_rings_keep_their_rules_and_bounds(load: list[float], cpu: list[float], seed: int, in_place: bool) -> None:
    capacity = np.array(cpu) * max(sum(load), 1.0) / sum(cpu) / 0.7
    problem = ring_problem(load, cpu, capacity=capacity)
    if in_place:
        problem = with_current(problem, random_ring(problem, seed + 10))
    result = planned(problem, seed)
    assert result.answer is not None
    assert result.bound is not None
    ring = result.answer.ring
    moved = worth_moved(problem, result.answer.steps)
    assert not {breach.rule for breach in broken(problem, ring, moved)} & set(result.rules)
    assert {"replication", "tokens"} <= set(result.rules)
    assert result.bound <= problem.largest_load(ring) * (1 + 1e-9)
    free = replace(problem, zone=np.arange(len(cpu)))
    assert result.bound <= best_ring(free)[1] * (1 + 1e-9)
    if problem.current is not None:
        assert problem.largest_load(ring) <= problem.largest_load(problem.current)
    assert [one.tolist() for one in (ring.token, ring.node)] == [
        one.tolist() for one in (answer(problem, seed).ring.token, answer(problem, seed).ring.node)
    ]


@pytest.mark.parametrize(("zones", "replication"), [("aab", 1), ("aaab", 1), ("aabb", 1), ("aabc", 2), ("abc", 2)])
def test_least_violations_are_of_any_ring(zones: str, replication: int) -> None:
    problem = ring_problem([1.0] * 5, [1.0] * len(zones), zones, replication=replication)
    found = answer(problem)
    assert found.violations_bound is not None
    assert found.violations_bound <= best_ring(problem)[0].violations <= problem.violations(found.ring)


def test_the_mean_is_a_bound_to_the_last_digit() -> None:
    """Plans hold 12 digits: a bound that is a little less would be written as 0.999999999999."""
    assert paper(ring_problem([1.0] * 6, [1.0] * 3), SearchOptions()).bound == 1.0


def test_no_load_no_moves() -> None:
    problem = ring_problem([0.0] * 8, [1.0] * 3)
    course = negotiate_by_round(problem, random_ring(problem, 0), (), Budget(60.0))
    assert (course.steps, course.why) == ((), "no node is overloaded")
    assert answer(problem).ring.nodes.tolist() == [0, 1, 2]


def test_moves_of_windows_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hot groups go around from window to window."""
    windows = np.array([np.roll([2.5] * 4 + [0.5] * 12, 4 * k) for k in range(12)])
    problem = eight(8.0, windows=windows, window_s=10.0, rebalance=True)
    problem = with_current(replace(problem, load=windows[0]), even_ring(problem))
    assert "NEGOTIATION_ENDED" not in codes(planned(problem))
    monkeypatch.setattr(ring_paper, "MOST_MOVES_IN_PLACE", 1)
    assert "NEGOTIATION_ENDED" in codes(planned(problem))
