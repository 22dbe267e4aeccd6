"""What phases of moves take: by hand, and against a replay event by event."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.rebalance.migration_phases import hot_first, phase_figures
from ftplan.planners.rebalance.problem import Migration, RebalanceLimits, RebalanceProblem
from tests.planners.rebalance.algorithms.cases import random_problem
from tests.planners.rebalance.algorithms.phase_cases import by_hand
from tests.planners.rebalance.algorithms.replay import replay

#: Latency, completion, bytes, link seconds.
COSTS = {
    "cpa": (5.0, 5.0, 100.0, 3.0),
    "cpal": (1.0, 7.0, 100.0, 3.0),
    "lazy": (0.5, 30.5, 0.0, 0.0),
    "direct": (8.0, 8.0, 1000.0, 4.0),
    "recover": (6.0, 6.0, 100.0, 3.0),
    "fetch": (14.0, 14.0, 1100.0, 7.0),
}


def test_transfers_into_one_node_wait_for_each_other() -> None:
    problem = by_hand([0, 1, 1], [[2], [2], [2]], [10, 20, 30], [100, 100, 100], COSTS)
    moves = hot_first(problem, [Migration(0, 2, "cpa"), Migration(1, 2, "cpa"), Migration(2, 2, "cpa")])
    assert [move.group for move in moves] == [2, 1, 0]
    (phase,) = phase_figures(problem, [moves])
    # a second of waiting is two of pause, since what comes in meanwhile has to be caught up with
    assert phase.wait_s.tolist() == [0.0, 3.0, 6.0]
    assert phase.pause_s.tolist() == phase.end_s.tolist() == [5.0, 11.0, 17.0]
    assert (phase.duration_s, phase.longest_pause_s, phase.bytes) == (17.0, 17.0, 300.0)
    assert phase.highest_utilisation == 0.6


def test_state_waits_for_the_link_out_of_its_old_node_too() -> None:
    problem = by_hand([0, 0, 1], [[], [], [3]], [30, 20, 10], [100] * 4, COSTS)
    moves = [Migration(0, 2, "direct"), Migration(1, 3, "direct"), Migration(2, 3, "cpa")]
    (phase,) = phase_figures(problem, [moves])
    assert phase.wait_s.tolist() == [0.0, 4.0, 8.0]
    assert phase.pause_s.tolist() == [8.0, 16.0, 21.0]


def test_waiting_is_no_pause_where_the_old_node_goes_on() -> None:
    problem = by_hand([0, 0, 1], [[2], [2], [2]], [30, 20, 10], [100] * 3, COSTS)
    moves = [Migration(0, 2, "cpa"), Migration(1, 2, "cpal"), Migration(2, 2, "lazy")]
    (phase,) = phase_figures(problem, [moves])
    assert phase.wait_s.tolist() == [0.0, 3.0, 0.0]  # a checkpoint stored as usual waits for no one
    assert phase.pause_s.tolist() == [5.0, 1.0, 0.5]
    assert phase.end_s.tolist() == [5.0, 13.0, 30.5]
    assert phase.highest_utilisation == pytest.approx(0.6)


def test_low_latency_loads_both_nodes() -> None:
    problem = by_hand([0, 1], [[1], []], [30, 50], [100, 100], COSTS)
    (phase,) = phase_figures(problem, [[Migration(0, 1, "cpal"), Migration(1, 0, "cpa")]])
    assert phase.highest_utilisation == 0.8


def test_what_is_fetched_comes_from_the_host_that_is_free_first() -> None:
    removed = np.array([True, False, False, False, False])
    limits = RebalanceLimits(within_s=1.0)
    problem = by_hand([0] * 3, [[1, 2], [1], [1, 2]], [30, 20, 10], [100] * 5, COSTS, removed=removed, limits=limits)
    moves = [Migration(0, 3, "fetch"), Migration(1, 4, "fetch"), Migration(2, 4, "fetch")]
    (phase,) = phase_figures(problem, [moves])
    # 0 takes the link out of node 1 for 7 s; 1 has to wait for it; 2 takes node 2, and waits for the link into node 4
    assert phase.wait_s.tolist() == [0.0, 7.0, 14.0]
    assert phase_figures(problem, [[moves[0], moves[2]]])[0].wait_s.tolist() == [0.0, 0.0]


def test_a_phase_begins_when_the_former_has_ended() -> None:
    limits = RebalanceLimits(phase_overhead_s=2.0)
    problem = by_hand([0, 1], [[2], [2]], [30, 20], [100] * 3, COSTS, limits=limits)
    first, second = phase_figures(problem, [[Migration(0, 2, "cpa")], [Migration(1, 2, "cpa")]])
    assert (first.begin_s, first.duration_s) == (0.0, 7.0)
    assert (second.begin_s, second.end_s.tolist(), second.pause_s.tolist()) == (7.0, [12.0], [5.0])


def _some_phases(problem: RebalanceProblem, seed: int) -> list[list[Migration]]:
    """Return moves of any sort in any phases, whether or not they keep a limit."""
    rng = np.random.default_rng(seed)
    phases: list[list[Migration]] = [[] for _ in range(3)]
    for group in rng.permutation(len(problem.home)).tolist():
        target = int(rng.integers(0, len(problem.nodes)))
        able = [name for name in problem.possible(group, target) if name != "fetch"]
        if target != problem.home[group] and able:
            phases[int(rng.integers(0, 3))].append(Migration(group, target, str(rng.choice(able))))
    return [phase for phase in phases if phase]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), overhead=st.sampled_from([0.0, 1.5]))
def test_figures_are_those_of_a_replay(seed: int, overhead: float) -> None:
    problem = random_problem(seed, groups=8, limits=RebalanceLimits(phase_overhead_s=overhead))
    phases = _some_phases(problem, seed)
    seen, _ = replay(problem, phases)
    for phase, figures, replayed in zip(phases, phase_figures(problem, phases), seen, strict=True):
        assert figures.begin_s == pytest.approx(replayed.begin_s)
        assert figures.begin_s + figures.duration_s == pytest.approx(replayed.end_s)
        assert figures.bytes == pytest.approx(replayed.bytes)
        groups = [move.group for move in phase]
        assert figures.pause_s.tolist() == pytest.approx([replayed.pause_s[group] for group in groups])
        assert figures.end_s.tolist() == pytest.approx([replayed.ends_s[group] for group in groups])
        used = {node: load / problem.capacity[node] for node, load in replayed.highest.items()}
        assert figures.highest_utilisation == pytest.approx(max(used.values()))
