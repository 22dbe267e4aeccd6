"""Adaptive rebalancing: pair the most with the least loaded node, then make the moves fewer and cheaper."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ftplan.metrics.rebalance_problem import Rebalance, RebalanceProblem
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.bounds import Dual, lower_bound
from ftplan.planners.rebalance.candidates import Candidates
from ftplan.planners.rebalance.choice_model import WHOLE, Goal, choices, chosen
from ftplan.planners.rebalance.local_search import improved
from ftplan.planners.rebalance.options import RebalanceSearch
from ftplan.planners.rebalance.outcome import outcome, rules
from ftplan.planners.rebalance.pairing import assisted_share, pairing
from ftplan.planners.rebalance.repair import MODELS, repaired
from ftplan.planners.rebalance.working_placement import WorkingPlacement
from ftplan.planners.result import Result

#: Choices up to which a problem is solved as a whole at once.
SMALL = 1000
#: Deterministic seconds of CP-SAT on a small problem as a whole.
WORK_S = 4.0
#: What moves, and bytes, cost besides while their number is to become less: multiples of the mean price of a move.
SURCHARGES = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)


def adaptive(problem: RebalanceProblem, search: RebalanceSearch) -> Result[Rebalance]:
    """Return a cheap rebalance: the better of two pairings, improved by local search.

    The paper's outline ([Madsen2015], section 7.1) is carried out twice, with hosts of checkpoints preferred as
    targets and without; the share of assisted moves of both goes with the answer. What pairing leaves outside of its
    limits is repaired. Local search makes both cheaper, and the groups that leave their nodes at the prices of the
    bound. A small problem is solved as one integer program at last.

    Guarantee: all limits kept, no needless move, and a proven bound; infeasible only with a proof. Deterministic unless
    the clock cuts it short. Cost: see :func:`improved` and :func:`lower_bound`.
    """
    budget = Budget.of(search)
    candidates = Candidates(problem)
    pairings = [pairing(candidates, prefer) for prefer in (True, False)]
    shares = (assisted_share(pairings[0]), assisted_share(pairings[1]))
    small = choices(candidates) <= SMALL
    pool = _improved_starts(pairings, search.seed, budget, models=not small)
    bound = -np.inf
    if not small:
        dual = lower_bound(candidates, _own_value(pool[0]) if pool else np.inf, budget)
        bound, at_prices = dual.bound, [_at_prices(candidates, dual)]
        pool = _by_value(pool + _improved_starts(at_prices, search.seed, budget, models=not pool))
    if choices(candidates) <= WHOLE and not (pool and _closed(pool[0], bound)):
        now = pool[0] if pool else WorkingPlacement(candidates)
        answer = chosen(now, np.arange(candidates.groups), Goal(), budget, WORK_S)
        if answer.placement is not None and answer.placement.feasible():
            pool = _by_value([answer.placement, *pool])
        bound = np.inf if answer.proven and not pool else max(bound, answer.bound or -np.inf)
    if not pool:
        return _without_plan(problem, bound, budget)
    return _in_phases(problem, pool, bound, shares, budget)


def _improved_starts(starts: list[WorkingPlacement], seed: int, budget: Budget, models: bool) -> list[WorkingPlacement]:
    """Return placements that keep all limits, the cheapest first, from some that need not."""
    free = []
    for start in starts:
        now = start if not start.over().any() else repaired(start.copy(), seed, budget, MODELS * models)
        if now.within_limits():
            free.append(improved(now.copy(), budget, limited=False))
    pool = [now for now in free if now.within_budget()]
    if not pool and free:
        pool = _within_budget(_by_value(free)[0], budget)
    return _by_value(pool)


def _within_budget(now: WorkingPlacement, budget: Budget) -> list[WorkingPlacement]:
    """Return placements with fewer moves and bytes, within their limits, from one with too many.

    Moves, or bytes, cost more and more besides; what comes within the limits is made cheaper without that.
    """
    candidates, limits = now.candidates, now.problem.limits
    finite = candidates.price[np.isfinite(candidates.price)]
    scale = max(float(finite.mean()), ROUNDING) if len(finite) else 1.0
    size = max(float(np.mean(now.problem.costs.bytes)), 1.0) if limits.max_bytes is not None else 1.0
    pool = []
    for surcharge in SURCHARGES:
        move = surcharge * scale if limits.max_moves is not None else 0.0
        byte = surcharge * scale / size if limits.max_bytes is not None else 0.0
        now = now.copy()
        now.tariff = candidates.tariff_at(byte, move)
        improved(now, budget, limited=False)
        if now.within_budget():
            kept = now.copy()
            kept.tariff = now.tariff._replace(charge=now.tariff.price + candidates.least_price)
            pool.append(improved(kept, budget))
    return pool


def _at_prices(candidates: Candidates, dual: Dual) -> WorkingPlacement:
    """Return the placement that the prices of a bound make best, group by group."""
    now = WorkingPlacement(candidates)
    for group in np.flatnonzero(dual.leaves | candidates.must).tolist():
        now.put(group, int(dual.target[group]))
    now.recount()
    return now


def _own_value(now: WorkingPlacement) -> float:
    """Return what the moves cost, without the traffic that there is anyway."""
    moved = now.moved
    near = now.candidates.near(moved)[np.arange(len(moved)), now.place[moved]].astype(np.int64)
    own = math.fsum(now.tariff.price[near, moved].tolist())
    if now.problem.traffic is None:
        return own
    traffic = now.problem.traffic
    return own + math.fsum((traffic[moved, now.place[moved]] - traffic[moved, now.problem.home[moved]]).tolist())


def _by_value(pool: list[WorkingPlacement]) -> list[WorkingPlacement]:
    """Return placements by value, then by moves; the first of equals first."""
    return sorted(pool, key=lambda now: (_own_value(now), len(now.moved)))


def _closed(now: WorkingPlacement, bound: float) -> bool:
    return _own_value(now) <= bound + ROUNDING * max(abs(bound), LEAST_SCALE)


def _in_phases(
    problem: RebalanceProblem,
    pool: list[WorkingPlacement],
    bound: float,
    shares: tuple[float | None, float | None],
    budget: Budget,
) -> Result[Rebalance]:
    """Return the cheapest placement that finds its phases as a result."""
    here = 0.0
    if problem.traffic is not None:
        here = float(problem.traffic[np.arange(len(problem.home)), problem.home].sum())
    results = []
    for now in pool:
        result = outcome(problem, now.moves, max(0.0, bound + here), budget)
        if result.answer is not None:
            results.append(replace(result, answer=replace(result.answer, assisted=shares)))
            if not any(warning.code == "BOUND_WITHOUT_PHASES" for warning in result.warnings):
                break
    if not results:
        result = outcome(problem, pool[0].moves, bound, budget)
        return replace(result, status="no-plan-in-time", infeasible=None)
    return min(results, key=lambda result: problem.value(result.answer.moves) if result.answer else np.inf)


def _without_plan(problem: RebalanceProblem, bound: float, budget: Budget) -> Result[Rebalance]:
    warnings = (*problem.warnings, *budget.warnings())
    if np.isposinf(bound):
        return Result("infeasible", None, rules(problem), reason="no placement keeps all limits", warnings=warnings)
    return Result("no-plan-in-time", None, rules(problem), reason="no plan was seen in time", warnings=warnings)
