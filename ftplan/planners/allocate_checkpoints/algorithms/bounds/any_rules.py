"""A proven bound for any rules, without looking for the best plan."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.ascent_at_scale import ascend_at_scale
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import Dual, ascend, dual_value
from ftplan.planners.allocate_checkpoints.algorithms.bounds.linear_relaxation import relaxed_prices
from ftplan.planners.allocate_checkpoints.algorithms.models.flow import cheapest_flow
from ftplan.planners.allocate_checkpoints.algorithms.models.separate import allowed_cost, cheapest
from ftplan.planners.allocate_checkpoints.algorithms.rules.limits import Limits, limits_of, most_copies
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget, OutOfTime

#: Allowed pairs of unit and node above which the linear relaxation is left to the subgradient steps.
MOST_COLUMNS = 300_000
#: Pairs above which the steps go over a sample, and over a few nodes of each unit.
MANY_PAIRS = 1_000_000


def best_dual(problem: CheckpointProblem, limits: Limits, target: float, budget: Budget) -> Dual:
    """Return the best Lagrangian dual: by the linear relaxation where it is small, by subgradient steps else.

    With a failover limit, further steps follow for the prices of first copies. *target* is the value of a known plan.
    """
    if limits.failover is not None:
        prices = best_dual(problem, replace(limits, failover=None), target, budget).prices
        return ascend(problem, limits, target, budget, prices)
    if int(problem.allowed.sum()) <= MOST_COLUMNS:
        relaxed = relaxed_prices(problem, limits, budget)
        if relaxed is not None:
            dual = dual_value(problem, limits, relaxed)
            zero = dual_value(problem, limits, relaxed * 0.0)
            return dual if dual.bound > zero.bound else zero
    if problem.cost.size > MANY_PAIRS:
        return ascend_at_scale(problem, limits, target, budget)[0]
    return ascend(problem, limits, target, budget)


def proven_bound(problem: CheckpointProblem, rules: CheckpointRules, target: float, budget: Budget) -> float:
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
    return best_dual(problem, limits, target, budget).bound
