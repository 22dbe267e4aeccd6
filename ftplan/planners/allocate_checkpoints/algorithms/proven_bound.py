"""A proven bound for any rules, without looking for the best plan.

Where the problem is small enough, prices of the limits come from the linear relaxation: its optimum is that of the
Lagrangian dual. Else they come from subgradient steps.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import FloatArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.ascent_at_scale import ascend_at_scale
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import allowed_cost, cheapest
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import (
    AllocationDual,
    ascend,
    dual_value,
    mean_use,
)
from ftplan.planners.allocate_checkpoints.algorithms.bounds.subgradient import feasible_prices
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits, limits_of, most_copies
from ftplan.planners.allocate_checkpoints.algorithms.models.flow import cheapest_flow
from ftplan.planners.allocate_checkpoints.algorithms.models.linear_model import build
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.solver import linear_solver, solve_linear


def relaxed_prices(problem: CheckpointProblem, limits: Limits, seed: int, budget: Budget) -> FloatArray | None:
    """Return the prices (R, N) at which the Lagrangian dual equals the linear relaxation; None where GLOP is late.

    They are only a proposal: the bound is computed from them in floating point, so that GLOP's tolerances cannot make
    it wrong. Cost of a simplex run on ``allowed.sum()`` columns.
    """
    solver = linear_solver("GLOP", seed)
    scale = mean_use(limits)
    unit_cost = max(problem.largest_cost, TINY)
    scaled = replace(
        limits, weight=limits.weight / scale, lower=limits.lower / scale, upper=limits.upper / scale, failover=None
    )
    with contextlib.suppress(OutOfTime):
        rows, _ = build(
            solver, problem, problem.allowed, scaled, unit_cost, lambda: solver.NumVar(0.0, 1.0, ""), budget
        )
        if solve_linear(solver, budget) == "optimal":
            duals = np.array([[row.dual_value() for row in line] for line in rows])
            prices = -duals.reshape(limits.lower.shape) * unit_cost / scale
            return feasible_prices(prices, limits.lower, limits.upper)
    return None


#: Allowed pairs of unit and node above which the linear relaxation is left to the subgradient steps.
MOST_COLUMNS = 300_000
#: Pairs above which the steps go over a sample, and over a few nodes of each unit.
MANY_PAIRS = 1_000_000


def best_dual(problem: CheckpointProblem, limits: Limits, target: float, seed: int, budget: Budget) -> AllocationDual:
    """Return the best Lagrangian dual: by the linear relaxation where it is small, by subgradient steps else.

    With a failover limit, further steps follow for the prices of first copies. *target* is the value of a known plan.
    """
    if limits.failover is not None:
        prices = best_dual(problem, replace(limits, failover=None), target, seed, budget).prices
        return ascend(problem, limits, target, budget, prices)
    if int(problem.allowed.sum()) <= MOST_COLUMNS:
        relaxed = relaxed_prices(problem, limits, seed, budget)
        if relaxed is not None:
            dual = dual_value(problem, limits, relaxed)
            zero = dual_value(problem, limits, relaxed * 0.0)
            return dual if dual.bound > zero.bound else zero
    if problem.cost.size > MANY_PAIRS:
        return ascend_at_scale(problem, limits, target, budget)[0]
    return ascend(problem, limits, target, budget)


def proven_bound(problem: CheckpointProblem, rules: CheckpointRules, target: float, seed: int, budget: Budget) -> float:
    """Return a bound below the cost of every allocation that keeps the rules; *target* is the value of one.

    Exact where the units separate or only their number is limited (but for rounding), else the Lagrangian dual.
    """
    if not problem.load.size:
        return 0.0
    limits = limits_of(problem, rules)
    if not (limits.names or limits.failover):
        return float(cheapest(allowed_cost(problem), problem.domain, problem.copies)[1].sum())
    if limits.names == ("count",) and limits.failover is None and problem.split is None:
        with contextlib.suppress(OutOfTime):
            flow = cheapest_flow(problem, problem.cost, most_copies(problem, rules.balance == "even-count"), budget)
            if flow is not None:
                return flow.bound
    return best_dual(problem, limits, target, seed, budget).bound
