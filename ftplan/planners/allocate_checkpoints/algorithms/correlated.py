"""Checkpoints where load runs against their key group's: the heuristic of [Madsen2015]."""

from __future__ import annotations

from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions, allocation
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import limits_of
from ftplan.planners.allocate_checkpoints.algorithms.proven_bound import proven_bound
from ftplan.planners.allocate_checkpoints.algorithms.rules.feasibility import (
    RulesInForce,
    feasible_copies,
    outcome,
    rules_in_force,
    spread_idle,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.greedy import repaired_greedy
from ftplan.planners.allocate_checkpoints.algorithms.search.local_search import improve
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result

#: Copies up to which an allocation that only keeps the failover limit is made cheaper: larger ones would take long.
FEW_COPIES = 5000


def correlated(problem: CheckpointProblem, options: AllocationOptions) -> Result[Allocation]:
    """Allocate checkpoints by Algorithm 3 and repair what it leaves beyond the balance.

    Guarantee: optimal where nothing couples the copies (balance ``none``, no memory limits); else a plan within all
    rules, or none in time, without a guarantee of its cost. Cost: that of :func:`regret_greedy`, plus the repair.

    Source: [Madsen2015], section 6, Algorithm 3. Departures besides those in :func:`regret_greedy`: its constraint 2
    is an upper limit, R4 a band, so copies are moved and swapped into the band afterwards; where that gets stuck, the
    allocation that proves Δ feasible is used, or the problem is solved for feasibility. A failover limit is repaired
    in the same way.
    """
    budget = Budget.of(options)
    in_force = rules_in_force(problem, options, budget)
    if not isinstance(in_force, RulesInForce):
        return in_force
    limits = limits_of(problem, in_force.rules)
    copies = repaired_greedy(problem, limits, budget)
    if copies is None:
        witness = feasible_copies(problem, in_force, options, budget)
        if isinstance(witness, Result):
            return witness
        copies = witness
        if limits.failover is not None and copies.size <= FEW_COPIES:
            working = WorkingAllocation.of(problem, limits, copies)
            improve(working, budget)
            copies = working.copies
    answer = allocation(problem, spread_idle(problem, limits, copies), in_force.rules)
    bound = None
    if options.bound or not (limits.names or limits.failover):
        bound = proven_bound(problem, in_force.rules, answer.value, options.seed, budget)
    return outcome(in_force, answer, bound, budget)
