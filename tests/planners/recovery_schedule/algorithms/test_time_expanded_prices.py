"""The bound of a linear program holds at any prices of its rows, whatever tolerance a solver found them with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from ftplan.planners.recovery_schedule.algorithms.repair.bounds.time_expanded_program import ProgramRows, _bound_at


@pytest.mark.parametrize("seed", range(20))
def test_no_prices_bound_more_than_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cost, table = -rng.random(8) * 10.0 ** rng.integers(-3, 9), rng.random((5, 8))
    limit = table.sum(axis=1) * rng.random(5)
    rows = ProgramRows()
    for value in cost.tolist():
        rows.column(0, value)
    for terms, most in zip(table.tolist(), limit.tolist(), strict=True):
        rows.at_most(list(enumerate(terms)), most)
    scale = float(-cost.sum())
    solved = linprog(cost / scale, A_ub=table, b_ub=limit, bounds=(0.0, 1.0))
    best = _bound_at(solved.ineqlin.marginals, rows, scale)
    assert best == pytest.approx(solved.fun, rel=1e-6)
    assert best <= solved.fun
    for _ in range(5):
        near = solved.ineqlin.marginals * rng.uniform(0.5, 1.5, 5) + rng.normal(0.0, 1e-3, 5)
        assert _bound_at(near, rows, scale) <= solved.fun
