"""A Lagrangian dual of the allocation problem: a proven bound, and prices that guide the search.

Giving each limit of each node a price y leaves a problem that separates over the units:
``L(y) = sum over u of the c cheapest (cost(u,i) + sum_r weight[r,u] y[r,i]) - sum of y * limit``, with the upper limit
where y > 0 and the lower where y < 0. Every L(y) is a bound; all passes are over whole matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.bounds.candidates import Scan, scan
from ftplan.planners.checkpoints.bounds.subgradient import paid, slope
from ftplan.planners.checkpoints.models.separate import allowed_cost
from ftplan.planners.checkpoints.rules.limits import Limits

#: Passes after which the step is halved when the bound has not risen.
PATIENCE = 12
#: Passes where nothing else ends the ascent.
PASSES = 400


@dataclass(frozen=True, eq=False)
class Dual:
    """A bound with its prices (R, N) and the copies (U, c) that are cheapest at these prices."""

    bound: float
    prices: FloatArray
    copies: IntArray


def priced(problem: CheckpointProblem, limits: Limits, prices: FloatArray) -> FloatArray:
    """Return the cost with the prices of all limits added, shape (U, N), infinite where a copy may not be."""
    cost = allowed_cost(problem)
    for weight, price in zip(limits.weight, prices, strict=True):
        cost += np.outer(weight, price)
    return cost


def dual_value(problem: CheckpointProblem, limits: Limits, prices: FloatArray) -> Dual:
    """Return the bound at the given prices, lowered by what rounding may have added to it."""
    return dual_of(problem, limits, prices, scan(problem, limits, prices, 0))


def dual_of(problem: CheckpointProblem, limits: Limits, prices: FloatArray, found: Scan) -> Dual:
    """Return the bound that a scan at these prices proves."""
    worth = paid(prices, limits.lower, limits.upper)
    magnitude = np.abs(found.total).sum() + np.abs(worth).sum() + problem.largest_cost
    return Dual(float(found.total.sum() - worth.sum() - 1e-14 * magnitude), prices, found.copies)


def project(limits: Limits, prices: FloatArray) -> FloatArray:
    """Return the prices with those of missing limits set to 0."""
    prices = np.where((prices > 0) & np.isinf(limits.upper), 0.0, prices)
    return np.where((prices < 0) & np.isinf(limits.lower), 0.0, prices)


def ascend(problem: CheckpointProblem, limits: Limits, target: float, budget: Budget, passes: int = PASSES) -> Dual:
    """Return the best dual found by subgradient steps of Polyak's length towards *target*, the value of a known plan.

    Deterministic but for the clock. Cost O(U N R) a pass.
    """
    scale = np.maximum(limits.weight.sum(axis=1, keepdims=True), 1e-300) / max(len(problem.nodes), 1)
    prices = np.zeros(limits.lower.shape)
    direction = np.zeros_like(prices)
    best = dual_value(problem, limits, prices)
    current = best
    theta, stale = 1.0, 0
    for _ in range(budget.passes(passes)):
        if budget.over() or not np.isfinite(best.bound):
            break
        used = limits.used(current.copies)
        gradient = slope(current.prices, used, limits.lower, limits.upper)
        direction = gradient / scale + 0.5 * direction
        norm = float((direction**2).sum())
        room = target - current.bound
        if norm <= 1e-18 or theta < 1e-4 or room <= 0:
            break
        current = dual_value(problem, limits, project(limits, current.prices + theta * room / norm * direction / scale))
        if current.bound > best.bound + 1e-9 * abs(target - best.bound):
            best, stale = current, 0
        else:
            stale += 1
            if stale >= PATIENCE:
                theta, stale, current, direction = theta / 2, 0, best, np.zeros_like(direction)
    return best
