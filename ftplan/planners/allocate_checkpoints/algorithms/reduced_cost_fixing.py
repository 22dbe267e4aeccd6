"""Reduced-cost fixing, then neighbourhoods and branch and cut on what it leaves open."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import cheapest
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import (
    AllocationDual,
    ordered_cheapest,
    paid_by_first,
    priced,
)
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.models.linear_model import SearchEnd, branch_and_cut
from ftplan.planners.allocate_checkpoints.algorithms.search.large_neighbourhood import (
    TREE_NODES,
    NeighbourhoodEffort,
    exchange_copies,
)
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents

#: Open columns above which the whole model is not solved: SCIP then proves nothing more in a minute, and overruns.
MOST_COLUMNS = 10_000
#: Open columns up to which the whole model is solved at once, without neighbourhoods before it.
FEW_COLUMNS = 3_000
#: Neighbourhoods searched before the whole model is solved, and where it is not.
FEW_ROUNDS = 40
MANY_ROUNDS = 1_000_000
#: Pairs above which neighbourhoods keep to columns that cost at most this part of the gap more than the cheapest, and
#: the nodes of the search tree that each then gets.
MANY_PAIRS = 300_000
NEAR_SHARE = 0.003
FEW_TREE_NODES = 5


def open_columns(problem: CheckpointProblem, limits: Limits, dual: AllocationDual, value: float) -> BoolArray:
    """Return which pairs may be in an allocation cheaper than *value*, shape (U, N).

    A plan with a copy of u on i costs at least the bound plus the reduced cost of the pair; where that reaches
    *value*, no better plan has it. Where costs are whole, a better plan is better by 1.
    """
    reduced = _reduced(problem, limits, dual) if dual.first is None else _reduced_with_first(problem, limits, dual)
    most = value + ROUNDING * max(abs(value), TINY)
    if problem.integral and dual.first is None:
        most -= 1 - 1e-6
    return np.asarray(problem.allowed & (dual.bound + reduced <= most))


def _reduced(problem: CheckpointProblem, limits: Limits, dual: AllocationDual) -> FloatArray:
    """Return by how much each pair costs more, at the dual's prices, than the dearest copy that it may replace.

    One copy moves to i: the dearest of the chosen is the one to give up, or the one in the domain of i. Taking the
    dearest in both cases makes the reduced cost lower, so it stays a valid one.
    """
    cost = priced(problem, limits, dual.prices)
    chosen, _ = cheapest(cost, problem.domain, problem.copies)
    return np.asarray(cost - np.take_along_axis(cost, chosen, axis=1).max(axis=1)[:, None])


def _reduced_with_first(problem: CheckpointProblem, limits: Limits, dual: AllocationDual) -> FloatArray:
    """Return the same where first copies have prices of their own.

    As the first copy, i costs what the best choice with i in front does; as another one at least its own price and
    that of the best choice of one copy less.
    """
    assert limits.failover is not None
    assert dual.first is not None
    cost = priced(problem, limits, dual.prices)
    extra = paid_by_first(limits.failover, dual.first)
    _, total, least = ordered_cheapest(cost, extra, problem.domain, problem.copies)
    if problem.copies > 1:
        _, fewer, _ = ordered_cheapest(cost, extra, problem.domain, problem.copies - 1)
        least = np.minimum(least, cost + fewer[:, None])
    return np.asarray(least - total[:, None])


def close_gap(
    problem: CheckpointProblem,
    limits: Limits,
    log: Incumbents[IntArray],
    dual: AllocationDual,
    seed: int,
    budget: Budget,
) -> None:
    """Offer better copies (U, c) and a bound, by branch and cut on small and then on all open columns.

    First neighbourhoods of a few nodes, for a good plan; then all columns that reduced costs leave open, for the
    bound, where they are few enough. Allocations that were ruled out cost at least as much as the best known, so the
    bound never exceeds its value. With a failover limit, first copies stand in front.
    """
    columns = open_columns(problem, limits, dual, log.value)
    variables = int(columns.sum()) * (1 if limits.failover is None else min(problem.copies, 2))
    small = variables <= MOST_COLUMNS
    # A number of rounds, not a share of the clock, so that what is closed in time is the same every time.
    rounds = 0 if variables <= FEW_COLUMNS else FEW_ROUNDS if small else MANY_ROUNDS
    tree_nodes = TREE_NODES
    # Many quick looks at what is nearly a tie find more than a few thorough ones.
    if problem.cost.size > MANY_PAIRS and limits.failover is None:
        columns &= open_columns(problem, limits, dual, dual.bound + NEAR_SHARE * (log.value - dual.bound))
        tree_nodes = FEW_TREE_NODES
    exchange_copies(problem, limits, columns, log, dual, NeighbourhoodEffort(seed, rounds, tree_nodes), budget)
    if log.closed or budget.over() or not small:
        return
    left_out_at = log.value
    columns = open_columns(problem, limits, dual, left_out_at)
    assert log.answer is not None
    best, bound = branch_and_cut(problem, limits, columns, log.answer, seed, budget, SearchEnd())
    log.offer(best, problem.value(best), "SCIP")
    log.prove_better_than(left_out_at, bound, "SCIP")
