"""The cheapest allocation, with a proof; of a large coupled problem prices first, then a plan by the prices."""

from __future__ import annotations

import contextlib

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions, allocation
from ftplan.planners.allocate_checkpoints.algorithms.arrays import MOST_SEARCHED_PAIRS, CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.ascent_at_scale import ascend_at_scale
from ftplan.planners.allocate_checkpoints.algorithms.baselines import spread_evenly
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import allowed_cost, cheapest, with_incumbent
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import AllocationDual
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits, limits_of, most_copies
from ftplan.planners.allocate_checkpoints.algorithms.models.flow import cheapest_flow
from ftplan.planners.allocate_checkpoints.algorithms.proven_bound import best_dual
from ftplan.planners.allocate_checkpoints.algorithms.reduced_cost_fixing import close_gap
from ftplan.planners.allocate_checkpoints.algorithms.rules.feasibility import (
    RulesInForce,
    feasible_copies,
    outcome,
    rules_in_force,
    spread_idle,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.ejection_chains import improve_by_ejection_chains
from ftplan.planners.allocate_checkpoints.algorithms.search.greedy import regret_greedy, repaired_greedy
from ftplan.planners.allocate_checkpoints.algorithms.search.local_search import improve
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.rounding import rounded
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.result import Result

#: Times that prices and plan sharpen each other.
MOST_TURNS = 2
#: A turn that closes less than this part of the gap is the last.
LEAST_CLOSED = 0.1
#: Part of the time that the first ascent may take, and of the time left that one repair may.
CLIMB_SHARE = 0.5
REPAIR_SHARE = 0.5


def price_guided(
    problem: CheckpointProblem, limits: Limits, log: Incumbents[IntArray], seed: int, budget: Budget
) -> AllocationDual:
    """Improve the copies (U, c) in the log, which keep all limits, by prices; return these.

    The value of a plan is what the dual climbs towards, its prices say which copies lie too dear, and the better plan
    is the next target. Deterministic but for the clock.
    """
    climbing = budget.part(CLIMB_SHARE)
    dual, scanned = ascend_at_scale(problem, limits, log.value, climbing)
    log.prove(dual.bound, "Lagrangian dual")
    budget.cut = budget.cut or climbing.cut
    if log.closed or budget.over():
        return dual
    for turn in range(MOST_TURNS):
        before = log.value - dual.bound
        if problem.integral:
            scanned = with_incumbent(scanned, problem, limits, dual.prices, _best(log))
        near = rounded(problem, limits, scanned, dual.prices, seed, budget)
        for start in (near, _best(log)) if turn else (near,):
            placed = WorkingAllocation.of(problem, limits, start)
            # A part of the clock: where the repair does not end, the best plan is still improved.
            repairing = budget.part(REPAIR_SHARE)
            if not repair(placed, repairing):
                placed = WorkingAllocation.of(problem, limits, _best(log))
            budget.cut = budget.cut or repairing.cut
            improve_by_ejection_chains(placed, scanned, dual.prices, budget)
            if placed.is_feasible():
                log.offer(placed.copies, placed.value, "ejection chains")
        if budget.over() or turn + 1 == MOST_TURNS or log.closed:
            break
        better, again = ascend_at_scale(problem, limits, log.value, budget, dual.prices)
        log.prove(better.bound, "Lagrangian dual")
        if better.bound > dual.bound:
            dual, scanned = better, again
        if log.value - dual.bound > (1 - LEAST_CLOSED) * before:
            break
    return dual


def _best(log: Incumbents[IntArray]) -> IntArray:
    assert log.answer is not None
    return log.answer


#: Pairs of unit and node above which prices come before plans; above MOST_SEARCHED_PAIRS neighbourhoods are left out.
MANY_PAIRS = 300_000


def exact(problem: CheckpointProblem, options: AllocationOptions, start: IntArray | None = None) -> Result[Allocation]:
    """Allocate checkpoints at least cost under all rules, with a proven bound.

    - Nothing couples the copies: each takes its cheapest node.
    - Only the number of copies is limited, and there is no failover limit: a flow of least cost.
    - With very many units and nodes: see :func:`price_guided`, then neighbourhoods until the clock ends.
    - Else a generalised assignment problem: a Lagrangian dual gives a bound and prices; the copies that are cheapest
      at these prices, and those of Algorithm 3, are repaired and improved by moves and swaps; what cannot be part of
      a better plan is fixed by its reduced cost; branch and cut closes the rest within the time limit.

    *start*: copies (U, c) within the rules to begin with, as correlated places them; else they are looked for here.

    Guarantee: ``optimal`` where the gap is closed but for rounding, else ``feasible`` with the proven gap.
    Deterministic unless the clock cuts it short (warning ``TIME_LIMIT``). Cost exponential in the worst case.

    Source: [Madsen2015], section 6, the formulation; it gave up on exhaustive search at 7 checkpoints × 20 nodes.
    """
    budget = Budget.of(options)
    in_force = rules_in_force(problem, options, budget)
    if not isinstance(in_force, RulesInForce):
        return in_force
    limits, log = limits_of(problem, in_force.rules), problem.incumbents()
    if not (limits.names or limits.failover) or not problem.load.size:
        _separately(problem, limits, log, budget)
    elif limits.names == ("count",) and limits.failover is None:
        _by_flow(problem, limits, log, options.seed, budget)
    if log.answer is None:
        at_scale = problem.cost.size > MANY_PAIRS and limits.failover is None
        if start is None and not at_scale:
            start = repaired_greedy(problem, limits, budget)
        if start is None:
            witness = feasible_copies(problem, in_force, options, budget)
            if isinstance(witness, Result):
                return witness
            start = witness
        log.offer(start, problem.value(start), "first plan")
        close = _close_at_scale if at_scale else _close
        close(problem, limits, log, options.seed, budget)
    answer = allocation(problem, spread_idle(problem, limits, _best(log)), in_force.rules)
    return outcome(in_force, answer, log.proven_bound, budget)


def _separately(problem: CheckpointProblem, limits: Limits, log: Incumbents[IntArray], budget: Budget) -> None:
    """Each copy takes its cheapest node: nothing couples them."""
    copies, total = cheapest(allowed_cost(problem), problem.domain, problem.copies)
    if problem.integral:  # with whole costs many nodes tie: they share the load, where the first would get it all
        with contextlib.suppress(OutOfTime):
            shared = regret_greedy(problem, limits, budget)
            log.offer(shared, problem.value(shared), "greedy")
    log.offer(copies, problem.value(copies), "cheapest nodes")
    log.prove(float(total.sum()), "cheapest nodes")


def _by_flow(problem: CheckpointProblem, limits: Limits, log: Incumbents[IntArray], seed: int, budget: Budget) -> None:
    """Offer the flow of least cost; out of time, any copies within the limits and a bound without these, if any."""
    most = most_copies(problem, even=False)
    try:
        flow = cheapest_flow(problem, problem.cost, most, budget)
        if flow is not None:
            log.offer(flow.copies, problem.value(flow.copies), "flow")
            log.prove(flow.bound, "flow")
    except OutOfTime:
        at_random = spread_evenly(problem, most, np.random.default_rng(seed))
        apart = problem.copies == 1 or problem.domain_kind == "node"
        if at_random is not None and apart and limits.satisfied_by(at_random):
            log.offer(at_random, problem.value(at_random), "random")
            total = cheapest(allowed_cost(problem), problem.domain, problem.copies)[1]
            log.prove(float(total.sum()), "cheapest nodes")


def _close_at_scale(
    problem: CheckpointProblem, limits: Limits, log: Incumbents[IntArray], seed: int, budget: Budget
) -> None:
    """Prices and plan sharpen each other, then neighbourhoods.

    Whole costs have many ties: there Algorithm 3 is quick, and often within a hair of the bound at prices of 0.
    """
    if problem.integral and not budget.over():
        start = repaired_greedy(problem, limits, budget)
        if start is not None:
            log.offer(start, problem.value(start), "greedy")
    dual = price_guided(problem, limits, log, seed, budget)
    if problem.cost.size <= MOST_SEARCHED_PAIRS and not budget.over() and not log.closed:
        close_gap(problem, limits, log, dual, seed, budget)


def _close(problem: CheckpointProblem, limits: Limits, log: Incumbents[IntArray], seed: int, budget: Budget) -> None:
    """Improve the start, then dual, incumbent from its prices, reduced costs, branch and cut."""
    _improve(problem, limits, log, _best(log), budget)
    dual = best_dual(problem, limits, log.value, seed, budget)
    log.prove(dual.bound, "Lagrangian dual")
    _improve(problem, limits, log, dual.copies, budget)
    if not log.closed and not budget.over():
        close_gap(problem, limits, log, dual, seed, budget)
        if not limits.failover:
            _improve(problem, limits, log, _best(log), budget)


def _improve(
    problem: CheckpointProblem, limits: Limits, log: Incumbents[IntArray], start: IntArray, budget: Budget
) -> None:
    """Offer the copies after repair and improvement, if they can be repaired."""
    working = WorkingAllocation.of(problem, limits, start)
    if repair(working, budget):
        improve(working, budget)
        if working.is_feasible():
            log.offer(working.copies, working.value, "local search")
