"""Upkeep: never worse than the present, within the threshold of a fresh plan, never more moves than allowed."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from ftplan.metrics.checkpoint_objective import OBJECTIVES, CheckpointObjective
from ftplan.model.checkpoint_rules import violations
from ftplan.planners import registry
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.limits import limits_of
from ftplan.planners.checkpoints.present import MoveLimits, Present
from ftplan.planners.checkpoints.problem import AllocationOptions
from ftplan.planners.checkpoints.upkeep import Upkept, upkeep
from ftplan.planners.result import Result
from tests.planners.checkpoints.cases import Case, cases
from tests.planners.checkpoints.test_every_planner import cluster, job, placement

ALGORITHMS = ["correlated", "exact", "even", "baseline"]


def fresh(case: Case, algorithm: str, options: AllocationOptions) -> Result[Any]:
    planner = registry.load(registry.row("allocate-checkpoints", algorithm))
    result: Result[Any] = planner(case.problem(options), options)
    return result


def run(
    result: Result[Any], now: list[list[int]], allowance: MoveLimits, options: AllocationOptions
) -> tuple[Result[Any], Upkept]:
    kept, report = upkeep(result, now, allowance, options, Budget.of(options))
    assert report is not None
    return kept, report


def moved(now: list[list[int]], copies: np.ndarray[Any, Any], state: Any) -> tuple[int, float]:
    """Count moves and bytes as the plan's list of moves does, from sets alone."""
    moves, size = 0, 0.0
    for held, row, bytes_each in zip(now, copies.tolist(), state.tolist(), strict=True):
        moves += max(len(set(held) - set(row)), len(set(row) - set(held)))
        size += bytes_each * len(set(row) - set(held))
    return moves, size


@st.composite
def upkeeps(draw: Any) -> tuple[Case, AllocationOptions, str, list[list[int]]]:
    """A case, options, an algorithm, and copies in place: anything, in any number."""
    case = draw(cases(max_groups=5))
    copies = draw(st.integers(1, 2))
    options = AllocationOptions(
        copies=copies,
        balance=draw(st.sampled_from(["none", "auto", "count", 0.5, 1.0])),
        anti_affinity=draw(st.sampled_from(["node", "zone"])),
        time_limit_s=3600,
        iterations=50,
        objective=CheckpointObjective(draw(st.sampled_from(OBJECTIVES))),
        failover_limit=draw(st.sampled_from([None, None, 1.5, 2.5])),
    )
    nodes = st.lists(st.integers(0, len(case.nodes) - 1), max_size=copies + 1, unique=True)
    usual = st.lists(st.integers(0, len(case.nodes) - 1), min_size=copies, max_size=copies, unique=True)
    row = draw(st.sampled_from([usual, nodes]))
    assume(copies <= len(case.nodes))
    now = [draw(row) for _ in case.groups]
    if draw(st.booleans()):  # an earlier plan, for loads in another order
        other = dataclasses.replace(case, loads=case.loads[::-1])
        earlier = fresh(other, draw(st.sampled_from(ALGORITHMS)), dataclasses.replace(options, seed=1))
        now = now if earlier.answer is None else earlier.answer.copies.tolist()
    return case, options, draw(st.sampled_from(ALGORITHMS)), now


def keeps_rules(case: Case, result: Result[Any]) -> bool:
    assert result.answer is not None
    return not violations(
        result.answer.assignments, case.topology(), case.cluster(), case.series(), result.answer.rules
    )


@settings(max_examples=300, deadline=None)
@given(upkeeps(), st.sampled_from([0.0, 0.1, 0.5]))
def test_unlimited_upkeep(what: tuple[Case, AllocationOptions, str, list[list[int]]], threshold: float) -> None:
    """It keeps the rules, ends within the threshold, and never costs more than a present that keeps the rules."""
    case, options, algorithm, now = what
    best = fresh(case, algorithm, options)
    assume(best.answer is not None)
    kept, report = run(best, now, MoveLimits(threshold), options)
    assert kept.answer is not None
    assert report.after is not None
    assert keeps_rules(case, kept)
    problem = best.answer.problem.by_group
    noise = 1e-9 * max(1.0, float(np.abs(problem.cost).max(initial=0.0)))
    assert report.after == pytest.approx(kept.answer.value, abs=noise)
    scale = max(problem.random_value - best.answer.value, 0.0)
    assert report.after <= best.answer.value + threshold * scale + noise
    assert (report.moves, report.size) == pytest.approx(moved(now, kept.answer.copies, problem.state))
    present = Present.of(problem, now)
    sound = all(len(row) == options.copies for row in now)
    if sound:
        rows = np.array(now, dtype=np.int64).reshape(len(now), options.copies)
        assignments = type(kept.answer)(problem, rows, best.answer.rules).assignments
        sound = not violations(assignments, case.topology(), case.cluster(), case.series(), best.answer.rules)
    event(f"present keeps the rules: {sound}, {report.bound_by}")
    # Another first copy, which a failover limit may ask for, is no move.
    assert sound == (report.mended == 0) or (report.mended == 0 and best.answer.rules.failover_limit is not None)
    if sound:
        assert report.after <= present.value + noise
        if present.value <= best.answer.value + threshold * scale - noise:
            assert report.moves == 0


@settings(max_examples=300, deadline=None)
@given(upkeeps(), st.integers(0, 6), st.none() | st.sampled_from([0.0, 1.0, 2.0, 3.0]))
def test_limits_on_moves_and_bytes(
    what: tuple[Case, AllocationOptions, str, list[list[int]]], most: int, most_mb: float | None
) -> None:
    """Neither is exceeded; where mending needs more, the answer is no, and the fix that it names works."""
    case, options, algorithm, now = what
    best = fresh(case, algorithm, options)
    assume(best.answer is not None)
    allowance = MoveLimits(0.0, most, None if most_mb is None else most_mb * 2**20)
    kept, report = run(best, now, allowance, options)
    problem = best.answer.problem.by_group
    if kept.answer is None:
        event(str(kept.status))
        assert kept.status in ("infeasible", "no-plan-in-time")
        assert report.bound_by in ("max-moves", "max-bytes")
        assert f"--{report.bound_by}" in str(kept.reason)
        if kept.infeasible is not None:
            words = kept.infeasible.smallest_fix.split()
            fix = dict(zip(words[::2], map(float, words[1::2]), strict=True))
            more = MoveLimits(0.0, int(fix.get("--max-moves", most)), fix.get("--max-bytes", allowance.max_bytes))
            again, _ = run(best, now, more, options)
            assert again.answer is not None
            assert keeps_rules(case, again)
        return
    assert keeps_rules(case, kept)
    moves, size = moved(now, kept.answer.copies, problem.state)
    assert moves <= most
    assert size <= (allowance.max_bytes if allowance.max_bytes is not None else np.inf)
    if moves == 0:
        assert str(kept.reason).startswith("no change: ")
    if report.bound_by in ("max-moves", "max-bytes"):
        assert kept.answer.value > best.answer.value
    event(f"{report.bound_by}, mended {report.mended > 0}")


@settings(max_examples=150, deadline=None)
@given(upkeeps())
def test_fewest_moves_to_mend(what: tuple[Case, AllocationOptions, str, list[list[int]]]) -> None:
    """On small cases no allocation within the rules is nearer to the present than the mended one."""
    case, options, algorithm, now = what
    best = fresh(case, algorithm, options)
    assume(best.answer is not None and len(case.groups) <= 3 and options.failover_limit is None)
    problem = best.answer.problem.by_group
    limits = limits_of(problem, best.answer.rules)
    _, report = run(best, now, MoveLimits(float("1e9")), options)
    rows = []
    for u in range(problem.load.size):
        sets = itertools.combinations(np.flatnonzero(problem.allowed[u]).tolist(), problem.copies)
        rows.append([row for row in sets if len({int(problem.domain[i]) for i in row}) == problem.copies])
    fewest = min(
        moved(now, np.array(plan), problem.state)[0]
        for plan in itertools.product(*rows)
        if limits.kept(np.array(plan, dtype=np.int64))
    )
    assert report.mended == fewest


@pytest.mark.parametrize("balance", ["none", 0.1, "count"])
@pytest.mark.parametrize("copies", [1, 2])
def test_more_moves_are_never_worse_and_a_second_run_changes_nothing(balance: Any, copies: int) -> None:
    topology, series = job(32, 7)
    options = AllocationOptions(balance=balance, copies=copies, iterations=30)
    from ftplan.planners.checkpoints.problem import build

    problem = build(topology, cluster(), placement(), series, options)
    old = build(topology, cluster(), placement(), job(32, 8)[1], options)
    planner = registry.load(registry.row("allocate-checkpoints", "correlated"))
    now = planner(old, options).answer.copies.tolist()
    best = planner(problem, options)
    needed = run(best, now, MoveLimits(1e9), options)[1].moves
    values = []
    for most in range(needed, needed + 40, 4):
        kept, report = run(best, now, MoveLimits(0.0, most), options)
        assert report.moves <= most
        values.append(kept.answer.value)
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]
    done, report = run(best, now, MoveLimits(0.2), options)
    assert report.moves < run(best, now, MoveLimits(0.0), options)[1].moves
    again, second = run(best, done.answer.copies.tolist(), MoveLimits(0.2), options)
    assert second.moves == 0
    assert second.bound_by == "threshold"
    assert again.answer.assignments == done.answer.assignments
    same, third = run(best, best.answer.copies.tolist(), MoveLimits(0.0), options)
    assert (third.moves, third.bound_by) == (0, "best")
    assert same.answer.assignments == best.answer.assignments
