"""Adaptive rebalancing: pair the most with the least loaded node, then make the moves fewer and cheaper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.rebalance.algorithms.candidates import Candidates
from ftplan.planners.rebalance.algorithms.infeasibility import why_infeasible
from ftplan.planners.rebalance.algorithms.lower_bound import lower_bound
from ftplan.planners.rebalance.algorithms.models.node_model import MAX_WHOLE_CHOICES, choices, chosen
from ftplan.planners.rebalance.algorithms.outcome import outcome
from ftplan.planners.rebalance.algorithms.pairing import assisted_share, pairing
from ftplan.planners.rebalance.algorithms.relaxation import LoadDual
from ftplan.planners.rebalance.algorithms.search.improved_placements import (
    by_value,
    improved_starts,
    own_value,
    placed_anew,
)
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement
from ftplan.planners.rebalance.problem import Rebalance, RebalanceProblem, RebalanceSearch
from ftplan.planners.rebalance.rules import rules
from ftplan.planners.result import Result

#: Choices up to which a problem is solved as a whole at once.
MAX_SMALL_CHOICES = 1000
#: Deterministic seconds of CP-SAT on a small problem as a whole.
WORK_S = 4.0
#: The bound leaves out what other moves cost more, which are taken since those of least cost have no good phases.
DEARER = Warn("BOUND_WITHOUT_PHASES", "cheaper moves have worse phases: the bound is one for moves without phases")


def adaptive(problem: RebalanceProblem, search: RebalanceSearch) -> Result[Rebalance]:
    """Return a cheap rebalance: the better of two pairings, improved by local search.

    The paper's outline ([Madsen2015], section 7.1) is carried out twice, with hosts of checkpoints preferred as
    targets and without; the share of assisted moves of both goes with the answer. What pairing leaves outside of its
    limits is repaired. Local search makes both cheaper, and the groups that leave their nodes at the prices of the
    bound. Where a gap is left, integer programs place the groups of a few nodes anew, and at last all groups of a
    small problem.

    Guarantee: all limits kept, no needless move, and a proven bound; infeasible only with a proof. Deterministic unless
    the clock cuts it short. Cost: see :func:`improved` and :func:`lower_bound`.
    """
    budget = Budget.of(search)
    candidates = Candidates(problem)
    if _too_much(problem):
        return _without_plan(problem, np.inf, search, budget)
    pairings = [pairing(candidates, prefer) for prefer in (True, False)]
    shares = (assisted_share(pairings[0]), assisted_share(pairings[1]))
    small = choices(candidates) <= MAX_SMALL_CHOICES
    pool = improved_starts(pairings, search.seed, budget, models=not small)
    bound = -np.inf
    if not small:
        dual = lower_bound(candidates, own_value(pool[0]) if pool else np.inf, search.seed, budget)
        bound, at_prices = dual.bound, [_at_prices(candidates, dual)]
        pool = by_value(pool + improved_starts(at_prices, search.seed, budget, models=not pool))
        pool = by_value([placed_anew(now, bound, search.seed, budget) for now in pool[:1]] + pool)
    closed = bool(pool) and own_value(pool[0]) <= bound + ROUNDING * max(abs(bound), LEAST_SCALE)
    if choices(candidates) <= MAX_WHOLE_CHOICES and not closed:
        now = pool[0] if pool else WorkingPlacement(candidates)
        answer = chosen(now, np.arange(candidates.groups), search.seed, budget, WORK_S)
        if answer.placement is not None and answer.placement.feasible():
            pool = by_value([answer.placement, *pool])
        bound = max(bound, answer.bound)
    if not pool:
        return _without_plan(problem, bound, search, budget)
    return _in_phases(problem, pool, bound, shares, search.seed, budget)


def _too_much(problem: RebalanceProblem) -> bool:
    """Return whether all groups together are more than nodes can take, or less than they must have."""
    stays = ~problem.removed & ~problem.hosts  # takes no group, and keeps those that it has or gives them away
    able = problem.hosts | (stays & (problem.start_load > problem.foreign))
    total = float(problem.load.sum() + problem.foreign[able].sum())
    most, least = float(problem.upper[able].sum()), float(problem.lower[problem.hosts].sum())
    slack = 1.0 + ROUNDING
    return total > most * slack or (total * slack < least and not stays.any())


def _at_prices(candidates: Candidates, dual: LoadDual) -> WorkingPlacement:
    """Return the placement that the prices of a bound make best, group by group."""
    now = WorkingPlacement(candidates)
    for group in np.flatnonzero(dual.leaves | candidates.must).tolist():
        now.put(group, int(dual.target[group]))
    now.recount()
    return now


def _in_phases(
    problem: RebalanceProblem,
    pool: list[WorkingPlacement],
    bound: float,
    shares: tuple[float | None, float | None],
    seed: int,
    budget: Budget,
) -> Result[Rebalance]:
    """Return the cheapest placement that finds its phases as a result.

    Where the cheapest of all has none, or pays for them, a small problem is solved for moves that need but one phase.
    """
    stuck: Result[Rebalance] | None = None
    first, elsewhere = None, problem.value(())  # traffic that is there without any move
    log: Incumbents[Result[Rebalance]] = Incumbents("min", problem.objective_name, size=elsewhere)
    log.prove(max(0.0, bound + elsewhere), "prices")
    for now in _candidates_for_phases(pool, seed, budget):
        result = outcome(problem, now.moves, log.bound, budget)
        if result.answer is None:
            stuck = stuck or result
            continue
        first = first or result
        log.offer(result, problem.value(result.answer.moves), "local search")
        if not any(warning.code == "BOUND_WITHOUT_PHASES" for warning in result.warnings):
            break
    if (best := log.answer) is not None and best.answer is not None:
        dearer = (DEARER,) if best is not first and best.status != "optimal" else ()
        return replace(best, answer=replace(best.answer, assisted=shares), warnings=(*best.warnings, *dearer))
    assert stuck is not None  # the pool is not empty
    why = f"{stuck.reason}; {stuck.infeasible.smallest_fix} would do" if stuck.infeasible else stuck.reason
    return replace(stuck, status="no-plan-in-time", infeasible=None, bound=None, reason=why)


def _candidates_for_phases(pool: list[WorkingPlacement], seed: int, budget: Budget) -> Iterator[WorkingPlacement]:
    """Yield a pool, then placements of a small problem: the cheapest that needs but one phase, then any.

    Under notice also the cheapest in which what has to leave needs but one phase.
    """
    yield from pool
    start = WorkingPlacement(pool[0].candidates)
    if choices(start.candidates) > MAX_WHOLE_CHOICES:
        return
    problem, everything = start.problem, np.arange(start.candidates.groups)
    first: list[BoolArray | None] = [np.ones(len(everything), dtype=np.bool_)]
    if problem.limits.within_s is not None:
        first.append(problem.removed[problem.home])
    for some in (*first, None):
        answer = chosen(start, everything, seed, budget, WORK_S, feasible=some is None, first=some)
        if answer.placement is not None and answer.placement.feasible():
            yield answer.placement


def _without_plan(
    problem: RebalanceProblem, bound: float, search: RebalanceSearch, budget: Budget
) -> Result[Rebalance]:
    """Return why there is no plan: proven where the bound is infinite."""
    warnings = (*problem.warnings, *budget.warnings())
    if np.isposinf(bound) and not search.explain:
        return Result("infeasible", None, rules(problem), reason="no placement keeps all limits", warnings=warnings)
    why = why_infeasible(problem, search.seed, budget) if np.isposinf(bound) else None
    if why is None:
        reason = "no placement was seen that keeps all limits"
        return Result("no-plan-in-time", None, rules(problem), reason=reason, warnings=warnings)
    return Result("infeasible", None, rules(problem), reason=why.reason, infeasible=why, warnings=warnings)
