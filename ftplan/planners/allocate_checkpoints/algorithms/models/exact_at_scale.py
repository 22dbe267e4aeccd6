"""Incumbent and bound of a large coupled problem: prices first, then a plan by the prices."""

from __future__ import annotations

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.ascent_at_scale import ascend_at_scale
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import with_incumbent
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import Dual
from ftplan.planners.allocate_checkpoints.algorithms.rules.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.rounding import rounded
from ftplan.planners.allocate_checkpoints.algorithms.search.shifts import improve_by_shifts
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget

#: Times that prices and plan sharpen each other.
TURNS = 2
#: A turn that closes less than this part of the gap is the last.
LEAST_CLOSED = 0.1
#: Part of the time that the first ascent may take, and of the time left that one repair may.
CLIMB_SHARE = 0.5
REPAIR_SHARE = 0.5


def price_guided(problem: CheckpointProblem, limits: Limits, first: IntArray, budget: Budget) -> tuple[IntArray, Dual]:
    """Return copies (U, c) that cost no more than *first*, which keep all limits, and a dual.

    The value of a plan is what the dual climbs towards, its prices say which copies lie too dear, and the better plan
    is the next target. Deterministic but for the clock.
    """
    best = first
    climbing = budget.part(CLIMB_SHARE)
    dual, scanned = ascend_at_scale(problem, limits, problem.value(best), climbing)
    budget.cut = budget.cut or climbing.cut
    if problem.gap(problem.value(best), dual.bound) <= ROUNDING or budget.over():
        return best, dual
    for turn in range(TURNS):
        before = problem.value(best) - dual.bound
        if problem.integral:
            scanned = with_incumbent(scanned, problem, limits, dual.prices, best)
        near = rounded(problem, limits, scanned, dual.prices, budget)
        for start in (near, best) if turn else (near,):
            placed = WorkingAllocation.of(problem, limits, start)
            # A part of the clock: where the repair does not end, the best plan is still improved.
            repairing = budget.part(REPAIR_SHARE)
            if not repair(placed, repairing):
                placed = WorkingAllocation.of(problem, limits, best)
            budget.cut = budget.cut or repairing.cut
            improve_by_shifts(placed, scanned, dual.prices, budget)
            if limits.kept(placed.copies) and problem.value(placed.copies) < problem.value(best):
                best = placed.copies
        value = problem.value(best)
        if budget.over() or turn + 1 == TURNS or problem.gap(value, dual.bound) <= ROUNDING:
            break
        better, again = ascend_at_scale(problem, limits, value, budget, dual.prices)
        if better.bound > dual.bound:
            dual, scanned = better, again
        if value - dual.bound > (1 - LEAST_CLOSED) * before:
            break
    return best, dual
