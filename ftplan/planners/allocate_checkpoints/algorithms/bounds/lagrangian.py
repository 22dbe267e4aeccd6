"""A Lagrangian dual of the allocation problem: a proven bound, and prices that guide the search.

Giving each limit of each node a price y leaves a problem that separates over the units:
``L(y) = sum over u of the c cheapest (cost(u,i) + sum_r weight[r,u] y[r,i]) - sum of y * limit``, with the upper limit
where y > 0 and the lower where y < 0. Every L is a bound [Geoffrion1974]; all passes are over whole matrices.

With failover comes a price q >= 0 for each loss and survivor, paid by the first copy, and ``- sum of q * upper``. A
unit's part is then ``the cheapest choice of c nodes and of a first one among them, at
cost(u,i) + sum_r weight[r,u] y[r,i], plus load[u] q[loss[u],i] for the first`` (:func:`ordered_cheapest`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import Scan, allowed_cost, cheapest, scan
from ftplan.planners.allocate_checkpoints.algorithms.bounds.subgradient import (
    Blocks,
    Lagrangian,
    LimitBlock,
    Minimum,
    StepRule,
    paid,
    subgradient_ascent,
)
from ftplan.planners.allocate_checkpoints.algorithms.limits import Failover, Limits
from ftplan.planners.budget import Budget


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


def paid_by_first(failover: Failover, first: FloatArray) -> FloatArray:
    """Return what the first copy of each unit pays beside the other prices, shape (U, N)."""
    return np.asarray(failover.load[:, None] * first[failover.loss])


#: Steps over all units and nodes, and how many of them where nothing else ends the ascent.
WHOLE = StepRule(momentum=0.5, patience=12, least_rise=ROUNDING)
MOST_PASSES = 400


@dataclass(frozen=True, eq=False)
class AllocationDual:
    """A proven bound, the prices (R, N) of the limits on nodes, and the copies (U, c) that are cheapest at them.

    With a failover limit ``first`` (L, N) are the prices of first copies, which stand in front of the others.
    """

    bound: float
    prices: FloatArray
    copies: IntArray
    first: FloatArray | None = None


def priced(problem: CheckpointProblem, limits: Limits, prices: FloatArray) -> FloatArray:
    """Return the cost with the prices of all limits added, shape (U, N), infinite where a copy may not be."""
    cost = allowed_cost(problem)
    for weight, price in zip(limits.weight, prices, strict=True):
        cost += np.outer(weight, price)
    return cost


def proven(total: FloatArray, payments: Blocks, largest_cost: float) -> float:
    """Return the Lagrangian of the units' totals (U,), lowered by what rounding may have added to it."""
    value, magnitude = total.sum(), np.abs(total).sum()
    for payment in payments:
        value, magnitude = value - payment.sum(), magnitude + np.abs(payment).sum()
    return float(value - 1e-14 * (magnitude + largest_cost))


def mean_use(limits: Limits, copies: int = 1) -> FloatArray:
    """Return what a mean node uses of each limit with so many copies of each unit, shape (R, 1)."""
    used = np.maximum(limits.weight.sum(axis=1, keepdims=True) * copies, TINY)
    return np.asarray(used / max(limits.lower.shape[1], 1))


def dual_value(
    problem: CheckpointProblem, limits: Limits, prices: FloatArray, first: FloatArray | None = None
) -> AllocationDual:
    """Return the bound at the prices (R, N) of limits on nodes and, with failover, those of *first* copies (L, N)."""
    if limits.failover is None or first is None:
        return dual_of(problem, limits, prices, scan(problem, limits, prices, 0))
    extra = paid_by_first(limits.failover, first)
    copies, total, _ = ordered_cheapest(priced(problem, limits, prices), extra, problem.domain, problem.copies)
    payments = paid(prices, limits.lower, limits.upper), paid(first, _no_limit(first), limits.failover.upper)
    return AllocationDual(proven(total, payments, problem.largest_cost), prices, copies, first)


def dual_of(problem: CheckpointProblem, limits: Limits, prices: FloatArray, scanned: Scan) -> AllocationDual:
    """Return the bound that a scan at these prices proves."""
    payments = (paid(prices, limits.lower, limits.upper),)
    return AllocationDual(proven(scanned.total, payments, problem.largest_cost), prices, scanned.copies)


def ascend(
    problem: CheckpointProblem, limits: Limits, target: float, budget: Budget, start: FloatArray | None = None
) -> AllocationDual:
    """Return the best dual by subgradient ascent from the prices *start* (R, N) of the limits on nodes, default 0.

    *target* is the value of a known plan. Deterministic but for the clock. Cost O(U N (R + c)) a pass.
    """
    failover = limits.failover

    def minimum(prices: Blocks) -> Minimum:
        dual = dual_value(problem, limits, *prices)
        taken = () if failover is None else (failover.taken(dual.copies[:, 0]),)
        return Minimum(dual.bound, (limits.used(dual.copies), *taken), dual.copies)

    prices = [np.zeros(limits.lower.shape) if start is None else start]
    blocks = [LimitBlock(limits.lower, limits.upper, mean_use(limits))]
    if failover is not None:
        mean_taken = np.asarray(max(float(failover.load.sum()), TINY) / max(len(problem.nodes), 1))
        prices.append(np.zeros_like(failover.upper))
        blocks.append(LimitBlock(_no_limit(failover.upper), failover.upper, mean_taken))
    lagrangian = Lagrangian(tuple(blocks), minimum)
    best = subgradient_ascent(lagrangian, tuple(prices), target, budget.passes(MOST_PASSES), budget, WHOLE)
    return AllocationDual(best.minimum.value, best.prices[0], best.minimum.copies, *best.prices[1:])


def _no_limit(like: FloatArray) -> FloatArray:
    return np.full(like.shape, -np.inf)
