"""Bounds on what rebalances cost: never above the optimum, at any prices."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.plan import Objective
from ftplan.model.tolerances import PROVEN
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms import relaxation as relaxations
from ftplan.planners.rebalance.algorithms.candidates import Candidates
from ftplan.planners.rebalance.algorithms.lower_bound import lower_bound
from ftplan.planners.rebalance.algorithms.models.choices import ChoiceTable
from ftplan.planners.rebalance.algorithms.models.rows import program_of
from ftplan.planners.rebalance.algorithms.models.solving import branch_and_cut, minimised
from ftplan.planners.rebalance.algorithms.relaxation import LoadPrices, LoadRelaxation, cheapest_cover
from ftplan.planners.rebalance.migration_costs import MigrationSetting
from tests.planners.rebalance.algorithms.cases import brute_force, random_problem, rebalance_problem, scaled_problem


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_no_prices_prove_more_than_the_optimum(seed: int, units: int) -> None:
    problem = random_problem(seed)
    optimum = brute_force(problem)
    if optimum is None:
        return
    rng = np.random.default_rng(seed)
    relaxation, scale = LoadRelaxation(Candidates(problem)), rng.choice([0.0, 1e-3, 0.1, 1e5])
    limits = problem.limits
    prices = LoadPrices(
        rng.normal(0.0, scale, 4),
        0.0 if limits.max_moves is None else float(rng.exponential(scale)),
        0.0 if limits.max_bytes is None else float(rng.exponential(scale * 1e-6)),
    )
    bound = relaxation.dual(prices, units).bound + problem.value(())
    assert bound <= optimum[0] + 1e-9 * max(1.0, abs(optimum[0]))


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_the_bound_is_below_the_optimum_and_often_there(seed: int) -> None:
    problem = random_problem(seed)
    optimum = brute_force(problem)
    dual = lower_bound(Candidates(problem), np.inf if optimum is None else optimum[0], 0, Budget(3600.0))
    if optimum is not None:
        assert dual.bound + problem.value(()) <= optimum[0] + 1e-9 * max(1.0, abs(optimum[0]))


def test_a_wrong_bound_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = scaled_problem(0, groups=256, nodes=8)
    honest = lower_bound(Candidates(problem), np.inf, 0, Budget(3600.0)).bound

    def dearer(*args: Any) -> Any:
        cost, chosen = cheapest_cover(*args)
        return 1.1 * cost, chosen

    monkeypatch.setattr(relaxations, "cheapest_cover", dearer)
    wrong = lower_bound(Candidates(problem), np.inf, 0, Budget(3600.0)).bound
    assert wrong > honest
    with pytest.raises(RuntimeError, match="reported as proven"):
        Objective.of("latency", "min", honest, wrong)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(-3, 20), st.integers(0, 12)), min_size=1, max_size=9),
    st.integers(1, 40),
)
def test_covers_are_cheapest(items: list[tuple[int, int]], excess: int) -> None:
    cost, load = (np.array(column, dtype=np.float64) for column in zip(*items, strict=True))
    negative = cost < 0.0
    best = np.inf
    for chosen in itertools.product((False, True), repeat=len(items)):
        taken = np.array(chosen) | negative
        if load[taken].sum() >= excess:
            best = min(best, float(cost[taken & ~negative].sum()))
    for enough in (False, True):
        value, taken = cheapest_cover(cost, load, float(excess), excess, enough)  # loads are whole units
        assert value == best
        if np.isfinite(best):
            assert load[taken].sum() >= excess
    coarse, _ = cheapest_cover(cost, load, float(excess), 3)
    sure, some = cheapest_cover(cost, load, float(excess), 3, enough=True)
    assert coarse <= best <= sure
    if np.isfinite(sure):
        assert load[some].sum() >= excess


@pytest.mark.parametrize("seed", [2, 7, 12])
def test_a_bound_holds_although_some_moves_cost_ten_million_times_more(seed: int) -> None:
    """SCIP proves too much there: its tolerances are relative to the largest cost of a program."""
    rng, groups, nodes = np.random.default_rng(seed), 120, 12
    load, home = rng.gamma(2.0, 10.0, groups), rng.integers(0, nodes, groups)
    room = np.full(nodes, np.bincount(home, load, minlength=nodes).mean() / 0.75)
    copies = [[int((node + rng.integers(1, nodes)) % nodes)] for node in home]
    state = rng.choice([1e3, 6e5, 1.2e7], groups)
    setting = MigrationSetting(
        rate=load, record_time_s=1e-4, state_bytes=state, record_bytes=1e-2, age_s=rng.uniform(0, 1, groups),
        interval_s=20.0, bandwidth_mb_s=10.0, delay_s=0.01,
    )  # fmt: skip
    problem = rebalance_problem(
        load.tolist(), home.tolist(), copies, room.tolist(), state.tolist(), setting, criterion="bytes"
    )
    table = ChoiceTable(problem)
    wide = table.to_classes()
    program = program_of(table, wide)
    alone, whole = branch_and_cut(program, 0, Budget(600.0)), minimised(program, wide.group, 0, Budget(600.0))
    assert alone.x is not None
    assert whole.x is not None
    value = float(program.cost @ whole.x)
    assert value * (1.0 - PROVEN) <= whole.bound <= value
    assert value < 0.9 * float(program.cost @ alone.x)  # as long as this is so, minimised has to solve twice
