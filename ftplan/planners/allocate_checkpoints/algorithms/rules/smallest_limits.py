"""The smallest balance Δ, and the smallest failover limit, for which there is an allocation.

Each is found by bisection by repair, then a proof (:func:`least_limit`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import (
    Failover,
    Limits,
    failover_of,
    fair_loads,
    limits_of,
    most_takeover,
    ratios,
)
from ftplan.planners.allocate_checkpoints.algorithms.models.integer_model import (
    SatResult,
    StretchedLimit,
    fits_into,
    least_stretch,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.allocate_checkpoints.copy_measures import deviation
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget

#: A limit is looked for in steps of this size; what is found is rounded up to six digits after the point.
LIMIT_STEP = 2.0**-21
#: Halvings of the interval in which a limit is looked for by repair alone.
MOST_HALVINGS = 24


@dataclass(frozen=True, eq=False)
class LeastLimit:
    """The least value found, an allocation (U, c) that keeps it, and whether no smaller one is possible (in 2e-6)."""

    value: float
    copies: IntArray
    proven: bool


@dataclass(frozen=True, eq=False)
class LimitFamily:
    """Limits by the value of one of them.

    ``limits`` are those at a value, ``value_of`` is the smallest value that copies (U, c) keep, ``at_least`` the
    smallest that is asked for, and ``lower`` one below which no allocation can be.
    """

    limits: Callable[[float], Limits]
    value_of: Callable[[IntArray], float]
    at_least: float
    lower: float

    def better(self, best: LeastLimit | None, copies: IntArray) -> LeastLimit | None:
        """Return the better of the best so far and what *copies* keep."""
        value = self.value_of(copies)
        if not np.isfinite(value):
            return best
        value = max(self.at_least, rounded_up(value))
        return LeastLimit(value, copies, False) if best is None or value < best.value else best


def least_limit(
    problem: CheckpointProblem,
    family: LimitFamily,
    start: IntArray,
    trials: tuple[float, ...],
    prove: Callable[[LeastLimit | None], SatResult],
    budget: Budget,
    known: IntArray | None = None,
) -> LeastLimit | None:
    """Return the smallest value for which there is an allocation; None where none was found.

    Repair of *start* (U, c) at the first of the *trials* and, where that fails, at the others until one works, then at
    shrinking values; *prove* looks for a smaller value than the best, or rules it out. *known* is an allocation (U, c)
    that keeps some value. Deterministic but for the clock.
    """
    best = None if known is None else family.better(None, known)

    def attempt(value: float) -> bool:
        nonlocal best
        limits = family.limits(value)
        for source in (start,) if best is None else (best.copies, start):
            placed = WorkingAllocation.of(problem, limits, source)
            if repair(placed, budget):
                best = family.better(best, placed.copies)
                return True
        return False

    if attempt(trials[0]):
        assert best is not None
        return LeastLimit(best.value, best.copies, True)
    any(attempt(value) for value in trials[1:])
    low, high = family.lower, best.value if best else family.lower
    for _ in range(MOST_HALVINGS):
        if best is None or high - low < 1e-6 or budget.over():
            break
        middle = (low + high) / 2
        if attempt(middle):
            high = min(best.value, middle)
        else:
            low = middle
    result = prove(best)
    if result.copies is not None:
        best = family.better(best, result.copies)
    if best is None:
        return None
    return LeastLimit(best.value, best.copies, best.value <= max(family.lower, result.least or 0.0) + 2e-6)


def rounded_up(value: float) -> float:
    """Return the least number with six digits after the point that is not below *value*."""
    return ceil(value * 1e6 * (1 - 1e-15) - 1e-6) / 1e6


def number(value: float) -> str:
    """Return a number as a person would type it: at most six digits after the point."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def longest_first(problem: CheckpointProblem) -> IntArray:
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


#: The smallest limit that is ever asked for: with it, all survivors carry exactly their fair shares.
LEAST_FAILOVER_LIMIT = 1.0
#: Part of the clock for the proof that no smaller limit is possible.
FAILOVER_PROOF_SHARE = 0.4


def failover_lower_bound(problem: CheckpointProblem, failover: Failover) -> float:
    """Return a limit below which no allocation can be, infinite where none can be at all.

    No survivor falls below its own primaries; the nodes that accept checkpoints share what is lost; each unit goes to
    some allowed node as a whole.
    """
    if not problem.load.any():
        return LEAST_FAILOVER_LIMIT
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
    bound = max(LEAST_FAILOVER_LIMIT, own, float(shared[lost > 0].max(initial=0.0)), float(alone.max(initial=0.0)))
    return max(LEAST_FAILOVER_LIMIT, bound * (1 - NOISE))


def least_failover(problem: CheckpointProblem, rules: CheckpointRules, seed: int, budget: Budget) -> LeastLimit | None:
    """Return the smallest limit from 1 up for which there is an allocation within the other *rules*.

    None where none was found, or none exists whatever the limit. Simple bounds or CP-SAT prove the least.
    Deterministic but for the clock.
    """
    limits = limits_of(problem, replace(rules, failover_limit=LEAST_FAILOVER_LIMIT))
    failover = limits.failover
    assert failover is not None
    lower = failover_lower_bound(problem, failover)
    if not np.isfinite(lower):
        return None
    shares = failover.fair[failover.fair > 0]  # one survivor carries everything: a limit that never matters
    most = (
        float(failover.load.sum() / shares.min(initial=np.inf)) + LEAST_FAILOVER_LIMIT
        if shares.size
        else LEAST_FAILOVER_LIMIT
    )

    def at(limit: float) -> Limits:
        return replace(limits, failover=failover_of(problem, limit))

    def prove(best: LeastLimit | None) -> SatResult:
        part = budget.part(FAILOVER_PROOF_SHARE)
        result = SatResult("unknown")
        if fits_into(problem, budget):
            stretch = StretchedLimit(
                "failover", failover.fair, lower, best.value + LIMIT_STEP if best else most, 1 / LIMIT_STEP
            )
            result = least_stretch(problem, limits, stretch, best.copies if best else None, seed, part)
        budget.cut = budget.cut or part.cut
        kept = result.copies is not None and replace(limits, failover=None).satisfied_by(result.copies)
        return result if kept else replace(result, copies=None)

    family = LimitFamily(at, failover.headroom, LEAST_FAILOVER_LIMIT, lower)
    return least_limit(problem, family, longest_first(problem), (rounded_up(lower), most), prove, budget)


#: Part of the time for the proof that no smaller Δ is possible: of the clock, and of the limit in the solver's own,
#: deterministic seconds.
BALANCE_PROOF_SHARE, BALANCE_PROOF_WORK = 0.6, 0.2
#: Units that are looked at at once: bounds the memory.
UNITS_AT_ONCE = 4096
#: A balance that stands for ``auto`` before it is known: it never binds where nodes have a share.
UNBOUNDED_BALANCE = 1e6


def least_balance(
    problem: CheckpointProblem,
    rules: CheckpointRules,
    at_least: float,
    seed: int,
    budget: Budget,
    known: IntArray | None = None,
) -> LeastLimit | None:
    """Return the smallest Δ from *at_least* up for which there is an allocation within the other *rules*, else None.

    Every unit must have enough allowed domains. *known* is an allocation (U, c) within the failover limit, if any.
    Simple bounds (the heaviest copy, fewer copies than nodes) or CP-SAT prove the least. Deterministic but for the
    clock.
    """

    def limits(balance: float) -> Limits:
        return limits_of(problem, replace(rules, balance=balance))

    def prove(best: LeastLimit | None) -> SatResult:
        fair, at_zero = fair_loads(problem), limits(0.0)
        lower = at_zero.lower.copy()
        lower[at_zero.names.index("balance")] = fair
        most = best.value if best else float(np.max(fair.sum() / np.where(fair > 0, fair, np.inf), initial=1.0))
        # Bounded by work before the clock, so that another run that ends in time ends alike.
        part = budget.part(BALANCE_PROOF_SHARE)
        work = int(BALANCE_PROOF_WORK * budget.time_limit_s / SOLVER_SECONDS_PER_ITERATION)
        part.iterations = max(1, work) if part.iterations is None else part.iterations
        stretch = StretchedLimit("balance", fair, 0.0, most + LIMIT_STEP, 1 / LIMIT_STEP)
        hint = best.copies if best else None
        result = least_stretch(problem, replace(at_zero, lower=lower), stretch, hint, seed, part)
        budget.cut = budget.cut or part.cut
        return result

    lower = max(at_least, balance_lower_bound(problem), _lower_bound_with_failover(problem, rules))
    start = longest_first(problem)
    worst = _deviation(problem, start)
    trials = (max(worst, lower) * (1 + ROUNDING),) if np.isfinite(worst) else ()
    family = LimitFamily(limits, lambda copies: _deviation(problem, copies), at_least, lower)
    return least_limit(problem, family, start, (lower, *trials, UNBOUNDED_BALANCE), prove, budget, known)


def balance_lower_bound(problem: CheckpointProblem) -> float:
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
    empty = int(loaded.sum()) * problem.copies < int((fair > 0).sum())
    reachable = (problem.allowed if loaded.all() else problem.allowed[loaded]).any(axis=0)
    unreached = bool(np.any((fair > 0) & ~reachable))
    bound = max(heaviest if np.isfinite(heaviest) else 0.0, 1.0 if empty or unreached else 0.0)
    return bound * (1 - NOISE)


def _lower_bound_with_failover(problem: CheckpointProblem, rules: CheckpointRules) -> float:
    """Return a Δ below which no allocation can be since a failover limit keeps single copies off loaded nodes."""
    if rules.failover_limit is None or problem.copies > 1 or not problem.load.any():
        return 0.0
    fair = fair_loads(problem)
    most = most_takeover(failover_of(problem, rules.failover_limit))
    short = 1.0 - most[fair > 0] / fair[fair > 0]
    return float(short.max(initial=0.0)) * (1 - NOISE)


def _deviation(problem: CheckpointProblem, copies: IntArray) -> float:
    load = np.bincount(copies.ravel(), np.repeat(problem.load, problem.copies), len(problem.nodes))
    return deviation(np.where(problem.accepts, load, 0.0), fair_loads(problem))
