"""What only large problems use, on problems that are small enough to check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.instances import daily_loads
from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.machine_limits import VARIABLE
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners.allocate_checkpoints.algorithms.arrays import needed_bytes
from ftplan.planners.allocate_checkpoints.algorithms.ascent_at_scale import ascend_at_scale
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import scan, with_incumbent
from ftplan.planners.allocate_checkpoints.algorithms.exact import MANY_PAIRS, exact, price_guided
from ftplan.planners.allocate_checkpoints.algorithms.limits import limits_of
from ftplan.planners.allocate_checkpoints.algorithms.proven_bound import best_dual
from ftplan.planners.allocate_checkpoints.algorithms.rules.smallest_limits import longest_first
from ftplan.planners.allocate_checkpoints.algorithms.search.node_repair import repair_in_bulk
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, CheckpointProblem, build
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget
from tests.planners.allocate_checkpoints.algorithms.cases import cluster, job, placement


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("anti_affinity", ["node", "zone"])
def test_prices_guide_to_a_valid_plan_above_the_bound(copies: int, anti_affinity: Any) -> None:
    """The same plan twice, within all limits, no dearer than the first, and never below the linear relaxation."""
    topology, series = job(128, 6)
    options = AllocationOptions(copies=copies, anti_affinity=anti_affinity, balance=0.1)
    problem = build(topology, cluster(), placement(), series, options)
    limits = limits_of(problem, CheckpointRules(copies, anti_affinity, 0.1))
    placed = WorkingAllocation.of(problem, limits, longest_first(problem))
    assert repair(placed, Budget(60))
    relaxed = best_dual(problem, limits, 0.0, 0, Budget(60)).bound
    log, again = problem.incumbents(), problem.incumbents()
    for one in (log, again):
        one.offer(placed.copies, placed.value, "repair")
        dual = price_guided(problem, limits, one, 0, Budget(60))
    best = log.answer
    assert np.array_equal(best, again.answer)
    assert limits.satisfied_by(best)
    assert np.take_along_axis(problem.allowed, best, axis=1).all()
    for row in problem.domain[best]:
        assert len(set(row.tolist())) == copies
    assert dual.bound <= relaxed + 1e-6 * abs(relaxed)
    assert relaxed - 1e-6 * abs(relaxed) <= problem.value(best) <= problem.value(placed.copies)


def test_bound_at_scale_nears_the_linear_relaxation() -> None:
    topology, series = job(256, 3)
    options = AllocationOptions(balance=0.1)
    problem = build(topology, cluster(), placement(), series, options)
    limits = limits_of(problem, CheckpointRules(1, "node", 0.1))
    relaxed = best_dual(problem, limits, 0.0, 0, Budget(60)).bound
    dual, _ = ascend_at_scale(problem, limits, problem.random_value, Budget(60))
    assert relaxed - 0.01 * abs(relaxed - problem.random_value) <= dual.bound <= relaxed + 1e-6 * abs(relaxed)


def daily(groups: int, nodes: int, overload: float) -> CheckpointProblem:
    """Key groups whose load follows the day with random phases, dealt to equal nodes, by usable copies."""
    loads = daily_loads(groups, 48, 0, day=24)
    one, nothing = np.ones(groups), np.zeros(groups)
    topology = Topology((Operator("op", groups, cpu=one, state_bytes=nothing, priority=one, key_groups=groups),), ())
    ids = tuple(f"n{i + 1}" for i in range(nodes))
    where = Placement(key_groups={"op": tuple(ids[g * nodes // groups] for g in range(groups))})
    number = np.arange(groups)
    series = KeyGroupSeries(
        ("op",), 0 * number, number, loads, "records", 3600.0, nothing * np.nan, np.zeros(groups, dtype=np.bool_)
    )
    options = AllocationOptions(balance=0.05, objective=CheckpointObjective("usable", overload=overload))
    return build(topology, Cluster(tuple(Node(i, 1.0) for i in ids)), where, series, options)


def test_exact_at_scale_proves_usable_copies() -> None:
    """330,000 pairs with many ties: a tenth of a percent is left after little work, and the bound is a whole number."""
    problem = daily(4096, 80, 0.85)
    assert problem.cost.size > MANY_PAIRS
    options = AllocationOptions(balance=0.05, objective=CheckpointObjective("usable"), iterations=20, time_limit_s=600)
    result = exact(problem, options)
    assert result.answer is not None
    assert result.bound is not None
    assert result.bound == round(result.bound) <= result.answer.value
    assert problem.gap(result.answer.value, result.bound) < 0.001


def test_ties_share_the_load_without_a_balance_rule() -> None:
    """Many nodes are equally good for most groups: the first of them does not get all, and nothing is lost by it."""
    problem = daily(400, 20, 0.85)
    result = exact(problem, AllocationOptions(balance="none", objective=CheckpointObjective("usable")))
    assert result.answer is not None
    assert result.status == "optimal"
    assert result.answer.value == np.where(problem.allowed, problem.cost, 0.0).min(axis=1).sum()
    held = np.bincount(result.answer.copies[:, 0], problem.load, 20)
    assert held.max() < 0.25 * held.sum()


@pytest.mark.parametrize("copies", [1, 2])
def test_known_copies_are_kept_where_they_tie(copies: int) -> None:
    """Among equally cheap nodes the known ones count as chosen; elsewhere the cheapest do. All are candidates."""
    problem = replace(daily(60, 6, 0.75), copies=copies)
    limits = limits_of(problem, CheckpointRules(copies, "node", 0.2))
    prices = np.zeros(limits.lower.shape)
    last = np.argsort(np.where(problem.allowed, -np.arange(6), 9), axis=1, kind="stable")[:, :copies]
    found = scan(problem, limits, prices, 3)
    kept = with_incumbent(found, problem, limits, prices, last)
    tied = np.take_along_axis(problem.cost, last, axis=1).sum(axis=1) == found.total
    assert 0 < tied.sum() < 60
    assert np.array_equal(kept.copies, np.where(tied[:, None], last, found.copies))
    assert not np.array_equal(kept.copies, found.copies)
    assert (kept.nodes[:, :, None] == kept.copies[:, None, :]).any(axis=1).all()
    assert np.array_equal(kept.cost, np.take_along_axis(np.where(problem.allowed, problem.cost, np.inf), kept.nodes, 1))


def test_bulk_repair_reduces_the_breach() -> None:
    """From all copies on the first allowed node."""
    topology, series = job(64, 5)
    problem = build(topology, cluster(), placement(), series, AllocationOptions(balance=0.2))
    limits = limits_of(problem, CheckpointRules(1, "node", 0.2))
    placed = WorkingAllocation.of(problem, limits, problem.allowed.argmax(axis=1)[:, None])
    repair_in_bulk(placed, Budget(60))
    assert limits.satisfied_by(placed.copies)
    assert np.take_along_axis(problem.allowed, placed.copies, axis=1).all()


def test_refuses_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names both numbers and the way out; a larger limit lets it pass."""
    topology, series = job(16, 5)
    monkeypatch.setenv(VARIABLE, "0.01")
    with pytest.raises(FtplanError, match=rf"needs about 0\.3 GiB and 0\.0 GiB are available.*{VARIABLE}"):
        build(topology, cluster(), placement(), series, AllocationOptions())
    monkeypatch.setenv(VARIABLE, "none")
    with pytest.raises(FtplanError, match="above 0"):
        build(topology, cluster(), placement(), series, AllocationOptions())
    monkeypatch.setenv(VARIABLE, "4")
    build(topology, cluster(), placement(), series, AllocationOptions())
    assert 2**30 < needed_bytes(65_536, 2_048, 288) < 12 * 2**30
