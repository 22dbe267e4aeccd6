"""The cheapest allocation, with a proof; of a large coupled problem prices first, then a plan by the prices."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions, allocation
from ftplan.planners.allocate_checkpoints.algorithms.arrays import MOST_SEARCHED_PAIRS, CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.ascent_at_scale import ascend_at_scale
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import allowed_cost, cheapest, with_incumbent
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import AllocationDual
from ftplan.planners.allocate_checkpoints.algorithms.even import spread_evenly
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits, limits_of, most_copies
from ftplan.planners.allocate_checkpoints.algorithms.models.flow import cheapest_flow
from ftplan.planners.allocate_checkpoints.algorithms.outcome import CLOSED_GAP, outcome, spread_idle
from ftplan.planners.allocate_checkpoints.algorithms.proven_bound import best_dual
from ftplan.planners.allocate_checkpoints.algorithms.reduced_cost_fixing import close_gap
from ftplan.planners.allocate_checkpoints.algorithms.rules.feasibility import (
    RulesInForce,
    feasible_copies,
    rules_in_force,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.ejection_chains import improve_by_ejection_chains
from ftplan.planners.allocate_checkpoints.algorithms.search.greedy import regret_greedy, repaired_greedy
from ftplan.planners.allocate_checkpoints.algorithms.search.local_search import improve
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.rounding import rounded
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.result import Result

#: Times that prices and plan sharpen each other.
MOST_TURNS = 2
#: A turn that closes less than this part of the gap is the last.
LEAST_CLOSED = 0.1
#: Part of the time that the first ascent may take, and of the time left that one repair may.
CLIMB_SHARE = 0.5
REPAIR_SHARE = 0.5


def price_guided(
    problem: CheckpointProblem, limits: Limits, first: IntArray, budget: Budget
) -> tuple[IntArray, AllocationDual]:
    """Return copies (U, c) that cost no more than *first*, which keep all limits, and a dual.

    The value of a plan is what the dual climbs towards, its prices say which copies lie too dear, and the better plan
    is the next target. Deterministic but for the clock.
    """
    best = first
    climbing = budget.part(CLIMB_SHARE)
    dual, scanned = ascend_at_scale(problem, limits, problem.value(best), climbing)
    budget.cut = budget.cut or climbing.cut
    if problem.gap(problem.value(best), dual.bound) <= ROUNDING or budget.over():
        return best, dual
    for turn in range(MOST_TURNS):
        before = problem.value(best) - dual.bound
        if problem.integral:
            scanned = with_incumbent(scanned, problem, limits, dual.prices, best)
        near = rounded(problem, limits, scanned, dual.prices, budget)
        for start in (near, best) if turn else (near,):
            placed = WorkingAllocation.of(problem, limits, start)
            # A part of the clock: where the repair does not end, the best plan is still improved.
            repairing = budget.part(REPAIR_SHARE)
            if not repair(placed, repairing):
                placed = WorkingAllocation.of(problem, limits, best)
            budget.cut = budget.cut or repairing.cut
            improve_by_ejection_chains(placed, scanned, dual.prices, budget)
            if limits.satisfied_by(placed.copies) and problem.value(placed.copies) < problem.value(best):
                best = placed.copies
        value = problem.value(best)
        if budget.over() or turn + 1 == MOST_TURNS or problem.gap(value, dual.bound) <= ROUNDING:
            break
        better, again = ascend_at_scale(problem, limits, value, budget, dual.prices)
        if better.bound > dual.bound:
            dual, scanned = better, again
        if value - dual.bound > (1 - LEAST_CLOSED) * before:
            break
    return best, dual


#: Pairs of unit and node above which prices come before plans; above MOST_SEARCHED_PAIRS neighbourhoods are left out.
MANY_PAIRS = 300_000


class ProvenAllocation(NamedTuple):
    """Copies (U, c) within all limits, and a bound below the cost of any others."""

    copies: IntArray
    bound: float


def exact(problem: CheckpointProblem, options: AllocationOptions) -> Result[Allocation]:
    """Allocate checkpoints at least cost under all rules, with a proven bound.

    - Nothing couples the copies: each takes its cheapest node.
    - Only the number of copies is limited, and there is no failover limit: a flow of least cost.
    - With very many units and nodes: see :func:`price_guided`, then neighbourhoods until the clock ends.
    - Else a generalised assignment problem: a Lagrangian dual gives a bound and prices; the copies that are cheapest
      at these prices, and those of Algorithm 3, are repaired and improved by moves and swaps; what cannot be part of
      a better plan is fixed by its reduced cost; branch and cut closes the rest within the time limit.

    Guarantee: ``optimal`` where the gap is at most 1e-9, else ``feasible`` with the proven gap. Deterministic unless
    the clock cuts it short (warning ``TIME_LIMIT``). Cost exponential in the worst case.

    Source: [Madsen2015], section 6, the formulation; it gave up on exhaustive search at 7 checkpoints × 20 nodes.
    """
    budget = Budget.of(options)
    in_force = rules_in_force(problem, options, budget)
    if not isinstance(in_force, RulesInForce):
        return in_force
    limits = limits_of(problem, in_force.rules)
    proven: ProvenAllocation | None = None
    if not (limits.names or limits.failover) or not problem.load.size:
        proven = _separately(problem, limits, budget)
    elif limits.names == ("count",) and limits.failover is None:
        proven = _by_flow(problem, limits, options.seed, budget)
    if proven is None:
        at_scale = problem.cost.size > MANY_PAIRS and limits.failover is None
        start = None if at_scale else repaired_greedy(problem, limits, budget)
        if start is None:
            witness = feasible_copies(problem, in_force, options, budget)
            if isinstance(witness, Result):
                return witness
            start = witness
        close = _close_at_scale if at_scale else _close
        proven = close(problem, limits, start, options.seed, budget)
    answer = allocation(problem, spread_idle(problem, limits, proven.copies), in_force.rules)
    return outcome(in_force, answer, proven.bound, budget)


def _separately(problem: CheckpointProblem, limits: Limits, budget: Budget) -> ProvenAllocation:
    """Each copy takes its cheapest node: nothing couples them."""
    copies, total = cheapest(allowed_cost(problem), problem.domain, problem.copies)
    if problem.integral:  # with whole costs many nodes tie: they share the load, where the first would get it all
        with contextlib.suppress(OutOfTime):
            shared = regret_greedy(problem, limits, budget)
            copies = shared if problem.value(shared) <= problem.value(copies) else copies
    return ProvenAllocation(copies, float(total.sum()))


def _by_flow(problem: CheckpointProblem, limits: Limits, seed: int, budget: Budget) -> ProvenAllocation | None:
    """Return the flow of least cost; out of time, any copies within the limits and a bound without these, or None."""
    most = most_copies(problem, even=False)
    try:
        flow = cheapest_flow(problem, problem.cost, most, budget)
        return None if flow is None else ProvenAllocation(flow.copies, flow.bound)
    except OutOfTime:
        at_random = spread_evenly(problem, most, np.random.default_rng(seed))
        apart = problem.copies == 1 or problem.domain_kind == "node"
        if at_random is None or not apart or not limits.satisfied_by(at_random):
            return None
        return ProvenAllocation(
            at_random, float(cheapest(allowed_cost(problem), problem.domain, problem.copies)[1].sum())
        )


def _close_at_scale(
    problem: CheckpointProblem, limits: Limits, start: IntArray, seed: int, budget: Budget
) -> ProvenAllocation:
    """Prices and plan sharpen each other, then neighbourhoods.

    Whole costs have many ties: there Algorithm 3 is quick, and often within a hair of the bound at prices of 0.
    """
    if problem.integral and not budget.over():
        start = _better(problem, start, repaired_greedy(problem, limits, budget))
    incumbent, dual = price_guided(problem, limits, start, budget)
    is_open = problem.gap(problem.value(incumbent), dual.bound) > CLOSED_GAP
    if problem.cost.size <= MOST_SEARCHED_PAIRS and not budget.over() and is_open:
        incumbent, _ = close_gap(problem, limits, incumbent, dual, seed, budget)
    return ProvenAllocation(incumbent, dual.bound)


def _close(problem: CheckpointProblem, limits: Limits, start: IntArray, seed: int, budget: Budget) -> ProvenAllocation:
    """Improve the start, then dual, incumbent from its prices, reduced costs, branch and cut."""
    improved = _improved(problem, limits, start, budget)
    incumbent = start if improved is None else improved
    dual = best_dual(problem, limits, problem.value(incumbent), budget)
    incumbent, bound = _better(problem, incumbent, _improved(problem, limits, dual.copies, budget)), dual.bound
    if problem.gap(problem.value(incumbent), bound) > CLOSED_GAP and not budget.over():
        incumbent, tree_bound = close_gap(problem, limits, incumbent, dual, seed, budget)
        polished = None if limits.failover else _improved(problem, limits, incumbent, budget)
        incumbent, bound = incumbent if polished is None else polished, max(bound, tree_bound)
    return ProvenAllocation(incumbent, bound)


def _improved(problem: CheckpointProblem, limits: Limits, start: IntArray, budget: Budget) -> IntArray | None:
    """Return the copies after repair and improvement, None where they could not be repaired."""
    working = WorkingAllocation.of(problem, limits, start)
    if not repair(working, budget):
        return None
    improve(working, budget)
    return working.copies if working.is_feasible() else None


def _better(problem: CheckpointProblem, incumbent: IntArray, other: IntArray | None) -> IntArray:
    """Return the cheaper copies, the incumbent where they tie."""
    return incumbent if other is None or problem.value(incumbent) <= problem.value(other) else other
