"""Phases are safe, few, and as they were asked for."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ftplan.planners.rebalance.algorithms.phases.backlog import PhaseSize
from ftplan.planners.rebalance.algorithms.phases.phasing import phased
from ftplan.planners.rebalance.problem import Migration, RebalanceLimits
from tests.effort import examples
from tests.planners.rebalance.algorithms.cases import scaled_problem
from tests.planners.rebalance.algorithms.phase_cases import by_hand, fault, fewest_phases, hot, tight_moves
from tests.planners.rebalance.algorithms.replay import replay

COSTS = {"cpa": (5.0, 5.0, 100.0, 3.0), "cpal": (1.0, 7.0, 100.0, 3.0), "direct": (8.0, 8.0, 1000.0, 4.0)}


def test_what_makes_room_goes_first() -> None:
    """Node 1 is full until group 1 has left it for node 2, although group 0 is hotter."""
    problem = by_hand([0, 1], [[1], [2]], [60, 50], [100, 70, 100], COSTS)
    moves = (Migration(0, 1, "cpa"), Migration(1, 2, "cpa"))
    assert phased(problem, moves).phases == ((moves[1],), (moves[0],))
    roomy = by_hand([0, 1], [[1], [2]], [60, 50], [200, 200, 200], COSTS)
    assert phased(roomy, moves).phases == (moves,)


def test_two_full_nodes_swap_together() -> None:
    problem = by_hand([0, 1], [[1], [0]], [60, 50], [60, 60], COSTS)
    moves = (Migration(0, 1, "cpa"), Migration(1, 0, "cpa"))
    assert phased(problem, moves).phases == (moves,)
    assert fault(problem, [moves]) is None


def test_a_cycle_takes_no_bystander_along() -> None:
    """Group 2 fits without anyone leaving, so it goes in a phase that is safe in every order."""
    problem = by_hand([0, 1, 0], [[1], [0], [2]], [60, 60, 10], [70, 60, 50], COSTS)
    moves = (Migration(0, 1, "cpa"), Migration(1, 0, "cpa"), Migration(2, 2, "cpa"))
    assert phased(problem, moves).phases == ((moves[2],), (moves[0], moves[1]))


def test_low_latency_gives_way_where_both_nodes_are_full() -> None:
    """One of two that swap by ``cpal`` is not enough: while it goes on, its old node has no room for the other."""
    problem = by_hand([0, 1], [[1], [0]], [60, 60], [60, 60], COSTS)
    moves = (Migration(0, 1, "cpal"), Migration(1, 0, "cpal"))
    phasing = phased(problem, moves)
    assert phasing.slowed == phasing.moves == (Migration(0, 1, "cpa"), Migration(1, 0, "cpa"))
    forced = phased(replace(problem, protocols=("cpal",)), moves)
    assert (set(forced.stuck), forced.limit) == (set(moves), "phase-capacity")
    # with room for one of them on node 1, one goes first and nobody has to give way
    roomy = by_hand([0, 1], [[1], [0]], [60, 60], [60, 120], COSTS)
    assert phased(roomy, moves).phases == ((moves[0],), (moves[1],))


def test_pauses_decide_the_size_of_a_phase() -> None:
    """Each may wait for none of the others if no pause is to be longer than one that moves alone."""
    problem = by_hand([0, 0, 0], [[1], [1], [1]], [30, 20, 10], [100, 100], COSTS)
    moves = tuple(Migration(group, 1, "cpa") for group in range(3))
    assert phased(problem, moves).phases == ((moves[0],), (moves[1],), (moves[2],))
    limited = replace(problem, limits=RebalanceLimits(max_pause_s=11.0))  # 5 + 2 x 3 s
    assert phased(limited, moves).phases == (moves[:2], moves[2:])
    assert phased(problem, moves, PhaseSize()).phases == (moves,)
    assert phased(problem, moves, PhaseSize(moves=2)).phases == (moves[:2], moves[2:])
    bytes_limited = replace(problem, limits=RebalanceLimits(max_pause_s=1e9, phase_bytes=250.0))
    assert phased(bytes_limited, moves).phases == (moves[:2], moves[2:])
    one_by_one = replace(problem, limits=RebalanceLimits(max_pause_s=1e9, phase_bytes=1.0))
    assert len(phased(one_by_one, moves).phases) == 3


def test_a_swap_that_pauses_for_too_long_is_named() -> None:
    """Both arrive at full nodes and wait for nobody, but two bytes limits cannot be kept by parting them."""
    problem = by_hand([0, 1], [[1], [0]], [60, 50], [60, 60], COSTS, limits=RebalanceLimits(phase_bytes=150.0))
    moves = (Migration(0, 1, "cpa"), Migration(1, 0, "cpa"))
    phasing = phased(problem, moves)
    assert (phasing.limit, phasing.needed, set(phasing.stuck)) == ("phase-bytes", 200.0, set(moves))


def test_what_is_recovered_comes_last() -> None:
    removed = np.array([True, False, False])
    costs = COSTS | {"recover": (6.0, 6.0, 100.0, 3.0)}
    problem = by_hand([0, 0], [[1], [2]], [60, 50], [200] * 3, costs, removed=removed)
    moves = (Migration(0, 1, "recover"), Migration(1, 2, "cpa"))
    assert phased(problem, moves).phases == ((moves[1],), (moves[0],))


def test_phases_against_all_ways_to_part_moves() -> None:
    """The longest pause is always the least; of 60 cases at most one takes one phase more than the least number."""
    more = Counter[int]()
    for seed in range(examples(60)):
        limits = RebalanceLimits(phase_bytes=3e7) if seed % 5 == 0 else RebalanceLimits()
        problem, moves = tight_moves(seed, groups=4 + seed % 2, limits=limits)
        least = fewest_phases(problem, moves)
        phasing = phased(problem, moves)
        if least is None:
            assert phasing.stuck or phasing.slowed
            continue
        assert not phasing.stuck
        assert not phasing.slowed
        assert fault(problem, phasing.phases) is None
        seen, _ = replay(problem, phasing.phases)
        assert max(max(item.pause_s.values()) for item in seen) == pytest.approx(least[0])
        more[len(phasing.phases) - least[1]] += 1
    assert set(more) <= {0, 1}
    assert more[1] <= 1


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), groups=st.integers(1, 14))
def test_phases_keep_what_is_asked(seed: int, groups: int) -> None:
    problem, moves = tight_moves(seed, groups=groups, nodes=5)
    phasing = phased(problem, moves)
    assert not phasing.stuck  # all four protocols may be used, and no limit is given
    assert fault(problem, phasing.phases) is None
    assert sorted(move[:2] for move in phasing.moves) == sorted(move[:2] for move in moves)
    changed = {move.group for move in phasing.moves} - {move.group for move in set(phasing.moves) & set(moves)}
    assert changed == {move.group for move in phasing.slowed}
    assert all(list(phase) == hot(problem, phase) for phase in phasing.phases)
    _, place = replay(problem, phasing.phases)
    assert all(place[move.group] == move.target for move in moves)
    # no better phases come of the order in which the moves are named
    assert phased(problem, moves[::-1]).phases == phasing.phases


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), pause=st.sampled_from([0.5, 2.0, 10.0]), size=st.sampled_from([1e6, 3e7]))
@example(seed=237, pause=10.0, size=1e6)
def test_limits_are_kept_or_named(seed: int, pause: float, size: float) -> None:
    limits = RebalanceLimits(max_pause_s=pause, phase_bytes=size)
    problem, moves = tight_moves(seed, groups=8, nodes=5, limits=limits)
    rows = {"cpa": 0, "cpal": 1, "direct": 3}
    moves = tuple(m for m in moves if problem.costs.latency_s[rows[m.protocol], m.group] <= pause)
    phasing = phased(problem, moves)
    if phasing.stuck:
        assert phasing.limit in ("max-pause", "phase-bytes", "phase-capacity")
        return
    seen, _ = replay(problem, phasing.phases)
    for phase, item in zip(phasing.phases, seen, strict=True):
        assert max(item.pause_s.values()) <= pause * (1.0 + 1e-9)
        assert len(phase) == 1 or item.bytes <= size * (1.0 + 1e-9)


def test_every_order_is_searched_before_low_latency_gives_way() -> None:
    """Where moves by ``cpal`` can be made one by one in any order at all, they are."""
    outcomes = Counter[bool]()
    for seed in range(examples(120)):
        problem, some = tight_moves(seed, groups=6)
        problem = replace(problem, copies=tuple((move.target,) for move in some), protocols=("cpal",))
        moves = tuple(move._replace(protocol="cpal") for move in some)
        can_be = any(fault(problem, [[move] for move in order]) is None for order in itertools.permutations(moves))
        assert (not phased(problem, moves).stuck) == can_be
        assert (not phased(replace(problem, protocols=("cpa", "cpal")), moves).slowed) == can_be
        outcomes[can_be] += 1
    assert outcomes[False] >= 1


def test_a_broken_phase_is_caught() -> None:
    """The oracle of these tests sees moves that are put into an earlier phase than they may be."""
    problem = by_hand([0, 1], [[1], [2]], [60, 50], [100, 70, 100], COSTS)
    moves = (Migration(0, 1, "cpa"), Migration(1, 2, "cpa"))
    assert "relies" in str(fault(problem, [moves]))
    assert "overloads" in str(fault(by_hand([0, 1], [[1], [0]], [60, 60], [60, 60], COSTS), [
        [Migration(0, 1, "cpal"), Migration(1, 0, "cpa")]
    ]))  # fmt: skip
    broken = 0
    for seed in range(examples(30)):
        problem, some = tight_moves(seed)
        phases = phased(problem, some).phases
        if len(phases) > 1:
            broken += fault(problem, [(*phases[0], *phases[1]), *phases[2:]]) is not None
    assert broken >= 5


def test_many_moves() -> None:
    """A move of every second group of many: no pause is longer than it has to be."""
    problem = scaled_problem(1, groups=10_000, nodes=200)
    load, moves = problem.start_load.copy(), []
    for group in range(0, len(problem.home), 2):
        target = problem.copies[group][0] if group % 3 else (int(problem.home[group]) + 7) % 200
        if load[target] + problem.load[group] <= problem.transient[target]:
            load[target] += problem.load[group]
            load[problem.home[group]] -= problem.load[group]
            moves.append(Migration(group, target, problem.possible(group, target)[0]))
    phasing = phased(problem, moves)
    assert not phasing.stuck
    assert len(phasing.moves) == len(moves) > 3_000
    assert fault(problem, phasing.phases) is None
    longest = max(problem.costs.latency_s[{"cpa": 0, "direct": 3}[m.protocol], m.group] for m in moves)
    seen, _ = replay(problem, phasing.phases)
    assert max(max(item.pause_s.values()) for item in seen) == pytest.approx(longest)
