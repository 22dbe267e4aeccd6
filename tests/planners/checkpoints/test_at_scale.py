"""What only large problems use, on problems that are small enough to check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ftplan.errors import FtplanError
from ftplan.model.checkpoint_rules import CheckpointRules
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.ascent_at_scale import ascend_at_scale
from ftplan.planners.checkpoints.bound import best_dual
from ftplan.planners.checkpoints.exact_at_scale import price_guided
from ftplan.planners.checkpoints.least_balance import spread_out
from ftplan.planners.checkpoints.limits import limits_of
from ftplan.planners.checkpoints.memory import VARIABLE, needed_bytes
from ftplan.planners.checkpoints.placed import Placed
from ftplan.planners.checkpoints.problem import AllocationOptions, build
from ftplan.planners.checkpoints.repair import repair
from ftplan.planners.checkpoints.repair_in_bulk import repair_in_bulk
from tests.planners.checkpoints.test_every_planner import cluster, job, placement


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("anti_affinity", ["node", "zone"])
def test_prices_guide_to_a_valid_plan_above_the_bound(copies: int, anti_affinity: Any) -> None:
    """The same plan twice, within all limits, no dearer than the first, and never below the linear relaxation."""
    topology, series = job(128, 6)
    options = AllocationOptions(copies=copies, anti_affinity=anti_affinity, balance=0.1)
    problem = build(topology, cluster(), placement(), series, options)
    limits = limits_of(problem, CheckpointRules(copies, anti_affinity, 0.1))
    placed = Placed.at(problem, limits, spread_out(problem))
    assert repair(placed, Budget(60))
    relaxed = best_dual(problem, limits, 0.0, Budget(60)).bound
    best, dual = price_guided(problem, limits, placed.copies, Budget(60))
    again, _ = price_guided(problem, limits, placed.copies, Budget(60))
    assert np.array_equal(best, again)
    assert limits.kept(best)
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
    relaxed = best_dual(problem, limits, 0.0, Budget(60)).bound
    dual, _ = ascend_at_scale(problem, limits, problem.random_value, Budget(60))
    assert relaxed - 0.01 * abs(relaxed - problem.random_value) <= dual.bound <= relaxed + 1e-6 * abs(relaxed)


def test_bulk_repair_reduces_the_breach() -> None:
    """From all copies on the first allowed node."""
    topology, series = job(64, 5)
    problem = build(topology, cluster(), placement(), series, AllocationOptions(balance=0.2))
    limits = limits_of(problem, CheckpointRules(1, "node", 0.2))
    placed = Placed.at(problem, limits, problem.allowed.argmax(axis=1)[:, None])
    scale = limits.weight.sum(axis=1) / len(problem.nodes)
    repair_in_bulk(placed, scale, Budget(60))
    assert limits.kept(placed.copies)
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
