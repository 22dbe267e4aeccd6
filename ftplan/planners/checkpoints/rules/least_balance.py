"""The smallest balance Δ for which there is an allocation."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from ftplan.metrics.checkpoint_balance import deviation
from ftplan.model.checkpoint_rules import CheckpointRules
from ftplan.model.topology import IntArray
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.models.integer_model import Answer, fits_into, least_stretch
from ftplan.planners.checkpoints.rules.failover import failover_of, most_taken
from ftplan.planners.checkpoints.rules.limits import Limits, fair_loads, limits_of
from ftplan.planners.checkpoints.search.repair import repair
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation

#: Δ is looked for in steps of this size; what is found is rounded up to six digits after the point.
STEP = 2.0**-21
#: Halvings of the interval in which Δ is looked for by repair alone.
HALVINGS = 24
#: Part of the time for the proof that no smaller Δ is possible: of the clock, and of the limit in the solver's own,
#: deterministic seconds.
PROOF, PROOF_WORK = 0.6, 0.2
#: Units that are looked at at once: bounds the memory.
UNITS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class LeastBalance:
    """The least Δ found, an allocation (U, c) that keeps it, and whether no smaller Δ is possible (within 2e-6)."""

    balance: float
    copies: IntArray
    proven: bool


def rounded_up(balance: float) -> float:
    """Return the least number with six digits after the point that is not below *balance*."""
    return ceil(balance * 1e6 * (1 - 1e-15) - 1e-6) / 1e6


def least_balance(
    problem: CheckpointProblem,
    memory: bool,
    at_least: float,
    seed: int,
    budget: Budget,
    failover_limit: float | None = None,
    known: IntArray | None = None,
) -> LeastBalance | None:
    """Return the smallest Δ from *at_least* up for which there is an allocation; None where none was found.

    Every unit must have enough allowed domains. The failover limit, if any, holds besides; *known* is an allocation
    (U, c) within it. Repair at shrinking Δ finds allocations, simple bounds (the
    heaviest copy, fewer copies than nodes) or CP-SAT prove the least. Deterministic but for the clock.
    """
    lower = max(at_least, least_deviation(problem), _kept_out(problem, failover_limit))
    best: tuple[float, IntArray] | None = None
    if known is not None and np.isfinite(_deviation(problem, known)):
        best = (max(at_least, rounded_up(_deviation(problem, known))), known)
    start = spread_out(problem)

    def attempt(balance: float) -> bool:
        nonlocal best
        limits = limits_of(problem, CheckpointRules(problem.copies, "node", balance, memory, failover_limit))
        for source in (start,) if best is None else (best[1], start):
            placed = WorkingAllocation.of(problem, limits, source)
            if repair(placed, budget):
                reached = max(at_least, rounded_up(_deviation(problem, placed.copies)))
                if best is None or reached < best[0]:
                    best = (reached, placed.copies)
                return True
        return False

    if attempt(lower):
        assert best is not None
        return LeastBalance(best[0], best[1], True)
    worst = _deviation(problem, start)
    if not (np.isfinite(worst) and attempt(max(worst, lower) * (1 + 1e-9))):
        attempt(1e6)
    low, high = lower, best[0] if best else lower
    for _ in range(HALVINGS):
        if best is None or high - low < 1e-6 or budget.over():
            break
        middle = (low + high) / 2
        if attempt(middle):
            high = min(best[0], middle)
        else:
            low = middle
    fair = fair_loads(problem)
    at_zero = limits_of(problem, CheckpointRules(problem.copies, "node", 0.0, memory, failover_limit))
    row = at_zero.names.index("balance")
    lower_limits = at_zero.lower.copy()
    lower_limits[row] = fair
    limits = Limits(at_zero.names, at_zero.weight, lower_limits, at_zero.upper, at_zero.failover)
    most = best[0] if best else float(np.max(fair.sum() / np.where(fair > 0, fair, np.inf), initial=1.0))
    hint = best[1] if best else None
    # Bounded by work before the clock, so that another run that ends in time ends alike.
    part = budget.part(PROOF)
    work = int(PROOF_WORK * budget.time_limit_s / SOLVER_SECONDS_PER_ITERATION)
    part.iterations = max(1, work) if part.iterations is None else part.iterations
    answer = Answer("unknown")
    if failover_limit is None or fits_into(problem, budget):
        answer = least_stretch(problem, limits, "balance", fair, 1 / STEP, most + STEP, hint, seed, part)
    budget.cut = budget.cut or part.cut
    if answer.copies is not None:
        reached = max(at_least, rounded_up(_deviation(problem, answer.copies)))
        if (best is None or reached < best[0]) and np.isfinite(reached):
            best = (reached, answer.copies)
    if best is None:
        return None
    proven_least = max(lower, answer.least or 0.0)
    return LeastBalance(best[0], best[1], best[0] <= proven_least + 2e-6)


def least_deviation(problem: CheckpointProblem) -> float:
    """Return a Δ below which no allocation can be: for the heaviest copy, and where copies are fewer than nodes."""
    fair = fair_loads(problem)
    if not fair.any() or not problem.load.any():
        return 0.0
    most = np.zeros(problem.load.size)  # the largest fair share that each unit may go to
    for start in range(0, most.size, UNITS_AT_ONCE):
        allowed = problem.allowed[start : start + UNITS_AT_ONCE]
        most[start : start + UNITS_AT_ONCE] = np.where(allowed, fair[None, :], 0.0).max(axis=1)
    loaded = problem.load > 0
    with np.errstate(divide="ignore"):
        heaviest = float((problem.load[loaded] / most[loaded] - 1.0).max())
    empty = int((problem.load > 0).sum()) * problem.copies < int((fair > 0).sum())
    reachable = (problem.allowed if loaded.all() else problem.allowed[loaded]).any(axis=0)
    unreached = bool(np.any((fair > 0) & ~reachable))
    bound = max(heaviest if np.isfinite(heaviest) else 0.0, 1.0 if empty or unreached else 0.0)
    return bound * (1 - 1e-12)


def _kept_out(problem: CheckpointProblem, failover_limit: float | None) -> float:
    """Return a Δ below which no allocation can be since a failover limit keeps single copies off loaded nodes."""
    if failover_limit is None or problem.copies > 1 or not problem.load.any():
        return 0.0
    fair = fair_loads(problem)
    most = most_taken(failover_of(problem, failover_limit))
    short = 1.0 - most[fair > 0] / fair[fair > 0]
    return float(short.max(initial=0.0)) * (1 - 1e-12)


def _deviation(problem: CheckpointProblem, copies: IntArray) -> float:
    load = np.bincount(copies.ravel(), np.repeat(problem.load, problem.copies), len(problem.nodes))
    fair = fair_loads(problem)
    return deviation(np.where(problem.accepts, load, 0.0), fair)


def spread_out(problem: CheckpointProblem) -> IntArray:
    """Return an allocation that takes units by falling load and puts each copy where most fair share is left.

    The rule of longest processing time first; ties to the first unit and the first node. Cost O(U c N).
    """
    left = np.where(problem.share > 0, fair_loads(problem), -np.inf)
    copies = np.zeros((problem.load.size, problem.copies), dtype=np.int64)
    for u in np.argsort(-problem.load, kind="stable").tolist():
        free = problem.allowed[u].copy()
        for k in range(problem.copies):
            room = np.where(free, np.maximum(left, -1e300), -np.inf)
            node = int(room.argmax())
            copies[u, k] = node
            left[node] -= problem.load[u]
            free &= problem.domain != problem.domain[node]
    return copies
