"""The Lagrangian dual with failover: a proven bound where the first copy of a unit has a price of its own.

To the prices of the limits on nodes comes a price q >= 0 for each loss and survivor, paid by the first copy:
``L(y, q) = sum over u of the cheapest choice of c nodes and of a first one among them, at
cost(u,i) + sum_r weight[r,u] y[r,i], plus load[u] q[loss[u],i] for the first, - sum of y * limit - sum of q * upper``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.bounds.lagrangian import PASSES, PATIENCE, priced, project
from ftplan.planners.checkpoints.models.separate import cheapest
from ftplan.planners.checkpoints.rules.failover import Failover
from ftplan.planners.checkpoints.rules.limits import Limits


@dataclass(frozen=True, eq=False)
class FailoverDual:
    """A bound with its prices (R, N), those of first copies (L, N), and the cheapest copies (U, c), first in front."""

    bound: float
    prices: FloatArray
    first: FloatArray
    copies: IntArray


def ordered_cheapest(
    cost: FloatArray, extra: FloatArray, domain: IntArray, copies: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the cheapest *copies* nodes of different domains with the first of them in front, and their total.

    *cost* (U, N) is infinite where no copy may be; the first copy pays *extra* (U, N) too. The others are the cheapest
    outside the first one's domain: of the cheapest nodes of all, leave out the one that shares it, or the last. Third
    comes the total for every first node, shape (U, N). Cost O(U N copies).
    """
    if copies == 1:
        with_first = cost + extra
        first = with_first.argmin(axis=1)
        return first[:, None], with_first[np.arange(first.size), first], with_first
    chosen, total = cheapest(cost, domain, copies)
    units = np.arange(cost.shape[0])
    each = np.take_along_axis(cost, chosen, axis=1)
    left_out = np.full(cost.shape, copies - 1)
    for k in range(copies - 1):
        left_out[domain[None, :] == domain[chosen[:, k]][:, None]] = k
    with_first = cost + extra + total[:, None] - np.take_along_axis(each, left_out, axis=1)
    first = with_first.argmin(axis=1)
    others = chosen[np.arange(copies)[None, :] != left_out[units, first][:, None]].reshape(-1, copies - 1)
    return np.column_stack([first, others]), with_first[units, first], with_first


def _extra(failover: Failover, first: FloatArray) -> FloatArray:
    return np.asarray(failover.load[:, None] * first[failover.loss])


def failover_dual(problem: CheckpointProblem, limits: Limits, prices: FloatArray, first: FloatArray) -> FailoverDual:
    """Return the bound at the given prices, lowered by what rounding may have added to it."""
    failover = limits.failover
    assert failover is not None
    cost = priced(problem, limits, prices)
    copies, total, _ = ordered_cheapest(cost, _extra(failover, first), problem.domain, problem.copies)
    with np.errstate(invalid="ignore"):
        paid = np.where(prices > 0, prices * limits.upper, np.where(prices < 0, prices * limits.lower, 0.0))
        paid_first = np.where(first > 0, first * failover.upper, 0.0)
    magnitude = (
        np.abs(total).sum() + np.abs(paid).sum() + np.abs(paid_first).sum() + np.abs(problem.cost).max(initial=0)
    )
    bound = float(total.sum() - paid.sum() - paid_first.sum() - 1e-14 * magnitude)
    return FailoverDual(bound, prices, first, copies)


def best_failover_dual(
    problem: CheckpointProblem, limits: Limits, start: FloatArray, target: float, budget: Budget
) -> FailoverDual:
    """Return the best dual found by subgradient steps of Polyak's length towards *target*, the value of a known plan.

    They begin at the prices *start* (R, N) of the limits on nodes. Deterministic but for the clock. Cost
    O(U N (R + c)) a pass.
    """
    failover = limits.failover
    assert failover is not None
    nodes = max(len(problem.nodes), 1)
    scale = np.maximum(limits.weight.sum(axis=1, keepdims=True), 1e-300) / nodes
    scale_first = max(float(failover.load.sum()), 1e-300) / nodes
    best = failover_dual(problem, limits, start, np.zeros_like(failover.upper))
    current = best
    direction, direction_first = np.zeros_like(start), np.zeros_like(failover.upper)
    theta, stale = 1.0, 0
    for _ in range(budget.passes(PASSES)):
        if budget.over() or not np.isfinite(best.bound):
            break
        used = limits.used(current.copies)
        over, under = used - limits.upper, used - limits.lower
        at_zero = np.maximum(over, 0.0) - np.maximum(-under, 0.0)
        slope = np.where(current.prices > 0, over, np.where(current.prices < 0, under, at_zero))
        above = failover.taken(current.copies[:, 0]) - failover.upper
        slope_first = np.where(current.first > 0, above, np.maximum(above, 0.0))
        direction = slope / scale + 0.5 * direction
        direction_first = slope_first / scale_first + 0.5 * direction_first
        norm = float((direction**2).sum() + (direction_first**2).sum())
        room = target - current.bound
        if norm <= 1e-18 or theta < 1e-4 or room <= 0:
            break
        step = theta * room / norm
        current = failover_dual(
            problem,
            limits,
            project(limits, current.prices + step * direction / scale),
            np.maximum(current.first + step * direction_first / scale_first, 0.0),
        )
        if current.bound > best.bound + 1e-9 * abs(target - best.bound):
            best, stale = current, 0
        else:
            stale += 1
            if stale >= PATIENCE:
                theta, stale, current = theta / 2, 0, best
                direction, direction_first = np.zeros_like(direction), np.zeros_like(direction_first)
    return best


def open_failover_columns(problem: CheckpointProblem, limits: Limits, dual: FailoverDual, value: float) -> BoolArray:
    """Return which pairs of unit and node may be in an allocation cheaper than *value*, shape (U, N).

    As the first copy, i costs what the best choice with i in front does; as another one at least its own price and
    that of the best choice of one copy less.
    """
    assert limits.failover is not None
    cost = priced(problem, limits, dual.prices)
    extra = _extra(limits.failover, dual.first)
    _, total, least = ordered_cheapest(cost, extra, problem.domain, problem.copies)
    if problem.copies > 1:
        _, fewer, _ = ordered_cheapest(cost, extra, problem.domain, problem.copies - 1)
        least = np.minimum(least, cost + fewer[:, None])
    more = least - total[:, None]
    return np.asarray(problem.allowed & (dual.bound + more <= value + 1e-9 * max(abs(value), 1e-300)))
