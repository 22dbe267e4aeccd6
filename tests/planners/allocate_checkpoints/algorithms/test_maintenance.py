"""Upkeep: never worse than what is in place, within the threshold of a fresh plan, never more moves than allowed."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from ftplan.model.cluster import Node
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.algorithms.limits import limits_of
from ftplan.planners.allocate_checkpoints.algorithms.maintenance import MaintenanceReport, maintain
from ftplan.planners.allocate_checkpoints.algorithms.search import partial_restoration
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import CurrentAllocation, MoveLimits
from ftplan.planners.allocate_checkpoints.objective import OBJECTIVES, CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions
from ftplan.planners.allocate_checkpoints.violations import violations
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result
from tests.planners.allocate_checkpoints.algorithms.cases import Case, cases, cluster, job, placement

ALGORITHMS = ["correlated", "exact", "even", "baseline"]


def fresh(case: Case, algorithm: str, options: AllocationOptions) -> Result[Any]:
    planner = registry.load(registry.row("allocate-checkpoints", algorithm))
    result: Result[Any] = planner(case.problem(options), options)
    return result


def run(
    result: Result[Any], now: list[list[int]], allowance: MoveLimits, options: AllocationOptions
) -> tuple[Result[Any], MaintenanceReport]:
    kept, report = maintain(result, now, allowance, options, Budget.of(options))
    assert report is not None
    return kept, report


def moved(now: list[list[int]], copies: Any, state: Any) -> tuple[int, float]:
    """Count moves and bytes as the plan's list of moves does, from sets alone."""
    moves, size = 0, 0.0
    for held, row, bytes_each in zip(now, map(list, copies), state.tolist(), strict=True):
        moves += max(len(set(held) - set(row)), len(set(row) - set(held)))
        size += bytes_each * len(set(row) - set(held))
    return moves, size


@st.composite
def upkeeps(
    draw: Any, max_groups: int = 5, failover: tuple[float | None, ...] = (None, None, 1.5, 2.5)
) -> tuple[Case, AllocationOptions, str, list[list[int]]]:
    """A case, options, an algorithm, and copies in place: anything, in any number."""
    case = draw(cases(max_groups=max_groups))
    copies = draw(st.integers(1, 2))
    options = AllocationOptions(
        copies=copies,
        balance=draw(st.sampled_from(["none", "auto", "count", 0.5, 1.0])),
        anti_affinity=draw(st.sampled_from(["node", "zone"])),
        time_limit_s=3600,
        iterations=50,
        objective=CheckpointObjective(draw(st.sampled_from(OBJECTIVES))),
        failover_limit=draw(st.sampled_from(failover)),
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


@settings(max_examples=120)
@given(upkeeps(), st.sampled_from([0.0, 0.1, 0.5]))
def test_unlimited_upkeep(what: tuple[Case, AllocationOptions, str, list[list[int]]], threshold: float) -> None:
    """It keeps the rules, ends within the threshold, and never costs more than copies in place that keep the rules."""
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
    current = CurrentAllocation(problem, now)
    sound = all(len(row) == options.copies for row in now)
    if sound:
        rows = np.array(now, dtype=np.int64).reshape(len(now), options.copies)
        assignments = type(kept.answer)(problem, rows, best.answer.rules).assignments
        sound = not violations(assignments, case.topology(), case.cluster(), case.series(), best.answer.rules)
    event(f"copies in place keep the rules: {sound}, {report.bound_by}")
    # Another first copy, which a failover limit may ask for, is no move.
    assert sound == (report.restoring == 0) or (report.restoring == 0 and best.answer.rules.failover_limit is not None)
    if sound:
        assert report.after <= current.value + noise
        if current.value <= best.answer.value + threshold * scale - noise:
            assert report.moves == 0


@settings(max_examples=120)
@given(upkeeps(), st.integers(0, 6), st.none() | st.sampled_from([0.0, 1.0, 2.0, 3.0]))
def test_limits_on_moves_and_bytes(
    what: tuple[Case, AllocationOptions, str, list[list[int]]], most: int, most_mb: float | None
) -> None:
    """Neither is exceeded; where restoring all needs more, a part is restored, and what is said to restore all does."""
    case, options, algorithm, now = what
    best = fresh(case, algorithm, options)
    assume(best.answer is not None)
    allowance = MoveLimits(0.0, most, None if most_mb is None else most_mb * 2**20)
    kept, report = run(best, now, allowance, options)
    problem = best.answer.problem.by_group
    assert kept.answer is not None
    if report.full_restoration is not None:
        event("restored in part")
        assert (kept.status, kept.rules) == ("feasible", ())
        assert report.bound_by in ("max-moves", "max-bytes")
        assert f"--{report.bound_by}" in str(kept.reason)
        assert allowance.exceeded(*report.full_restoration)
        assert kept.bound is None or kept.bound <= kept.answer.value + 1e-9
        again, more = run(best, now, MoveLimits(0.0, *report.full_restoration), options)
        assert more.full_restoration is None
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
    event(f"{report.bound_by}, restoring {report.restoring > 0}")


def faults(problem: Any, limits: Any, rows: list[list[int]]) -> tuple[int, float, float]:
    """Count what is wrong with copies, how far nodes are beyond the limits, and the cost, by loops."""
    defects = 0
    for u, row in enumerate(rows):
        fine = {int(problem.domain[i]) for i in row if problem.allowed[u, i]}
        defects += max(len(row), problem.copies) - min(len(fine), problem.copies)
    breach = 0.0
    for r in range(len(limits.names)):
        scale = max(float(limits.weight[r].sum()) / len(problem.nodes), 1e-300)
        for i in range(len(problem.nodes)):
            used = sum(float(limits.weight[r, u]) for u, row in enumerate(rows) if i in row)
            breach += max(used - limits.upper[r, i], limits.lower[r, i] - used, 0.0) / scale
    return defects, breach, sum(float(problem.cost[u, i]) for u, row in enumerate(rows) for i in row)


def single_changes(rows: list[list[int]], nodes: int, copies: int) -> Iterator[list[list[int]]]:
    """Yield the copies after every change of one: moved, dropped, or added where there are too few."""
    for u, row in enumerate(rows):
        for place, node in itertools.product(range(len(row)), range(nodes)):
            if node not in row:
                yield [*rows[:u], [*row[:place], node, *row[place + 1 :]], *rows[u + 1 :]]
        for place in range(len(row)):
            yield [*rows[:u], row[:place] + row[place + 1 :], *rows[u + 1 :]]
        if len(row) < copies:
            yield from ([*rows[:u], [*row, node], *rows[u + 1 :]] for node in range(nodes) if node not in row)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))  # most copies in place can be restored in full
@given(upkeeps(), st.integers(0, 3), st.none() | st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([True, True, False]))
def test_partial_restoration_is_never_worse_and_leaves_nothing_that_one_move_restores(
    what: tuple[Case, AllocationOptions, str, list[list[int]]], most: int, most_mb: float | None, small: bool
) -> None:
    """Against every change of one copy: no fault grows, and none is left that an allowed move makes smaller.

    Large problems go unit by unit: no fault grows there either, and a move that restores is made where one may be.
    """
    case, options, algorithm, now = what
    best = fresh(case, algorithm, options)
    assume(best.answer is not None)
    allowance = MoveLimits(0.0, most, None if most_mb is None else most_mb * 2**20)
    with mock.patch.object(
        partial_restoration, "MOST_PAIRS_FOR_ALL", partial_restoration.MOST_PAIRS_FOR_ALL if small else 0
    ):
        kept, report = run(best, now, allowance, options)
    assume(report.full_restoration is not None)
    problem = best.answer.problem.by_group
    limits = limits_of(problem, best.answer.rules)
    rows = [[i for i in row if i >= 0] for row in kept.answer.copies.tolist()]
    moves, size = moved(now, rows, problem.state)
    assert (moves, size) == pytest.approx((report.moves, report.size))
    assert not allowance.exceeded(moves, size)
    before, after = faults(problem, limits, now), faults(problem, limits, rows)
    noise = 1e-8 * max(1.0, float(np.abs(problem.cost).max(initial=0.0)))
    assert after[0] <= before[0]
    assert after[1] <= before[1] + 1e-8
    if after[0] == before[0] and after[1] >= before[1] - 1e-8:
        assert after[2] <= before[2] + noise
    assert kept.answer.value == pytest.approx(after[2], abs=noise)
    assume(limits.failover is None and (small or moves < most))
    memory = limits.names.index("memory") if "memory" in limits.names else None
    for other in single_changes(rows, len(problem.nodes), problem.copies):
        if allowance.exceeded(*moved(now, other, problem.state)):
            continue
        if memory is not None and any(
            over(limits, memory, other, i) > over(limits, memory, rows, i) for i in range(len(problem.nodes))
        ):
            continue
        defects, breach, cost = faults(problem, limits, other)
        restores = (defects < after[0] and breach <= after[1]) or (defects == after[0] and breach < after[1] - 1e-6)
        saves = defects == after[0] and breach <= after[1] and cost < after[2] - noise
        assert not restores
        assert not saves


def test_no_rule_is_broken_to_restore_another() -> None:
    """One copy a node: o/0 lies beside its primary, wherever it goes alone is full, and two moves restore it."""
    loads = ((1.0, 2.0), (2.0, 1.0), (1.0, 3.0))
    nodes = tuple(Node(name, cpu=1.0) for name in ("n0", "n1", "n2"))
    case = Case(tuple(("o", g) for g in range(3)), loads, ("n0", "n0", "n1"), (1.0, 1.0, 1.0), nodes)
    options = AllocationOptions(balance="count", iterations=50)
    now = [[0], [1], [2]]
    best = fresh(case, "correlated", options)
    kept, report = run(best, now, MoveLimits(0.0, 1), options)
    assert kept.answer is not None
    assert kept.answer.copies.tolist() == now
    assert report.full_restoration == (2, 2.0 * 2**20)
    assert str(kept.reason) == (
        "no change: --max-moves 1 allows no more, and mending all rules that the copies in place break takes at least "
        "2 moves of 2097152 bytes"
    )


def over(limits: Any, row: int, rows: list[list[int]], node: int) -> float:
    used = sum(float(limits.weight[row, u]) for u, held in enumerate(rows) if node in held)
    return max(0.0, used - float(limits.upper[row, node]))


@settings(max_examples=80)
@given(upkeeps(max_groups=3, failover=(None,)))
def test_fewest_moves_to_restore(what: tuple[Case, AllocationOptions, str, list[list[int]]]) -> None:
    """On small cases no allocation within the rules is nearer to the copies in place than the restored one."""
    case, options, algorithm, now = what
    best = fresh(case, algorithm, options)
    assume(best.answer is not None)
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
        if limits.satisfied_by(np.array(plan, dtype=np.int64))
    )
    assert report.restoring == fewest


@pytest.mark.parametrize("balance", ["none", 0.1, "count"])
@pytest.mark.parametrize("copies", [1, 2])
def test_more_moves_are_never_worse_and_a_second_run_changes_nothing(balance: Any, copies: int) -> None:
    topology, series = job(24, 7)
    options = AllocationOptions(balance=balance, copies=copies, iterations=30)
    from ftplan.planners.allocate_checkpoints.problem import build

    problem = build(topology, cluster(), placement(), series, options)
    old = build(topology, cluster(), placement(), job(24, 8)[1], options)
    planner = registry.load(registry.row("allocate-checkpoints", "correlated"))
    now = planner(old, options).answer.copies.tolist()
    best = planner(problem, options)
    needed = run(best, now, MoveLimits(1e9), options)[1].moves
    values = []
    for most in range(needed, needed + 36, 6):
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
