"""What leaves before nodes are gone is what is worth most."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.outcome import outcome
from ftplan.planners.rebalance.algorithms.phases.notice import under_notice
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceLimits
from ftplan.planners.rebalance.rules import broken
from tests.planners.rebalance.algorithms.phase_cases import (
    by_hand,
    fault,
    least_cost,
    leaving_moves,
    over,
    tight_moves,
)
from tests.planners.rebalance.algorithms.replay import replay

COSTS = {"cpa": (5.0, 5.0, 100.0, 3.0), "direct": (8.0, 8.0, 1000.0, 4.0), "recover": (6.0, 6.0, 100.0, 3.0),
         "fetch": (14.0, 14.0, 1100.0, 7.0)}  # fmt: skip
GONE = np.array([True, False, False])
AWAY = {"removed": GONE, "hosts": ~GONE, "keeps": ~GONE}


def test_what_does_not_leave_in_time_is_recovered() -> None:
    """States leave node 0 one by one, in 4 s each, and the second is there only at 8 + 2 x 4 s."""
    problem = by_hand([0, 0], [[1], [2]], [30, 20], [100] * 3, COSTS, **AWAY)
    moves = (Migration(0, 2, "direct"), Migration(1, 1, "direct"))
    in_time = under_notice(replace(problem, limits=RebalanceLimits(within_s=16.0)), moves)
    assert (in_time.phasing.phases, in_time.late) == (((moves[0],), (moves[1],)), ())
    notice = under_notice(replace(problem, limits=RebalanceLimits(within_s=15.0)), moves)
    assert (notice.late, notice.lost) == ((moves[1],), ())
    assert notice.phasing.phases == ((moves[0],), (Migration(1, 1, "fetch"),))


def test_a_long_pause_is_better_than_a_recovery() -> None:
    """Phases of single moves have the shortest pauses, but only one large phase ends in time."""
    costs = COSTS | {"direct": (8.0, 8.0, 1000.0, 2.0)}
    limits = RebalanceLimits(within_s=12.0)
    problem = by_hand([0, 0], [[1], [2]], [30, 20], [100] * 3, costs, **AWAY, limits=limits)
    moves = (Migration(0, 2, "direct"), Migration(1, 1, "direct"))
    assert under_notice(problem, moves).phasing.phases == (moves,)
    apart = under_notice(replace(problem, limits=RebalanceLimits(within_s=16.0)), moves)
    assert apart.phasing.phases == ((moves[0],), (moves[1],))
    short = replace(problem, limits=RebalanceLimits(within_s=12.0, phase_bytes=1500.0))
    assert under_notice(short, moves).phasing.phases == ((moves[0],), (Migration(1, 1, "fetch"),))


def test_other_moves_wait_unless_they_make_room() -> None:
    """Group 1 has to leave node 1 before group 0 can come; group 2 moves for balance only, and is hotter."""
    gone = np.array([True, False, False, False])
    problem = by_hand(
        [0, 1, 2], [[1], [2], [3]], [30, 20, 90], [100, 30, 200, 200], COSTS, removed=gone, hosts=~gone, keeps=~gone
    )
    moves = (Migration(0, 1, "cpa"), Migration(1, 2, "cpa"), Migration(2, 3, "direct"))
    notice = under_notice(replace(problem, limits=RebalanceLimits(within_s=10.0)), moves)
    assert notice.phasing.phases == ((moves[1],), (moves[0],), (moves[2],))


def test_room_that_takes_too_long_is_made_at_once() -> None:
    """Group 1 waits 30 s for its next checkpoint, but loads its target from the begin of the phase."""
    costs = COSTS | {"lazy": (1.0, 30.0, 10.0, 0.1)}
    problem = by_hand([0, 1], [[2], [2]], [30, 20], [100, 30, 200], costs, **AWAY)
    moves = (Migration(0, 1, "direct"), Migration(1, 2, "lazy"))
    notice = under_notice(replace(problem, limits=RebalanceLimits(within_s=10.0)), moves)
    assert (notice.phasing.phases, notice.late) == ((moves,), ())


def test_without_a_copy_and_without_time_there_is_no_plan() -> None:
    limits = RebalanceLimits(within_s=7.0)
    problem = by_hand([0, 0], [[], []], [30, 20], [100] * 3, COSTS, **AWAY, limits=limits)
    moves = (Migration(0, 1, "direct"), Migration(1, 2, "direct"))
    result = outcome(problem, moves, 0.0, Budget(10.0))
    assert (result.status, result.answer) == ("infeasible", None)
    why = result.infeasible
    assert why is not None
    assert (why.limit, why.current, why.needed, why.smallest_fix) == ("within", 7.0, 16.0, "--within 16s")
    assert outcome(replace(problem, limits=RebalanceLimits(within_s=16.0)), moves, 0.0, Budget(10.0)).answer is not None


def test_what_is_saved_against_all_sets_and_orders() -> None:
    """Nothing is ever late, nothing in time is recovered, and no set of moves in any order would save more."""
    late = 0
    for seed in range(36):
        problem, moves = leaving_moves(seed, groups=4 + (seed % 9 == 0))
        least = least_cost(problem, moves)
        notice = under_notice(problem, moves)
        if least is None:
            assert notice.lost
            fix = outcome(problem, moves, 0.0, Budget(10.0)).infeasible
            assert fix is not None
            longer = replace(problem, limits=RebalanceLimits(within_s=fix.needed))
            assert outcome(longer, moves, 0.0, Budget(10.0)).answer is not None
            continue
        assert not notice.lost
        phases = notice.phasing.phases
        assert problem.value(notice.phasing.moves) == pytest.approx(least)
        assert fault(problem, phases, together=True) is None
        seen, _ = replay(problem, [p for p in phases if not any(m.protocol == "fetch" for m in p)])
        within = (problem.limits.within_s or math.inf) * (1.0 + 1e-9)
        for phase, item in zip(phases, seen, strict=False):
            assert all(item.ends_s[m.group] <= within for m in phase if m.protocol not in ("recover", "fetch"))
        assert {m.protocol in ("recover", "fetch") for phase in phases[:-1] for m in phase} <= {False}
        late += len(notice.late)
    assert late >= 10


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), within=st.sampled_from([1.0, 5.0, 20.0]), size=st.sampled_from([None, 3e7]))
def test_rules_of_phases_are_kept_on_full_nodes(seed: int, within: float, size: float | None) -> None:
    """Other moves make room, notices are short, phases small: what comes out keeps every rule that the judge knows."""
    gone = np.arange(5) == 0
    limits = RebalanceLimits(within_s=within, phase_bytes=size)
    problem, some = tight_moves(seed, 9, 5, removed=gone, hosts=~gone, keeps=~gone, limits=limits)
    moves = tuple(move for move in some if move.target != 0)
    if over(problem, problem.loads(places_after(problem, moves))):
        return
    notice = under_notice(problem, moves)
    if notice.lost or notice.phasing.stuck:
        return
    phases = notice.phasing.phases
    assert fault(problem, phases, together=True) is None
    assert sorted(move[:2] for phase in phases for move in phase) == sorted(move[:2] for move in moves)
    breaches = {breach.rule for breach in broken(problem, Rebalance(phases))}
    assert not breaches & {"phase-capacity", "phase-bytes", "within", "protocol", "max-pause"}
