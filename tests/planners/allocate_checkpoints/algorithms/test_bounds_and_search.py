"""The parts that only large problems need: subgradient bound, neighbourhoods, tight clocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.allocate_checkpoints.algorithms.ascent_at_scale import CANDIDATE_STEPS, SAMPLE_STEPS
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import WHOLE, ascend, dual_value
from ftplan.planners.allocate_checkpoints.algorithms.bounds.subgradient import (
    Blocks,
    Lagrangian,
    LimitBlock,
    Minimum,
    StepRule,
    paid,
    subgradient_ascent,
)
from ftplan.planners.allocate_checkpoints.algorithms.exact import exact
from ftplan.planners.allocate_checkpoints.algorithms.limits import limits_of
from ftplan.planners.allocate_checkpoints.algorithms.proven_bound import best_dual
from ftplan.planners.allocate_checkpoints.algorithms.reduced_cost_fixing import (
    exchange_copies,
    open_columns,
)
from ftplan.planners.allocate_checkpoints.algorithms.rules.smallest_limits import longest_first
from ftplan.planners.allocate_checkpoints.algorithms.search import node_repair
from ftplan.planners.allocate_checkpoints.algorithms.search.local_search import improve
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, build
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget
from tests.planners.allocate_checkpoints.algorithms.cases import Case, cases, cluster, job, placement


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("anti_affinity", ["node", "zone"])
def test_subgradient_nears_the_linear_relaxation_from_below(copies: int, anti_affinity: Any) -> None:
    topology, series = job(64, 6)
    options = AllocationOptions(copies=copies, anti_affinity=anti_affinity, balance=0.2)
    problem = build(topology, cluster(), placement(), series, options)
    limits = limits_of(problem, CheckpointRules(copies, anti_affinity, 0.2))
    relaxed = best_dual(problem, limits, 0.0, 0, Budget(60)).bound
    placed = WorkingAllocation.of(problem, limits, longest_first(problem))
    assert repair(placed, Budget(60))
    climbed = ascend(problem, limits, problem.value(placed.copies), Budget(60)).bound
    start = dual_value(problem, limits, np.zeros(limits.lower.shape)).bound
    assert climbed <= relaxed + 1e-6 * abs(relaxed)
    assert climbed >= relaxed - 0.05 * (relaxed - start)


@pytest.mark.parametrize(("upper", "best"), [(1.0, -3.0), (np.inf, -4.0), (2.0, -4.0)])
@pytest.mark.parametrize("rule", [WHOLE, CANDIDATE_STEPS, SAMPLE_STEPS])
def test_ascent_reaches_the_best_price_of_one_limit(rule: StepRule, upper: float, best: float) -> None:
    """Costs 0, -3 and -4 of using 0, 1 and 2: prices from 1 to 3 make 1 the cheapest."""

    def minimum(prices: Blocks) -> Minimum:
        used = int(np.argmin([0.0, prices[0][0] - 3.0, 2.0 * prices[0][0] - 4.0]))
        value = (0.0, -3.0, -4.0)[used] + float(prices[0][0]) * used
        payment = paid(prices[0], np.array([-np.inf]), np.array([upper]))
        return Minimum(value - float(payment.sum()), (np.array([float(used)]),), np.array([[used]]))

    limit = LimitBlock(np.array([-np.inf]), np.array([upper]), np.ones(1))
    ascent = subgradient_ascent(Lagrangian((limit,), minimum), (np.zeros(1),), best, 200, Budget(60), rule)
    assert ascent.minimum.value == pytest.approx(best)
    assert ascent.minimum.value == minimum(ascent.prices).value
    assert 1.0 <= ascent.prices[0][0] <= 3.0 if upper == 1.0 else ascent.prices[0][0] == 0.0


@settings(max_examples=50, deadline=None)
@given(cases(memory=True), st.integers(1, 2), st.sampled_from([0.5, 1.0]), st.integers(0, 2**32 - 1))
def test_any_prices_give_a_bound(case: Case, copies: int, balance: float, seed: int) -> None:
    """Nothing beats the Lagrangian, at whatever prices; and fixing by reduced costs keeps the optimum."""
    options = AllocationOptions(copies=copies, balance=balance)
    problem = case.problem(options)
    answer = exact(problem, options).answer
    if answer is None:
        return
    limits = limits_of(problem, answer.rules)
    prices = np.random.default_rng(seed).normal(size=limits.lower.shape)
    prices[(prices > 0) & np.isinf(limits.upper)] = 0
    prices[(prices < 0) & np.isinf(limits.lower)] = 0
    dual = dual_value(problem, limits, prices)
    assert dual.bound <= answer.value + 1e-9 * (1 + abs(answer.value))
    if problem.split is None:
        columns = open_columns(problem, limits, dual, answer.value)
        assert np.take_along_axis(columns, answer.copies, axis=1).all()


@pytest.mark.parametrize("copies", [1, 2])
def test_search_keeps_the_limits_and_never_loses(copies: int) -> None:
    """Repair, moves and swaps, then neighbourhoods: each at most as dear as before, and the same every time."""
    topology, series = job(32, 7)
    options = AllocationOptions(copies=copies, balance=0.1)
    problem = build(topology, cluster(), placement(), series, options)
    limits = limits_of(problem, CheckpointRules(copies, "node", 0.1))
    placed = WorkingAllocation.of(problem, limits, longest_first(problem))
    assert repair(placed, Budget(60))
    first = problem.value(placed.copies)
    improve(placed, Budget(60))
    second = problem.value(placed.copies)
    assert second <= first
    assert limits.satisfied_by(placed.copies)
    dual = best_dual(problem, limits, second, 0, Budget(60))
    columns = open_columns(problem, limits, dual, second)
    logs = problem.incumbents(), problem.incumbents()
    for log in logs:
        log.offer(placed.copies, second, "moves")
        exchange_copies(problem, limits, columns, log, dual, 0, 5, Budget(60))
    found, again = (log.answer for log in logs)
    assert np.array_equal(found, again)
    assert limits.satisfied_by(found)
    assert dual.bound <= problem.value(found) <= second


def test_repair_of_a_large_allocation_knows_what_the_nodes_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repair in bulk counts anew; what repair then does for failover, and search after it, starts from that count."""
    monkeypatch.setattr(node_repair, "MANY_SLOTS", 0)
    topology, series = job(16, 7)
    options = AllocationOptions(balance=0.3, failover_limit=2.0)
    problem = build(topology, cluster(), placement(), series, options)
    limits = limits_of(problem, CheckpointRules(1, "node", 0.3, failover_limit=2.0))
    allocation = WorkingAllocation.of(problem, limits, problem.allowed.argmax(axis=1)[:, None])
    assert repair(allocation, Budget(60))
    assert allocation.used == pytest.approx(limits.used(allocation.copies))


@pytest.mark.parametrize("balance", ["auto", 0.02])
def test_bounded_work_is_the_same_every_time(balance: Any) -> None:
    """With ``iterations`` the answer depends on no clock."""
    topology, series = job(64, 9)
    options = AllocationOptions(balance=balance, iterations=15, time_limit_s=300)
    problem = build(topology, cluster(), placement(), series, options)
    one, two = exact(problem, options), exact(problem, options)
    assert one.status == two.status
    assert (one.bound, one.warnings) == (two.bound, two.warnings)
    if one.answer is not None and two.answer is not None:
        assert one.answer.assignments == two.answer.assignments
        assert "TIME_LIMIT" not in [w.code for w in one.warnings]
