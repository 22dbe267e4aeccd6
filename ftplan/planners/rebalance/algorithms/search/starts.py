"""Placements from which a rebalance is chosen: repaired where they break limits, improved, and within the budget."""

from __future__ import annotations

import math

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.search.local_search import improved
from ftplan.planners.rebalance.algorithms.search.repair import MODELS, repaired
from ftplan.planners.rebalance.algorithms.search.working_placement import WorkingPlacement

#: What moves, and bytes, cost besides while their number is to become less: multiples of the mean price of a move.
SURCHARGES = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)


def improved_starts(starts: list[WorkingPlacement], seed: int, budget: Budget, models: bool) -> list[WorkingPlacement]:
    """Return placements that keep all limits, the cheapest first, from some that need not."""
    free = []
    for start in starts:
        now = start if not start.over().any() else repaired(start.copy(), seed, budget, MODELS * models)
        if now.within_limits():
            free.append(improved(now.copy(), budget, limited=False))
    pool = [now for now in free if now.within_budget()]
    if not pool and free:
        pool = _within_budget(by_value(free)[0], budget)
    return by_value(pool)


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


def own_value(now: WorkingPlacement) -> float:
    """Return what the moves cost, without the traffic that there is anyway."""
    moved = now.moved
    near = now.candidates.is_near(moved, now.place[moved]).astype(np.int64)
    own = math.fsum(now.tariff.price[near, moved].tolist())
    if now.problem.traffic is None:
        return own
    traffic = now.problem.traffic
    return own + math.fsum((traffic[moved, now.place[moved]] - traffic[moved, now.problem.home[moved]]).tolist())


def by_value(pool: list[WorkingPlacement]) -> list[WorkingPlacement]:
    """Return placements by value, then by moves; the first of equals first."""
    return sorted(pool, key=lambda now: (own_value(now), len(now.moved)))
