"""Placements from which a rebalance is chosen, and large-neighbourhood search from the best of them.

:func:`improved_starts` repairs them where they break limits, makes them cheaper and brings them within the budget;
:func:`placed_anew` has an integer program place the groups of a few nodes anew, again and again.
"""

from __future__ import annotations

import math

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.local_search import NeighbourhoodSizes, large_neighbourhood_search
from ftplan.planners.rebalance.algorithms.models.node_model import chosen
from ftplan.planners.rebalance.algorithms.search.local_search import improved
from ftplan.planners.rebalance.algorithms.search.repair import MODELS, repaired
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement

#: Neighbourhoods without a gain that end the search, the most there are, their choices, and the deterministic seconds
#: that each may take.
PATIENCE, ROUNDS, CHOICES, WORK_S = 6, 24, 2500, 0.3
#: A gap to the bound, relative, for which the search is not worth while.
CLOSE = 0.005

#: What moves, and bytes, cost besides while their number is to become less: multiples of the mean price of a move.
SURCHARGES = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)


def placed_anew(now: WorkingPlacement, bound: float, seed: int, budget: Budget) -> WorkingPlacement:
    """Return a placement that costs no more, from one that keeps all limits.

    Destroy: the groups of a node from which or to which moves are dear, drawn by what these cost, and of nodes that
    these moves, or the checkpoints of its groups, lead to. Repair: :func:`chosen`. Ends with the gap, or when nothing
    was gained for a while.
    """
    rng = np.random.default_rng(seed)

    def anew(now: WorkingPlacement, _: int) -> WorkingPlacement | None:
        targets = np.zeros(now.candidates.nodes, dtype=np.bool_)
        targets[_nodes(now, rng)] = True
        free = np.flatnonzero(targets[now.place] | targets[now.problem.home])
        after = chosen(now, free, seed, budget, WORK_S, targets).placement
        return after if after is not None and after.feasible() else None

    return large_neighbourhood_search(
        now,
        own_value,
        [anew],
        sizes=NeighbourhoodSizes(1, 1, 1, lambda _: PATIENCE),
        rounds=ROUNDS,
        budget=budget,
        enough=lambda value: value - bound <= CLOSE * abs(value),
    )


def _nodes(now: WorkingPlacement, rng: np.random.Generator) -> IntArray:
    """Return nodes whose groups, together, make a model of the right size."""
    problem, candidates, moved = now.problem, now.candidates, now.moved
    near = candidates.is_near(moved, now.place[moved]).astype(np.int64)
    cost = now.tariff.charge[near, moved]
    weight: FloatArray = np.bincount(problem.home[moved], cost, minlength=candidates.nodes).astype(np.float64)
    weight += np.bincount(now.place[moved], cost, minlength=candidates.nodes)
    if weight.sum() <= 0.0:
        weight = np.ones(candidates.nodes)
    picked = [int(rng.choice(candidates.nodes, p=weight / weight.sum()))]
    on = (problem.home[moved] == picked[0]) | (now.place[moved] == picked[0])
    ties = np.bincount(np.concatenate([problem.home[moved[on]], now.place[moved[on]]]), minlength=candidates.nodes)
    held = candidates.spread[problem.home[candidates.spread[:, 0]] == picked[0], 1]
    likely = 1e-3 + ties + 0.2 * np.bincount(held, minlength=candidates.nodes)
    likely[picked[0]] = 0.0
    count = np.bincount(now.place, minlength=candidates.nodes)
    order = rng.choice(candidates.nodes, candidates.nodes - 1, replace=False, p=likely / likely.sum())
    for node in order.tolist():
        more = [*picked, node]
        if len(picked) >= 2 and int(count[more].sum()) * len(more) > CHOICES:
            break
        picked = more
    return np.array(sorted(picked))


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
