"""The Lagrangian dual with failover: a proven bound where the first copy of a unit has a price of its own.

To the prices of the limits on nodes comes a price q >= 0 for each loss and survivor, paid by the first copy:
``L(y, q) = sum over u of the cheapest choice of c nodes and of a first one among them, at
cost(u,i) + sum_r weight[r,u] y[r,i], plus load[u] q[loss[u],i] for the first, - sum of y * limit - sum of q * upper``.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.bounds.lagrangian import PASSES, WHOLE, Dual, mean_use, priced, proven
from ftplan.planners.checkpoints.bounds.subgradient import Blocks, Lagrangian, Minimum, paid, subgradient_ascent
from ftplan.planners.checkpoints.models.separate import cheapest
from ftplan.planners.checkpoints.rules.failover import Failover
from ftplan.planners.checkpoints.rules.limits import Limits


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


def failover_dual(problem: CheckpointProblem, limits: Limits, prices: FloatArray, first: FloatArray) -> Dual:
    """Return the bound at the prices (R, N) of the limits on nodes and *first* (L, N) of first copies."""
    failover = limits.failover
    assert failover is not None
    cost = priced(problem, limits, prices)
    copies, total, _ = ordered_cheapest(cost, paid_by_first(failover, first), problem.domain, problem.copies)
    payments = paid(prices, limits.lower, limits.upper), paid(first, np.full(first.shape, -np.inf), failover.upper)
    return Dual(proven(total, payments, problem.largest_cost), prices, copies, first)


def best_failover_dual(
    problem: CheckpointProblem, limits: Limits, start: FloatArray, target: float, budget: Budget
) -> Dual:
    """Return the best dual by subgradient ascent from the prices *start* (R, N) of the limits on nodes.

    *target* is the value of a known plan. Deterministic but for the clock. Cost O(U N (R + c)) a pass.
    """
    failover = limits.failover
    assert failover is not None

    def minimum(prices: Blocks) -> Minimum:
        dual = failover_dual(problem, limits, *prices)
        return Minimum(dual.bound, (limits.used(dual.copies), failover.taken(dual.copies[:, 0])), dual.copies)

    none = np.full(failover.upper.shape, -np.inf)
    mean_taken = np.asarray(max(float(failover.load.sum()), TINY) / max(len(problem.nodes), 1))
    lagrangian = Lagrangian(
        (limits.lower, none), (limits.upper, failover.upper), (mean_use(limits), mean_taken), minimum
    )
    zero = np.zeros_like(failover.upper)
    best = subgradient_ascent(lagrangian, (start, zero), target, budget.passes(PASSES), budget, WHOLE)
    return Dual(best.minimum.value, best.prices[0], best.minimum.copies, best.prices[1])
