"""Prices of the limits from the linear relaxation: the optimum of the Lagrangian dual, where it is small enough."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import FloatArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import mean_use
from ftplan.planners.allocate_checkpoints.algorithms.bounds.subgradient import feasible_prices
from ftplan.planners.allocate_checkpoints.algorithms.models.linear_model import build
from ftplan.planners.allocate_checkpoints.algorithms.rules.limits import Limits
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.interrupts import solve_linear


def relaxed_prices(problem: CheckpointProblem, limits: Limits, budget: Budget) -> FloatArray | None:
    """Return the prices (R, N) at which the Lagrangian dual equals the linear relaxation; None where GLOP is late.

    They are only a proposal: the bound is computed from them in floating point, so that GLOP's tolerances cannot make
    it wrong. Cost of a simplex run on ``allowed.sum()`` columns.
    """
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    scale = mean_use(limits)
    unit_cost = max(problem.largest_cost, TINY)
    scaled = replace(
        limits, weight=limits.weight / scale, lower=limits.lower / scale, upper=limits.upper / scale, failover=None
    )
    with contextlib.suppress(OutOfTime):
        model = build(solver, problem, problem.allowed, scaled, unit_cost, lambda: solver.NumVar(0.0, 1.0, ""), budget)
        if solve_linear(solver, budget.left_s) == pywraplp.Solver.OPTIMAL:
            duals = np.array([[row.dual_value() for row in line] for line in model.rows])
            prices = -duals.reshape(limits.lower.shape) * unit_cost / scale
            return feasible_prices(prices, limits.lower, limits.upper)
    return None
