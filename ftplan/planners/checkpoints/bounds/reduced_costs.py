"""Reduced-cost fixing: which pairs of unit and node an allocation cheaper than a known one may have."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.bounds.failover_dual import ordered_cheapest, paid_by_first
from ftplan.planners.checkpoints.bounds.lagrangian import Dual, priced
from ftplan.planners.checkpoints.models.separate import cheapest
from ftplan.planners.checkpoints.rules.limits import Limits


def open_columns(problem: CheckpointProblem, limits: Limits, dual: Dual, value: float) -> BoolArray:
    """Return which pairs may be in an allocation cheaper than *value*, shape (U, N).

    A plan with a copy of u on i costs at least the bound plus the reduced cost of the pair; where that reaches
    *value*, no better plan has it. Where costs are whole, a better plan is better by 1.
    """
    reduced = _reduced(problem, limits, dual) if dual.first is None else _reduced_with_first(problem, limits, dual)
    most = value + 1e-9 * max(abs(value), 1e-300)
    if problem.integral and dual.first is None:
        most -= 1 - 1e-6
    return np.asarray(problem.allowed & (dual.bound + reduced <= most))


def _reduced(problem: CheckpointProblem, limits: Limits, dual: Dual) -> FloatArray:
    """Return by how much each pair costs more, at the dual's prices, than the dearest copy that it may replace.

    One copy moves to i: the dearest of the chosen is the one to give up, or the one in the domain of i. Taking the
    dearest in both cases makes the reduced cost lower, so it stays a valid one.
    """
    cost = priced(problem, limits, dual.prices)
    chosen, _ = cheapest(cost, problem.domain, problem.copies)
    return np.asarray(cost - np.take_along_axis(cost, chosen, axis=1).max(axis=1)[:, None])


def _reduced_with_first(problem: CheckpointProblem, limits: Limits, dual: Dual) -> FloatArray:
    """Return the same where first copies have prices of their own.

    As the first copy, i costs what the best choice with i in front does; as another one at least its own price and
    that of the best choice of one copy less.
    """
    assert limits.failover is not None
    assert dual.first is not None
    cost = priced(problem, limits, dual.prices)
    extra = paid_by_first(limits.failover, dual.first)
    _, total, least = ordered_cheapest(cost, extra, problem.domain, problem.copies)
    if problem.copies > 1:
        _, fewer, _ = ordered_cheapest(cost, extra, problem.domain, problem.copies - 1)
        least = np.minimum(least, cost + fewer[:, None])
    return np.asarray(least - total[:, None])
