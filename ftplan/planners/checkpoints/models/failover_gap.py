"""The cheapest allocation under a failover limit: dual, neighbourhoods, branch and cut on what is left open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.bounds.any_rules import best_dual
from ftplan.planners.checkpoints.bounds.failover_dual import best_failover_dual, open_failover_columns
from ftplan.planners.checkpoints.bounds.lagrangian import Dual
from ftplan.planners.checkpoints.models.branch_and_cut import branch_and_cut
from ftplan.planners.checkpoints.models.reduced_model import FEW_COLUMNS, FEW_ROUNDS, MANY_ROUNDS, MOST_COLUMNS
from ftplan.planners.checkpoints.rules.limits import Limits
from ftplan.planners.checkpoints.search.large_neighbourhood import Effort, large_neighbourhood_search

Improve = Callable[[IntArray], IntArray | None]


def close_failover_gap(
    problem: CheckpointProblem, limits: Limits, best: IntArray, improved: Improve, seed: int, budget: Budget
) -> tuple[IntArray, float]:
    """Return the best copies (U, c) found, the first one of each unit in front, and a proven bound.

    *improved* repairs and improves a start, and returns None where it cannot be repaired. Like
    ``close_gap``, with prices for first copies and the rule as rows of the model.
    """
    prices = best_dual(problem, replace(limits, failover=None), problem.value(best), budget).prices
    dual = best_failover_dual(problem, limits, prices, problem.value(best), budget)
    second = improved(dual.copies)
    if second is not None and problem.value(second) < problem.value(best):
        best = second
    if problem.gap(problem.value(best), dual.bound) <= 1e-9 or budget.over():
        return best, dual.bound
    columns = open_failover_columns(problem, limits, dual, problem.value(best))
    open_pairs = int(columns.sum()) * min(problem.copies, 2)
    small = open_pairs <= MOST_COLUMNS
    rounds = 0 if open_pairs <= FEW_COLUMNS else FEW_ROUNDS if small else MANY_ROUNDS
    guide = Dual(dual.bound, dual.prices, dual.copies)
    best = large_neighbourhood_search(problem, limits, columns, best, guide, Effort(seed, rounds), budget)
    value = problem.value(best)
    if problem.gap(value, dual.bound) > 1e-9 and not budget.over() and small:
        columns = open_failover_columns(problem, limits, dual, value)
        best, bound = branch_and_cut(problem, limits, columns, best, seed, budget, gap=0.0)
        # What was left out costs at least as much as the value at which it was left out.
        return best, max(dual.bound, min(bound, value))
    return best, dual.bound
