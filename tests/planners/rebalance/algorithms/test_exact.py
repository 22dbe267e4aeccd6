"""The exact rebalance against all placements, all protocols and all phases."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ftplan.model.tolerances import PROVEN
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms import least_cost as search
from ftplan.planners.rebalance.algorithms.adaptive import adaptive
from ftplan.planners.rebalance.algorithms.exact import exact
from ftplan.planners.rebalance.algorithms.least_cost import ProvenMoves, fewest, least_cost
from ftplan.planners.rebalance.algorithms.models.choices import STAY, ChoiceTable
from ftplan.planners.rebalance.algorithms.models.node_model import Goal
from ftplan.planners.rebalance.algorithms.models.phase_cuts import impossible_moves
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceLimits, RebalanceProblem, RebalanceSearch
from ftplan.planners.rebalance.rules import broken
from tests.effort import examples
from tests.planners.rebalance.algorithms.cases import (
    breaks,
    brute_force,
    random_problem,
    rebalance_problem,
    scaled_problem,
    shuffled,
    transferred,
)

ITERATIONS = RebalanceSearch(time_limit_s=600.0, iterations=200)


def solved(problem: RebalanceProblem, goal: Goal | None = None) -> ProvenMoves:
    return least_cost(ChoiceTable(problem), None, goal or Goal(), Budget(600.0))


def same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def without_notice(problem: RebalanceProblem) -> RebalanceProblem:
    """The exhaustive search of placements leaves the notice aside."""
    return replace(problem, limits=replace(problem.limits, within_s=None))


def assert_least(problem: RebalanceProblem) -> None:
    proven, truth = solved(problem), brute_force(problem)
    if truth is None:
        assert proven.moves is None
        assert proven.bound == math.inf
        return
    assert proven.moves is not None
    assert breaks(problem, proven.moves) is None
    value, here = problem.value(proven.moves), problem.value(())
    assert same(value, truth[0])
    assert proven.bound + here <= truth[0] + 1e-9 * max(1.0, abs(truth[0]))
    assert proven.bound + here >= value - PROVEN * max(abs(value), 1e-9)
    moves = fewest(ChoiceTable(problem), proven, Goal(), Budget(600.0))
    assert breaks(problem, moves) is None
    assert same(problem.value(moves), value)
    assert len(moves) <= len(truth[1])


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_it_costs_as_little_as_the_best_of_all_placements(first: int) -> None:
    for seed in range(first, first + 40):
        assert_least(without_notice(random_problem(seed)))


@pytest.mark.parametrize("tightness", [0.9, 0.97, 1.0])
def test_full_nodes_are_no_harder(tightness: float) -> None:
    for seed in range(1000, 1000 + examples(30)):
        assert_least(without_notice(random_problem(seed, 5, 3, tightness)))


def test_classes_of_nodes_lead_to_the_same_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [random_problem(seed, 5) for seed in range(examples(90))]
    problems += [random_problem(seed, 14, 6) for seed in range(examples(12))]
    whole = [solved(problem) for problem in problems]
    monkeypatch.setattr(search, "FEW_COLUMNS", 0)
    for problem, at_once in zip(problems, whole, strict=True):
        by_class = solved(problem)
        assert (by_class.moves is None) == (at_once.moves is None)
        if by_class.moves is None or at_once.moves is None:
            continue
        assert breaks(without_notice(problem), by_class.moves) is None
        assert by_class.bound <= problem.value(at_once.moves) - problem.value(()) + 1e-6
        assert same(problem.value(by_class.moves), problem.value(at_once.moves))


def ordered_partitions(moves: Sequence[Migration]) -> Iterator[tuple[tuple[Migration, ...], ...]]:
    """Yield all phases of moves, those of a phase hot first."""
    if not moves:
        yield ()
    for size in range(1, len(moves) + 1):
        for first in itertools.combinations(moves, size):
            rest = [move for move in moves if move not in first]
            for others in ordered_partitions(rest):
                yield (first, *others)


PHASE_RULES = {"phase-capacity", "max-pause", "phase-bytes", "within"}


def has_phases(problem: RebalanceProblem, moves: Sequence[Migration]) -> bool:
    """Return whether some phases break no rule of phases, as the judge sees it."""
    hot = sorted(moves, key=lambda move: (-problem.rate[move.group], move.group))
    last = tuple(move for move in hot if move.protocol in ("recover", "fetch"))
    before = [move for move in hot if move not in last]
    for phases in ordered_partitions(before):
        whole = Rebalance((*phases, last) if last else phases)
        if not any(breach.rule in PHASE_RULES for breach in broken(problem, whole)):
            return True
    return False


def best_in_phases(problem: RebalanceProblem) -> float | None:
    """Return the least value of moves that have phases, over all placements and protocols."""
    choices: list[list[Migration | None]] = []
    for group, home in enumerate(problem.home.tolist()):
        targets = [n for n in range(len(problem.nodes)) if problem.hosts[n] and n != home]
        stays: list[Migration | None] = [] if problem.removed[home] else [None]
        choices.append(stays + [Migration(group, n, p) for n in targets for p in problem.possible(group, n)])
    kept = []
    for chosen in itertools.product(*choices):
        moves = tuple(move for move in chosen if move is not None)
        if breaks(problem, moves) is None:
            kept.append((problem.value(moves), moves))
    for value, moves in sorted(kept):
        if has_phases(problem, moves):
            return value
    return None


def phase_problem(seed: int) -> RebalanceProblem:
    """Return a small problem that is hard to phase: full nodes, links that wait, moves that load two nodes."""
    rng = np.random.default_rng([7, seed])
    load = rng.integers(1, 5, 4) * 10.0
    home, removed = rng.integers(0, 3, 4), np.zeros(3, dtype=np.bool_)
    copies = [[int(n) for n in range(3) if n != home[k] and rng.random() < 0.6] for k in range(4)]
    limits = RebalanceLimits()
    if rng.random() < 0.35:
        removed[2] = True
        limits = replace(limits, within_s=float(rng.choice([0.5, 2.0, 8.0])), phase_overhead_s=0.5)
    if rng.random() < 0.3:
        limits = replace(limits, max_pause_s=float(rng.choice([0.2, 1.0, 3.0])))
    if rng.random() < 0.3:
        limits = replace(limits, phase_bytes=float(rng.choice([1e4, 2e6])))
    fair = load.sum() / (3 - removed.sum())
    limit = np.full(3, np.ceil(fair / 10.0) * 10.0)
    lower = np.where(removed, -np.inf, np.floor(fair / 10.0) * 10.0 if rng.random() < 0.6 else -np.inf)
    protocols: tuple[str, ...] = (("cpal",), ("cpal", "direct"), PROTOCOLS[:4])[int(rng.integers(0, 3))]
    return rebalance_problem(
        load.tolist(), home.tolist(), copies, (limit / 0.8).tolist(), rng.choice([1e5, 5e6, 2e7], 4).tolist(),
        hosts=~removed, keeps=~removed, removed=removed, ceiling=limit, upper=limit, lower=lower,
        protocols=protocols, limits=limits,
    )  # fmt: skip


def test_it_costs_as_little_as_the_best_moves_that_have_phases() -> None:
    proven = 0
    for seed in range(45):
        problem = phase_problem(seed)
        truth, result = best_in_phases(problem), exact(problem, ITERATIONS)
        if truth is None:
            assert result.answer is None
            continue
        if result.answer is None:
            assert result.status != "infeasible"
            continue
        value = problem.value(result.answer.moves)
        assert not list(broken(problem, result.answer))
        assert result.bound is not None
        assert result.bound <= truth + 1e-9 * max(1.0, truth)
        assert value >= truth - 1e-9 * max(1.0, truth)
        if result.status == "optimal":
            proven += 1
            assert same(value, truth)
            assert "BOUND_WITHOUT_PHASES" not in {warning.code for warning in result.warnings}
    assert proven >= 20


def test_what_is_cut_off_has_no_phases() -> None:
    cut = 0
    for seed in range(examples(60)):
        problem = phase_problem(seed)
        proven = solved(problem)
        for some in impossible_moves(problem, proven.moves or (), Budget(600.0)):
            cut += 1
            assert not has_phases(problem, sorted(some))
    assert cut > 0


def test_columns_are_what_the_problem_allows() -> None:
    for seed in range(examples(60)):
        problem = without_notice(random_problem(seed))
        every = ChoiceTable(problem).to_nodes(np.arange(len(problem.home)))
        cheapest: dict[tuple[int, int], float] = {}
        for k, n, row, cost in zip(every.group, every.place, every.row, every.cost, strict=True):
            if row == STAY:
                assert n == problem.home[k]
                assert not problem.removed[n]
                continue
            move = Migration(int(k), int(n), PROTOCOLS[row])
            assert move.protocol in problem.possible(move.group, move.target)
            assert same(problem.cost(move), cost)
            cheapest[move.group, move.target] = min(cost, cheapest.get((move.group, move.target), math.inf))
        most = problem.limits.max_pause_s
        for k, n in itertools.product(range(len(problem.home)), range(len(problem.nodes))):
            if not problem.hosts[n] or n == problem.home[k]:
                assert (k, n) not in cheapest
                continue
            able = list(problem.possible(k, n))
            able = [p for p in able if most is None or problem.costs.latency_s[PROTOCOLS.index(p), k] <= most]
            least = min((problem.cost(Migration(k, n, p)) for p in able), default=math.inf)
            assert same(least, cheapest.get((k, n), math.inf)) or least == cheapest.get((k, n), math.inf)


def test_it_is_never_worse_than_adaptive_and_the_bound_is_none_above() -> None:
    for seed in range(6):
        problem = random_problem(seed, 12, 5)
        mine, theirs = exact(problem, ITERATIONS), adaptive(problem, ITERATIONS)
        if theirs.answer is None:
            continue
        assert mine.answer is not None
        value, other = problem.value(mine.answer.moves), problem.value(theirs.answer.moves)
        assert value <= other + 1e-9 * max(1.0, other)
        assert mine.bound is not None
        assert mine.bound <= value + 1e-9 * max(1.0, value)
        assert not list(broken(problem, mine.answer))


def test_more_moves_bytes_or_hosts_never_cost_more() -> None:
    for seed in range(examples(15)):
        problem = replace(random_problem(seed, 7, 4, 0.8, traffic=None, lower=np.full(4, -np.inf)))
        values = []
        for most in (1, 2, 4, None):
            proven = solved(replace(problem, limits=replace(problem.limits, max_moves=most, max_bytes=None)))
            values.append(math.inf if proven.moves is None else problem.value(proven.moves))
        proven = solved(replace(problem, limits=replace(problem.limits, max_moves=None, max_bytes=None)))
        if proven.moves is not None:
            size = transferred(problem, proven.moves)
            limited = solved(replace(problem, limits=replace(problem.limits, max_moves=None, max_bytes=size)))
            assert limited.moves is not None
            assert same(problem.value(limited.moves), problem.value(proven.moves))
        assert values == sorted(values, reverse=True)
        fewer = solved(replace(problem, hosts=problem.hosts & (np.arange(4) > 0)))
        if fewer.moves is not None and values[-1] < math.inf:
            assert values[-1] <= problem.value(fewer.moves) + 1e-9 * max(1.0, values[-1])


def test_the_order_of_groups_makes_no_difference_to_the_cost() -> None:
    for seed in range(examples(15)):
        problem = random_problem(seed, 8, 4)
        mixed, _ = shuffled(problem, seed)
        first, second = solved(problem), solved(mixed)
        assert (first.moves is None) == (second.moves is None)
        if first.moves is not None and second.moves is not None:
            assert same(problem.value(first.moves), mixed.value(second.moves))


def even_problem(groups: int, nodes: int, tolerance: float) -> RebalanceProblem:
    problem = scaled_problem(3, groups, nodes)
    fair = problem.load.sum() / nodes
    upper = np.minimum(problem.ceiling, (1.0 + tolerance) * fair)
    return replace(problem, upper=upper, lower=np.full(nodes, (1.0 - tolerance) * fair))


def test_iterations_make_it_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "FEW_COLUMNS", 0)
    problem = even_problem(80, 8, 0.02)
    few = replace(ITERATIONS, iterations=3)
    first, second = exact(problem, few), exact(problem, few)
    assert first == second
    assert not any(warning.code == "TIME_LIMIT" for warning in first.warnings)


def test_the_clock_ends_it() -> None:
    problem = even_problem(2000, 60, 0.005)
    begun = time.monotonic()
    result = exact(problem, RebalanceSearch(time_limit_s=2.0))
    assert time.monotonic() - begun < 8.0
    assert result.status != "infeasible"
    assert result.status == "optimal" or any(warning.code == "TIME_LIMIT" for warning in result.warnings)


def test_many_groups_are_planned_within_a_hundredth_of_the_optimum() -> None:
    problem = scaled_problem(1, 512, 30)
    result = exact(problem, replace(ITERATIONS, iterations=20))
    assert result.answer is not None
    assert result.bound is not None
    value = problem.value(result.answer.moves)
    assert value - result.bound <= 0.01 * value
    assert not list(broken(problem, result.answer))


def test_a_cycle_of_full_nodes_does_without_the_protocol_that_loads_both() -> None:
    """Two groups change places on full nodes: by cpal neither can begin, and direct is the cheapest that can."""
    load = [40.0, 38.0, 40.0, 42.0]
    problem = rebalance_problem(
        load, [0, 0, 1, 1], [[1], [1], [0], [0]], [100.0, 100.0],
        lower=np.array([79.0, 79.0]), protocols=("cpal", "direct"),
    )  # fmt: skip
    result = exact(problem, ITERATIONS)
    assert result.status == "optimal"
    assert result.answer is not None
    truth = best_in_phases(problem)
    assert truth is not None
    assert same(problem.value(result.answer.moves), truth)


def test_nothing_to_do_costs_nothing() -> None:
    problem = rebalance_problem([10.0, 10.0], [0, 1], [[1], [0]], [100.0, 100.0])
    result = exact(problem, ITERATIONS)
    assert result.status == "optimal"
    assert result.answer is not None
    assert result.answer.moves == ()
    assert result.bound == 0.0
