"""Checkpoints where load runs against their key group's: Madsen & Zhou 2015's heuristic."""

from __future__ import annotations

from dataclasses import replace

from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.checkpoints.allocation import Allocation, allocation
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.bounds.any_rules import proven_bound
from ftplan.planners.checkpoints.options import AllocationOptions
from ftplan.planners.checkpoints.rules.idle import spread_idle
from ftplan.planners.checkpoints.rules.limits import Limits, limits_of
from ftplan.planners.checkpoints.rules.settle import Settled, feasible_copies, settle
from ftplan.planners.checkpoints.search.greedy import regret_greedy
from ftplan.planners.checkpoints.search.local_search import improve
from ftplan.planners.checkpoints.search.repair import repair
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation
from ftplan.planners.result import Result

#: Copies up to which an allocation that only keeps the failover limit is made cheaper: larger ones would take long.
FEW_COPIES = 5000


def correlated(problem: CheckpointProblem, options: AllocationOptions) -> Result[Allocation]:
    """Allocate checkpoints by Algorithm 3 and repair what it leaves beyond the balance.

    Guarantee: optimal where nothing couples the copies (balance ``none``, no memory limits); else a plan within all
    rules where one is found, without a guarantee of its cost. Cost: that of :func:`regret_greedy`, plus the repair.

    Departures from the paper besides those in :func:`regret_greedy`: its constraint 2 is an upper limit, R4 a band,
    so copies are moved and swapped into the band afterwards; where that gets stuck, the allocation that proves Δ
    feasible is used, or the problem is solved for feasibility. A failover limit is repaired in the same way.

    Source: Madsen & Zhou 2015, section 6, Algorithm 3.
    """
    budget = Budget.of(options)
    settled = settle(problem, options, budget)
    if not isinstance(settled, Settled):
        return settled
    limits = limits_of(problem, settled.rules)
    placed = _placed(problem, limits, budget)
    if placed is not None:
        copies = placed.copies
    else:
        found = feasible_copies(problem, settled, options, budget)
        if isinstance(found, Result):
            return found
        copies = found
        if limits.failover is not None and copies.size <= FEW_COPIES:
            placed = WorkingAllocation.of(problem, limits, copies)
            improve(placed, budget)
            copies = placed.copies
    answer = allocation(problem, spread_idle(problem, limits, copies), settled.rules)
    result: Result[Allocation] = Result(
        "feasible", answer, settled.rules.names(), warnings=problem.warnings + settled.warnings
    )
    if options.bound or not (limits.names or limits.failover):
        bound = proven_bound(problem, settled.rules, answer.value, budget)
        bound = problem.settled_bound(answer.value, bound)
        closed = problem.gap(answer.value, bound) <= 1e-9
        result = replace(result, status="optimal" if closed else "feasible", bound=bound)
    return replace(result, warnings=result.warnings + budget.warnings())


def _placed(problem: CheckpointProblem, limits: Limits, budget: Budget) -> WorkingAllocation | None:
    """Return what Algorithm 3 and repair find, None where they get stuck or the clock ends them."""
    try:
        placed = WorkingAllocation.of(problem, limits, regret_greedy(problem, limits, budget))
    except OutOfTime:
        return None
    return placed if repair(placed, budget) else None
