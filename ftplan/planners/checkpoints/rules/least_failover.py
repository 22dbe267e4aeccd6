"""The smallest failover limit for which there is an allocation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.checkpoint_rules import CheckpointRules
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.models.integer_model import Answer, fits_into, least_failover_limit
from ftplan.planners.checkpoints.rules.failover import Failover, failover_of, ratios
from ftplan.planners.checkpoints.rules.least_balance import HALVINGS, STEP, rounded_up, spread_out
from ftplan.planners.checkpoints.rules.limits import Limits, limits_of
from ftplan.planners.checkpoints.search.repair import repair
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation

#: The smallest limit that is ever asked for: with it, all survivors carry exactly their fair shares.
LEAST = 1.0


@dataclass(frozen=True, eq=False)
class LeastFailover:
    """The least limit found, copies (U, c) that keep it, and whether no smaller one is possible (within 2e-6)."""

    limit: float
    copies: IntArray
    proven: bool


def least_conceivable(problem: CheckpointProblem, failover: Failover) -> float:
    """Return a limit below which no allocation can be, infinite where none can be at all.

    No survivor falls below its own primaries; the nodes that accept checkpoints share what is lost; each unit goes to
    some allowed node as a whole.
    """
    if not problem.load.any():
        return LEAST
    own = float(ratios(failover, np.zeros_like(failover.fair)).max(initial=0.0))
    lost = np.bincount(failover.loss, problem.load, failover.fair.shape[0])
    alive = (failover.fair > 0) & problem.accepts[None, :]
    loaded = problem.load > 0
    fair = failover.fair[failover.loss[loaded]]
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = (lost + np.where(alive, failover.own[None, :], 0.0).sum(axis=1)) / np.where(
            alive, failover.fair, 0.0
        ).sum(axis=1)
        alone = (failover.own[None, :] + problem.load[loaded, None]) / fair
    alone = np.where(problem.allowed[loaded] & (fair > 0), alone, np.inf).min(axis=1)
    bound = max(LEAST, own, float(shared[lost > 0].max(initial=0.0)), float(alone.max(initial=0.0)))
    return max(LEAST, bound * (1 - 1e-12))


def least_failover(
    problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget
) -> LeastFailover | None:
    """Return the smallest limit from 1 up for which there is an allocation within the other *rules*.

    None where none was found, or none exists whatever the limit. Repair at shrinking limits finds allocations, simple
    bounds or CP-SAT prove the least. Deterministic but for the clock.
    """
    limits = limits_of(problem, replace(rules, failover_limit=LEAST))
    assert limits.failover is not None
    lower = least_conceivable(problem, limits.failover)
    if not np.isfinite(lower):
        return None
    best: tuple[float, IntArray] | None = None
    start = spread_out(problem)

    def attempt(limit: float) -> bool:
        nonlocal best
        asked = replace(limits, failover=failover_of(problem, limit))
        for source in (start,) if best is None else (best[1], start):
            placed = WorkingAllocation.of(problem, asked, source)
            if repair(placed, budget):
                best = _better(best, limits, placed.copies)
                return True
        return False

    if attempt(rounded_up(lower)):
        assert best is not None
        return LeastFailover(best[0], best[1], True)
    most = _most(limits.failover)
    attempt(most)
    low, high = lower, best[0] if best else lower
    for _ in range(HALVINGS):
        if best is None or high - low < 1e-6 or budget.over():
            break
        middle = (low + high) / 2
        if attempt(middle):
            high = min(best[0], middle)
        else:
            low = middle
    part = budget.part(0.4)
    hint, most = (best[1], best[0] + STEP) if best else (None, most)
    answer = Answer("unknown")
    if fits_into(problem, budget):
        answer = least_failover_limit(problem, limits, lower, most, 1 / STEP, hint, seed, part)
    budget.cut = budget.cut or part.cut
    if answer.copies is not None and replace(limits, failover=None).kept(answer.copies):
        best = _better(best, limits, answer.copies)
    if best is None:
        return None
    return LeastFailover(best[0], best[1], best[0] <= max(lower, answer.least or 0.0) + 2e-6)


def _better(best: tuple[float, IntArray] | None, limits: Limits, copies: IntArray) -> tuple[float, IntArray] | None:
    assert limits.failover is not None
    reached = limits.failover.headroom(copies)
    if not np.isfinite(reached):
        return best
    reached = max(LEAST, rounded_up(reached))
    return (reached, copies) if best is None or reached < best[0] else best


def _most(failover: Failover) -> float:
    """Return a limit that never matters: one survivor carries everything."""
    shares = failover.fair[failover.fair > 0]
    return float(failover.load.sum() / shares.min(initial=np.inf)) + LEAST if shares.size else LEAST
