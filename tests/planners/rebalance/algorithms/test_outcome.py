"""From moves to a result: copies made anew, what the bound proves, and what cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.outcome import new_copies, outcome, rounded_up
from ftplan.planners.rebalance.effects import surviving_copies
from ftplan.planners.rebalance.problem import Migration, NewCopy, RebalanceLimits
from tests.planners.rebalance.algorithms.cases import brute_force, memory_used, random_problem
from tests.planners.rebalance.algorithms.phase_cases import by_hand, fault

COSTS = {"cpa": (5.0, 5.0, 100.0, 3.0), "cpal": (1.0, 7.0, 100.0, 3.0), "direct": (8.0, 8.0, 1000.0, 4.0)}


def test_a_drained_node_leaves_copies_to_be_made_anew() -> None:
    """Group 0 leaves node 0, which keeps nothing; group 1 had its copy there. Node 3 has fewest copies, 2 has one."""
    gone = np.array([True, False, False, False])
    problem = by_hand([0, 1, 1], [[1], [0], [2]], [60, 50, 5], [100] * 4, COSTS, removed=gone, keeps=~gone)
    copies = new_copies(problem, [Migration(0, 1, "cpa")])
    assert copies.fewer == ()
    assert copies.made == (NewCopy(0, 1, 3), NewCopy(1, 1, 2))
    zones = replace(problem, domain=np.array([0, 1, 1, 1]))  # only node 0 is in another zone
    assert new_copies(zones, [Migration(0, 1, "cpa")]) == ((), (0, 1))
    assert new_copies(replace(problem, remote=True), [Migration(0, 1, "cpa")]) == ((), ())


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_new_copies_stand_apart_and_fit(seed: int) -> None:
    problem = random_problem(seed, groups=8, nodes=5, remote=False)
    rng = np.random.default_rng(seed)
    moves = []
    for group in range(8):
        able = [n for n in range(5) if problem.hosts[n] and n != problem.home[group] and problem.possible(group, n)]
        if able and rng.random() < 0.5:
            target = int(rng.choice(able))
            moves.append(Migration(group, target, problem.possible(group, target)[0]))
    of, copies = {move.group: move for move in moves}, new_copies(problem, moves)
    before, used = memory_used(problem, moves), memory_used(problem, moves)
    for group in range(8):
        left = surviving_copies(problem, group, of.get(group))
        made = [copy for copy in copies.made if copy.group == group]
        place = of[group].target if group in of else int(problem.home[group])
        domains = [int(problem.domain[node]) for node in (place, *left, *(copy.target for copy in made))]
        if made:
            assert len(set(domains)) == len(domains)
        assert all(problem.keeps[copy.target] and copy.source == place for copy in made)
        assert (len(left) + len(made) < len(problem.copies[group])) == (group in copies.fewer)
        for copy in made:
            used[copy.target] += problem.state[group]
    grown = used > before
    assert (used[grown] <= problem.memory[grown] * (1.0 + 1e-6)).all()
    for group in copies.fewer:  # no node could keep one
        of_it = [copy.target for copy in copies.made if copy.group == group]
        near = {int(problem.domain[n]) for n in (*surviving_copies(problem, group, of.get(group)), *of_it)}
        near.add(int(problem.domain[of[group].target if group in of else problem.home[group]]))
        for node in np.flatnonzero(problem.keeps).tolist():
            assert int(problem.domain[node]) in near or used[node] + problem.state[group] > problem.memory[node]


def test_optimal_only_where_the_bound_is_reached() -> None:
    problem = by_hand([0, 1], [[1], [0]], [60, 60], [60, 60], COSTS)
    slow, fast = (tuple(Migration(g, 1 - g, name) for g in (0, 1)) for name in ("cpa", "cpal"))
    result = outcome(problem, slow, 10.0, Budget(10.0))
    assert (result.status, result.bound, result.warnings) == ("optimal", 10.0, ())
    assert outcome(problem, slow, 9.9, Budget(10.0)).status == "feasible"
    assert outcome(problem, slow, None, Budget(10.0)).status == "feasible"
    paid = outcome(problem, fast, 2.0, Budget(10.0))
    assert (paid.status, [warning.code for warning in paid.warnings]) == ("feasible", ["BOUND_WITHOUT_PHASES"])
    forced = outcome(replace(problem, protocols=("cpal",)), fast, 2.0, Budget(10.0))
    assert (forced.status, forced.answer) == ("infeasible", None)
    assert forced.infeasible is not None
    assert (forced.infeasible.limit, forced.infeasible.smallest_fix) == ("phase-capacity", "--protocol auto")
    assert "key-group:k/0" in forced.infeasible.reason


def test_limits_that_are_too_small_for_a_swap() -> None:
    """Four swap between two full nodes: two arrive at each, the second waits for 3 s, which pauses it 6 s more."""
    limits = RebalanceLimits(max_pause_s=7.0, phase_bytes=300.0)
    problem = by_hand(
        [0, 0, 1, 1], [[1], [1], [0], [0]], [30, 30, 50, 10], [60, 60], COSTS, limits=limits, protocols=("cpa",)
    )
    moves = tuple(Migration(g, 1 - int(problem.home[g]), "cpa") for g in range(4))
    result = outcome(problem, moves, 20.0, Budget(10.0))
    assert result.infeasible is not None
    assert result.infeasible.smallest_fix == "--max-pause 11s and --phase-bytes 400"
    fixed = replace(problem, limits=RebalanceLimits(max_pause_s=11.0, phase_bytes=400.0))
    assert outcome(fixed, moves, 20.0, Budget(10.0)).status == "optimal"


@pytest.mark.parametrize(("value", "up"), [(0.0, 0.0), (12.3456781, 12.3457), (1e-7 / 3, 3.33334e-8), (5.0, 5.0)])
def test_what_is_named_is_enough(value: float, up: float) -> None:
    assert rounded_up(value) == up


def test_cheapest_moves_of_small_problems() -> None:
    """Moves that are cheapest, by brute force, come out in safe phases; with a bound that is their value: optimal."""
    done = 0
    for seed in range(40):
        problem = random_problem(seed)
        best = brute_force(problem)
        if best is None:
            continue
        result = outcome(problem, best[1], best[0], Budget(10.0))
        if result.answer is None:
            assert result.infeasible is not None
            assert problem.protocols == ("cpal",) or problem.limits.within_s or problem.limits.max_pause_s
            continue
        done += 1
        assert fault(problem, result.answer.phases) is None
        codes = {warning.code for warning in result.warnings}
        assert (result.status == "optimal") == ("BOUND_WITHOUT_PHASES" not in codes)
    assert done > 15
