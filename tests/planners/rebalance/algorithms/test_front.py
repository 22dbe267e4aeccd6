"""The front of longest pause against duration."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.rebalance.algorithms.phases.backlog import PhaseSize
from ftplan.planners.rebalance.algorithms.phases.front import FrontPoint, front, non_dominated, thinned
from ftplan.planners.rebalance.algorithms.phases.phasing import phased
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceLimits
from tests.planners.rebalance.algorithms.phase_cases import by_hand, hot, ordered_partitions, tight_moves
from tests.planners.rebalance.algorithms.replay import replay


def test_front_by_hand() -> None:
    """Three moves into one node: pauses of 5, 11 and 17 s; a phase lasts as long as its longest pause, and 9 s more."""
    costs = {"cpa": (5.0, 5.0, 100.0, 3.0)}
    limits = RebalanceLimits(phase_overhead_s=9.0)
    problem = by_hand([0] * 3, [[1]] * 3, [30, 20, 10], [100] * 2, costs, limits=limits)
    moves = tuple(Migration(group, 1, "cpa") for group in range(3))
    points = front(problem, Rebalance(phased(problem, moves).phases))
    assert points == (
        FrontPoint(3, 5.0, 42.0, 100.0),
        FrontPoint(2, 11.0, 34.0, 200.0),
        FrontPoint(1, 17.0, 26.0, 300.0),
    )
    assert front(problem, Rebalance(())) == ()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), overhead=st.sampled_from([0.0, 5.0]), pause=st.sampled_from([None, 20.0]))
def test_front_holds_both_ends_and_nothing_dominated(seed: int, overhead: float, pause: float | None) -> None:
    limits = RebalanceLimits(phase_overhead_s=overhead, max_pause_s=pause)
    problem, moves = tight_moves(seed, groups=9, protocols=("cpa", "direct"), limits=limits)
    phasing = phased(problem, moves)
    if phasing.stuck:
        return
    points = front(problem, Rebalance(phasing.phases))
    assert 1 <= len(points) <= 12
    for first, second in itertools.pairwise(points):
        assert first.longest_pause_s < second.longest_pause_s
        assert first.duration_s > second.duration_s
    free = replace(problem, limits=replace(limits, max_pause_s=None))
    for end in (phased(free, moves), phased(free, moves, PhaseSize()), phasing):
        seen, _ = replay(problem, end.phases)
        longest, duration = max(max(item.pause_s.values()) for item in seen), seen[-1].end_s
        assert any(p.longest_pause_s <= longest + 1e-9 and p.duration_s <= duration + 1e-9 for p in points)


def test_front_against_all_ways_to_part_moves() -> None:
    """Where nodes have room, the ends of the front are the shortest pause and about the least time of any phases."""
    for seed in range(15):
        problem, moves = tight_moves(
            seed, groups=5, protocols=("cpa", "direct"), limits=RebalanceLimits(phase_overhead_s=30.0)
        )
        if problem.capacity[0] < 1000.0:
            continue
        best_pause, best_time = math.inf, math.inf
        for phases in ordered_partitions(moves):
            seen, _ = replay(problem, [hot(problem, phase) for phase in phases])
            best_pause = min(best_pause, max(max(item.pause_s.values()) for item in seen))
            best_time = min(best_time, seen[-1].end_s)
        points = front(problem, Rebalance(phased(problem, moves).phases))
        assert points[0].longest_pause_s == pytest.approx(best_pause)
        assert points[-1].duration_s == pytest.approx(best_time, rel=0.1)


def test_points_are_sorted_out() -> None:
    points = [FrontPoint(n, float(n), d, 0.0) for n, d in ((1, 5.0), (2, 5.0), (3, 4.0), (4, 6.0), (3, 4.0))]
    assert non_dominated(points) == (points[0], points[2])
    many = tuple(FrontPoint(1, float(n), 100.0 - n, 0.0) for n in range(30))
    few = thinned(many)
    assert (len(few), few[0], few[-1]) == (12, many[0], many[-1])
    assert list(few) == sorted(set(few), key=many.index)
