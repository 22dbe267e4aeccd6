"""Why groups are recovered: when they would have left at the soonest."""

from __future__ import annotations

import math

import numpy as np

from ftplan.planners.rebalance.algorithms.phases.notice import under_notice
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceLimits
from ftplan.planners.rebalance.reasons import Unsaved, unsaved
from tests.planners.rebalance.algorithms.phase_cases import by_hand, leaving_moves

COSTS = {"cpa": (5.0, 5.0, 100.0, 3.0), "direct": (8.0, 8.0, 1000.0, 4.0), "recover": (6.0, 6.0, 100.0, 3.0),
         "fetch": (14.0, 14.0, 1100.0, 7.0)}  # fmt: skip


def test_a_busy_link_is_named_by_the_time_it_takes() -> None:
    """Group 0 keeps the link out of node 0 busy for 4 s, which delays group 1 by twice that."""
    gone = np.array([True, False, False])
    problem = by_hand(
        [0, 0], [[1], [2]], [30, 20], [100] * 3, COSTS, removed=gone, limits=RebalanceLimits(within_s=10.0)
    )
    lost = Migration(1, 1, "fetch")
    assert unsaved(problem, Rebalance(((Migration(0, 2, "direct"),), (lost,)))) == (Unsaved(lost, "direct", 8.0, 16.0),)
    assert unsaved(problem, Rebalance(((lost,),))) == (Unsaved(lost, "direct", 8.0, 8.0),)
    assert unsaved(problem, Rebalance(((Migration(0, 2, "direct"),),))) == ()
    assisted = Migration(1, 2, "recover")
    assert unsaved(problem, Rebalance(((assisted,),))) == (Unsaved(assisted, "cpa", 5.0, 5.0),)


def test_nothing_but_a_recovery_was_possible() -> None:
    limits = RebalanceLimits(within_s=10.0)
    problem = by_hand([0], [[1]], [30], [100] * 3, COSTS, removed=np.array([True, False, False]), limits=limits,
                      protocols=("cpa",))  # fmt: skip
    assert unsaved(problem, Rebalance(((Migration(0, 2, "fetch"),),)))[0][1:] == (None, math.inf, math.inf)


def test_what_is_late_could_not_have_been_served_last() -> None:
    """What the notice leaves behind would be late in all of the phases of what leaves, or costs less recovered."""
    seen = 0
    for seed in range(40):
        problem, moves = leaving_moves(seed)
        notice = under_notice(problem, moves)
        if not notice.lost:
            for late in unsaved(problem, Rebalance(notice.phasing.phases)):
                assert late.end_s > (problem.limits.within_s or math.inf)
                rows = {"direct": 3, "cpa": 0, "cpal": 1}
                assert late.alone_s == problem.costs.completion_s[rows[str(late.protocol)], late.move.group]
                assert late.end_s >= late.alone_s
                seen += 1
    assert seen > 10
