"""Prices of the limits from the linear relaxation: the optimum of the Lagrangian dual, where it is small enough."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.bounds.lagrangian import project
from ftplan.planners.checkpoints.rules.limits import Limits
from ftplan.planners.interrupts import solve_linear


def relaxed_prices(problem: CheckpointProblem, limits: Limits, budget: Budget) -> FloatArray | None:
    """Return the prices (R, N) at which the Lagrangian dual equals the linear relaxation; None where GLOP is late.

    They are only a proposal: the bound is computed from them in floating point, so that GLOP's tolerances cannot make
    it wrong. Cost of a simplex run on ``allowed.sum()`` columns.
    """
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    scale = np.maximum(limits.weight.sum(axis=1), 1e-300) / max(len(problem.nodes), 1)
    unit_cost = max(float(np.abs(problem.cost).max(initial=0.0)), 1e-300)
    infinity = solver.infinity()

    def limit(value: float, by: float) -> float:
        return float(value / by) if np.isfinite(value) else float(np.sign(value)) * infinity

    rows = [
        [solver.Constraint(limit(low, by), limit(up, by)) for low, up in zip(lows, ups, strict=True)]
        for lows, ups, by in zip(limits.lower, limits.upper, scale, strict=True)
    ]
    objective = solver.Objective()
    weights = limits.weight / scale[:, None]
    for u in range(problem.load.size):
        if budget.over():
            return None
        once = solver.Constraint(problem.copies, problem.copies)
        domains = {}
        for node in np.flatnonzero(problem.allowed[u]).tolist():
            variable = solver.NumVar(0.0, 1.0, "")
            once.SetCoefficient(variable, 1.0)
            objective.SetCoefficient(variable, float(problem.cost[u, node] / unit_cost))
            for r, row in enumerate(rows):
                row[node].SetCoefficient(variable, float(weights[r, u]))
            if problem.copies > 1 and problem.domain_kind == "zone":
                domain = int(problem.domain[node])
                if domain not in domains:
                    domains[domain] = solver.Constraint(0.0, 1.0)
                domains[domain].SetCoefficient(variable, 1.0)
    if solve_linear(solver, budget.left_s) != pywraplp.Solver.OPTIMAL:
        return None
    duals = np.array([[row.dual_value() for row in line] for line in rows]).reshape(limits.lower.shape)
    return project(limits, -duals * unit_cost / scale[:, None])
