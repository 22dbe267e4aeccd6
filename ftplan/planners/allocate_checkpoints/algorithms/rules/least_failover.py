"""The smallest failover limit for which there is an allocation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.tolerances import NOISE
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.models.integer_model import (
    SatResult,
    StretchedLimit,
    fits_into,
    least_stretch,
)
from ftplan.planners.allocate_checkpoints.algorithms.rules.least_limit import (
    LIMIT_STEP,
    LeastLimit,
    LimitFamily,
    least_limit,
    longest_first,
    rounded_up,
)
from ftplan.planners.allocate_checkpoints.algorithms.rules.limits import (
    Failover,
    Limits,
    failover_of,
    limits_of,
    ratios,
)
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import Budget

#: The smallest limit that is ever asked for: with it, all survivors carry exactly their fair shares.
LEAST_LIMIT = 1.0
#: Part of the clock for the proof that no smaller limit is possible.
PROOF_SHARE = 0.4


def failover_lower_bound(problem: CheckpointProblem, failover: Failover) -> float:
    """Return a limit below which no allocation can be, infinite where none can be at all.

    No survivor falls below its own primaries; the nodes that accept checkpoints share what is lost; each unit goes to
    some allowed node as a whole.
    """
    if not problem.load.any():
        return LEAST_LIMIT
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
    bound = max(LEAST_LIMIT, own, float(shared[lost > 0].max(initial=0.0)), float(alone.max(initial=0.0)))
    return max(LEAST_LIMIT, bound * (1 - NOISE))


def least_failover(problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget) -> LeastLimit | None:
    """Return the smallest limit from 1 up for which there is an allocation within the other *rules*.

    None where none was found, or none exists whatever the limit. Simple bounds or CP-SAT prove the least.
    Deterministic but for the clock.
    """
    limits = limits_of(problem, replace(rules, failover_limit=LEAST_LIMIT))
    failover = limits.failover
    assert failover is not None
    lower = failover_lower_bound(problem, failover)
    if not np.isfinite(lower):
        return None
    shares = failover.fair[failover.fair > 0]  # one survivor carries everything: a limit that never matters
    most = float(failover.load.sum() / shares.min(initial=np.inf)) + LEAST_LIMIT if shares.size else LEAST_LIMIT

    def at(limit: float) -> Limits:
        return replace(limits, failover=failover_of(problem, limit))

    def prove(best: LeastLimit | None) -> SatResult:
        part = budget.part(PROOF_SHARE)
        result = SatResult("unknown")
        if fits_into(problem, budget):
            stretch = StretchedLimit(
                "failover", failover.fair, lower, best.value + LIMIT_STEP if best else most, 1 / LIMIT_STEP
            )
            result = least_stretch(problem, limits, stretch, best.copies if best else None, seed, part)
        budget.cut = budget.cut or part.cut
        kept = result.copies is not None and replace(limits, failover=None).kept(result.copies)
        return result if kept else replace(result, copies=None)

    family = LimitFamily(at, failover.headroom, LEAST_LIMIT, lower)
    return least_limit(problem, family, longest_first(problem), (rounded_up(lower), most), prove, budget)
