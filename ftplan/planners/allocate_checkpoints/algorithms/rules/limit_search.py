"""The smallest value of a limit for which there is an allocation: bisection by repair, then a proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits, fair_loads
from ftplan.planners.allocate_checkpoints.algorithms.models.integer_model import SatResult
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget

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
