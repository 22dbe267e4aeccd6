"""The cheapest allocation, with a proof."""

from __future__ import annotations

import contextlib

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.checkpoints.allocation import Allocation, allocation
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.bounds.any_rules import best_dual
from ftplan.planners.checkpoints.bounds.lagrangian import Dual
from ftplan.planners.checkpoints.even import dealt
from ftplan.planners.checkpoints.models.exact_at_scale import price_guided
from ftplan.planners.checkpoints.models.failover_gap import close_failover_gap
from ftplan.planners.checkpoints.models.flow import cheapest_flow
from ftplan.planners.checkpoints.models.reduced_model import close_gap
from ftplan.planners.checkpoints.models.separate import allowed_cost, cheapest
from ftplan.planners.checkpoints.options import AllocationOptions
from ftplan.planners.checkpoints.rules.idle import spread_idle
from ftplan.planners.checkpoints.rules.limits import Limits, limits_of, most_copies
from ftplan.planners.checkpoints.rules.memory import SEARCHED_PAIRS
from ftplan.planners.checkpoints.rules.settle import Settled, feasible_copies, settle
from ftplan.planners.checkpoints.search.greedy import regret_greedy
from ftplan.planners.checkpoints.search.local_search import improve
from ftplan.planners.checkpoints.search.repair import repair
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation
from ftplan.planners.result import Result

#: A gap, relative to what a random plan loses, that counts as closed: the rounding of sums of thousands of numbers.
CLOSED = 1e-9
#: Pairs of unit and node above which prices come before plans, and above which no neighbourhoods are searched.
MANY_PAIRS = 300_000
MOST_PAIRS = SEARCHED_PAIRS


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

    Source: Madsen & Zhou 2015, section 6, the formulation; it gave up on exhaustive search at 7 checkpoints × 20 nodes.
    """
    budget = Budget.of(options)
    settled = settle(problem, options, budget)
    if not isinstance(settled, Settled):
        return settled
    limits = limits_of(problem, settled.rules)
    if not (limits.names or limits.failover) or not problem.load.size:
        copies, total = cheapest(allowed_cost(problem), problem.domain, problem.copies)
        if problem.integral:  # with whole costs many nodes tie: they share the load, where the first would get it all
            with contextlib.suppress(OutOfTime):
                shared = regret_greedy(problem, limits, budget)
                copies = shared if problem.value(shared) <= problem.value(copies) else copies
        return _result(problem, settled, copies, float(total.sum()), budget)
    if limits.names == ("count",) and limits.failover is None:
        most = most_copies(problem, even=False)
        try:
            flow = cheapest_flow(problem, problem.cost, most, budget)
            if flow is not None:
                return _result(problem, settled, flow.copies, flow.bound, budget)
        except OutOfTime:  # any copies within the limits, and a bound without these
            at_random = dealt(problem, most, np.random.default_rng(options.seed))
            apart = problem.copies == 1 or problem.domain_kind == "node"
            if at_random is not None and apart and limits.kept(at_random):
                total = cheapest(allowed_cost(problem), problem.domain, problem.copies)[1]
                return _result(problem, settled, at_random, float(total.sum()), budget)
    return _assigned(problem, settled, limits, options, budget)


def _assigned(
    problem: CheckpointProblem, settled: Settled, limits: Limits, options: AllocationOptions, budget: Budget
) -> Result[Allocation]:
    """Solve the coupled problem: dual, incumbent, reduced costs, branch and cut."""
    if problem.cost.size > MANY_PAIRS and limits.failover is None:
        found = feasible_copies(problem, settled, options, budget)
        if isinstance(found, Result):
            return found
        if problem.integral and not budget.over():
            found = _by_regret(problem, limits, found, budget)
        best, dual = price_guided(problem, limits, found, budget)
        if (
            problem.cost.size <= MOST_PAIRS
            and not budget.over()
            and problem.gap(problem.value(best), dual.bound) > CLOSED
        ):
            best, _ = close_gap(problem, limits, best, dual, options.seed, budget)
        return _result(problem, settled, best, dual.bound, budget)
    first: IntArray | None = None
    with contextlib.suppress(OutOfTime):
        first = _improved(problem, limits, [regret_greedy(problem, limits, budget)], budget)
    if first is None:
        found = feasible_copies(problem, settled, options, budget)
        if isinstance(found, Result):
            return found
        improved = _improved(problem, limits, [found], budget)
        first = found if improved is None else improved
    if limits.failover is not None:

        def polish(starts: list[IntArray]) -> IntArray | None:
            return _improved(problem, limits, starts, budget)

        best, bound = close_failover_gap(problem, limits, first, polish, options.seed, budget)
        return _result(problem, settled, best, bound, budget)
    dual = best_dual(problem, limits, problem.value(first), budget)
    second = _improved(problem, limits, [dual.copies], budget)
    best = first if second is None or problem.value(first) <= problem.value(second) else second
    if problem.gap(problem.value(best), dual.bound) > CLOSED and not budget.over():
        best, bound = close_gap(problem, limits, best, dual, options.seed, budget)
        polished = _improved(problem, limits, [best], budget)
        best = best if polished is None else polished
        dual = Dual(max(dual.bound, bound), dual.prices, dual.copies)
    return _result(problem, settled, best, dual.bound, budget)


def _by_regret(problem: CheckpointProblem, limits: Limits, known: IntArray, budget: Budget) -> IntArray:
    """Return the copies of Algorithm 3 within all limits where they cost less than *known* ones.

    Whole costs have many ties: there Algorithm 3 is quick, and often within a hair of the bound at prices of 0.
    """
    try:
        placed = WorkingAllocation.of(problem, limits, regret_greedy(problem, limits, budget))
    except OutOfTime:
        return known
    if not repair(placed, budget) or not limits.kept(placed.copies):
        return known
    return placed.copies if problem.value(placed.copies) < problem.value(known) else known


def _improved(problem: CheckpointProblem, limits: Limits, starts: list[IntArray], budget: Budget) -> IntArray | None:
    """Return the cheapest of the starts after repair and improvement, None where none could be repaired."""
    best: IntArray | None = None
    for start in starts:
        placed = WorkingAllocation.of(problem, limits, start)
        if not repair(placed, budget):
            continue
        improve(placed, budget)
        if limits.kept(placed.copies) and (best is None or problem.value(placed.copies) < problem.value(best)):
            best = placed.copies
    return best


def _result(
    problem: CheckpointProblem, settled: Settled, copies: IntArray, bound: float, budget: Budget
) -> Result[Allocation]:
    """Return the result with its status by the gap."""
    spread = spread_idle(problem, limits_of(problem, settled.rules), np.asarray(copies))
    answer = allocation(problem, spread, settled.rules)
    bound = problem.settled_bound(answer.value, bound)
    status = "optimal" if problem.gap(answer.value, bound) <= CLOSED else "feasible"
    return Result(
        "optimal" if status == "optimal" else "feasible",
        answer,
        settled.rules.names(),
        bound,
        warnings=problem.warnings + settled.warnings + budget.warnings(),
    )
