"""What undoes a rebalance brings every group home, and no node over its limit."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.rebalance.algorithms.phases.phasing import phased
from ftplan.planners.rebalance.effects import surviving_copies
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceLimits
from ftplan.planners.rebalance.rollback import rollback
from tests.planners.rebalance.algorithms.phase_cases import by_hand, leaving_moves, over, tight_moves

COSTS = {"cpa": (5.0, 5.0, 100.0, 3.0), "cpal": (1.0, 7.0, 100.0, 3.0), "direct": (8.0, 8.0, 1000.0, 4.0)}


def test_the_old_host_keeps_a_copy() -> None:
    problem = by_hand([0, 1], [[1], [2]], [60, 50], [100, 70, 100], COSTS, protocols=("cpa", "direct"))
    phases = ((Migration(1, 2, "cpa"),), (Migration(0, 1, "cpa"),))
    assert rollback(problem, Rebalance(phases)) == ((Migration(0, 0, "cpa"),), (Migration(1, 1, "cpa"),))


def test_without_a_copy_the_state_is_sent_back() -> None:
    """A node that is removed keeps no copy; neither is there one where there was none before."""
    gone = np.array([True, False, False])
    problem = by_hand([0, 1], [[1], []], [60, 50], [100, 200, 200], COSTS, removed=gone, keeps=~gone)
    phases = ((Migration(0, 1, "cpa"), Migration(1, 2, "direct")),)
    assert rollback(problem, Rebalance(phases)) == ((Migration(0, 0, "direct"), Migration(1, 1, "direct")),)


def test_low_latency_is_avoided_where_nodes_swap() -> None:
    problem = by_hand([0, 1], [[1], [0]], [60, 60], [60, 60], COSTS)
    swap = (Migration(0, 1, "cpa"), Migration(1, 0, "cpa"))
    assert rollback(problem, Rebalance((swap,))) == ((Migration(0, 0, "cpa"), Migration(1, 1, "cpa")),)
    roomy = by_hand([0, 1], [[1], [0]], [60, 60], [200, 200], COSTS)
    assert rollback(roomy, Rebalance((swap,))) == ((Migration(0, 0, "cpal"), Migration(1, 1, "cpal")),)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), groups=st.integers(1, 12))
def test_rollback_replayed(seed: int, groups: int) -> None:
    problem, moves = tight_moves(seed, groups=groups, limits=RebalanceLimits())
    phases = phased(problem, moves).phases
    of = {move.group: move for phase in phases for move in phase}
    place = problem.home.copy()
    for move in of.values():
        place[move.group] = move.target
    back = rollback(problem, Rebalance(phases))
    assert [{m.group for m in phase} for phase in back] == [{m.group for m in phase} for phase in phases[::-1]]
    for phase in back:
        during = problem.loads(place)
        for group, target, protocol in phase:
            assert target == problem.home[group]
            assert protocol not in ("cpa", "cpal") or target in surviving_copies(problem, group, of[group])
            during[target] += problem.load[group]
            during[place[group]] -= 0.0 if protocol == "cpal" else problem.load[group]
        assert not over(problem, during)
        for group, target, _ in phase:
            place[group] = target
    assert place.tolist() == problem.home.tolist()


def test_what_was_recovered_stays() -> None:
    for seed in range(10):
        problem, moves = leaving_moves(seed)
        lost = tuple(Migration(move.group, move.target, "recover") for move in moves[:3])
        back = rollback(problem, Rebalance((moves[3:], lost)))
        assert {move.group for phase in back for move in phase} == {move.group for move in moves[3:]}
