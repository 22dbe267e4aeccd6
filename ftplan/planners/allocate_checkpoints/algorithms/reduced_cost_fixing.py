"""Reduced-cost fixing, then branch and cut on what it leaves open: on a few nodes at a time, then on all."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

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
from ftplan.planners.allocate_checkpoints.algorithms.models.linear_model import LEAST_TIME_S, branch_and_cut
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.local_search import NeighbourhoodSizes, large_neighbourhood_search


class Look(NamedTuple):
    """How a neighbourhood is looked at: copies in it, about, and nodes of the search tree at which it is left."""

    copies: int
    tree_nodes: int


THOROUGH, QUICK = Look(40, 100), Look(160, 5)
#: Fewest nodes of a neighbourhood, and the relative gap at which one is left.
FEWEST_NODES = 4
RELATIVE_GAP = 1e-6
#: By how many nodes a neighbourhood grows after as many failures as there are nodes, and how often before the end.
GROWTH, MOST_GROWTHS = 2, 3


def exchange_copies(
    problem: CheckpointProblem,
    limits: Limits,
    columns: BoolArray,
    log: Incumbents[IntArray],
    dual: AllocationDual,
    seed: int,
    rounds: int,
    budget: Budget,
    look: Look = THOROUGH,
) -> None:
    """Offer copies (U, c) that are better than those in the log, by re-solving small sets of nodes exactly.

    Each round destroys the copies on a few nodes, which may then go among these within *columns* (U, N), and repairs
    them by branch and cut. The draws follow the seed, each repair is bounded by its tree, so the search is
    deterministic but for the clock. It ends after the rounds, when many gained nothing, or when the bound is reached.
    """
    nodes = np.flatnonzero(problem.allowed.any(axis=0))
    if nodes.size <= FEWEST_NODES:
        return
    rng = np.random.default_rng(seed)
    most = max(FEWEST_NODES, nodes.size // 2)
    start = log.answer
    assert start is not None
    size = int(np.clip(look.copies * nodes.size // max(start.size, 1), FEWEST_NODES, most))
    cost = priced(problem, limits, dual.prices)
    least = problem.copies * cost.min(axis=1)

    def exchanged(copies: IntArray, nodes_at_once: int) -> IntArray:
        destroyed = _destroyed(cost, least, nodes, copies, min(nodes_at_once, nodes.size), rng)
        better = _repaired(problem, limits, columns, destroyed, copies, seed, budget, look.tree_nodes)
        log.offer(better, problem.value(better), "neighbourhoods")
        return better

    large_neighbourhood_search(
        start,
        problem.value,
        [exchanged],
        sizes=NeighbourhoodSizes(size, size + MOST_GROWTHS * GROWTH, GROWTH, lambda _: int(nodes.size)),
        rounds=rounds,
        budget=budget,
        enough=lambda _: log.closed,
        least_time_s=LEAST_TIME_S,
    )


def _destroyed(
    cost: FloatArray, least: FloatArray, nodes: IntArray, incumbent: IntArray, size: int, rng: np.random.Generator
) -> BoolArray:
    """Return about *size* of the nodes, (N,): a unit's own, its cheapest ones at *cost* (U, N), others at random.

    The unit is drawn by how much more its copies cost, at the dual's prices, than the *least* they could, (U,).
    """
    excess = np.maximum(np.take_along_axis(cost, incumbent, axis=1).sum(axis=1) - least, 0.0)
    total, units = float(excess.sum()), incumbent.shape[0]
    unit = int(rng.choice(units, p=excess / total)) if total > 0 else int(rng.integers(units))
    chosen = np.zeros(cost.shape[1], dtype=np.bool_)
    chosen[incumbent[unit]] = True
    chosen[np.argsort(cost[unit], kind="stable")[: size // 2]] = True
    chosen &= np.isin(np.arange(chosen.size), nodes)
    for node in rng.permutation(nodes).tolist():
        if int(chosen.sum()) >= size:
            break
        chosen[node] = True
    return chosen


def _repaired(
    problem: CheckpointProblem,
    limits: Limits,
    columns: BoolArray,
    destroyed: BoolArray,
    incumbent: IntArray,
    seed: int,
    budget: Budget,
    tree_nodes: int,
) -> IntArray:
    """Return the incumbent (U, c) with the copies on the destroyed nodes (N,) placed in the best way within *columns*.

    The model holds the units with copies there alone; what all others use is taken off the limits.
    """
    units = np.flatnonzero(destroyed[incumbent].any(axis=1))
    if not units.size:
        return incumbent
    nodes = np.union1d(np.flatnonzero(destroyed), incumbent[units])
    position = np.zeros(destroyed.size, dtype=np.int64)
    position[nodes] = np.arange(nodes.size)
    there = np.ix_(units, nodes)
    mine = position[incumbent[units]]
    inside = replace(
        problem,
        nodes=tuple(problem.nodes[i] for i in nodes),
        domain=problem.domain[nodes],
        accepts=np.ones(nodes.size, dtype=np.bool_),
        home=np.zeros(units.size, dtype=np.int64),
        cost=problem.cost[there],
        allowed=problem.allowed[there],
        load=problem.load[units],
    )
    within = Limits(limits.names, limits.weight[:, units], limits.lower[:, nodes], limits.upper[:, nodes])
    rest = limits.used(incumbent)[:, nodes] - within.used(mine)
    within = replace(within, lower=within.lower - rest, upper=within.upper - rest)
    open_columns = columns[there] & destroyed[nodes][None, :]
    np.put_along_axis(open_columns, mine, True, axis=1)
    best, _ = branch_and_cut(inside, within, open_columns, mine, seed, budget, RELATIVE_GAP, tree_nodes)
    copies = incumbent.copy()
    copies[units] = nodes[best]
    return copies if limits.satisfied_by(copies) else incumbent


#: Open columns above which the whole model is not solved: SCIP then proves nothing more in a minute, and overruns.
MOST_COLUMNS = 10_000
#: Open columns up to which the whole model is solved at once, without neighbourhoods before it.
FEW_COLUMNS = 3_000
#: Neighbourhoods searched before the whole model is solved, and where it is not.
FEW_ROUNDS = 40
MANY_ROUNDS = 1_000_000
#: Pairs above which neighbourhoods keep to columns that cost at most this part of the gap more than the cheapest.
MANY_PAIRS = 300_000
NEAR_SHARE = 0.003


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
    look = THOROUGH
    # Many quick looks at what is nearly a tie find more than a few thorough ones.
    if problem.cost.size > MANY_PAIRS and limits.failover is None:
        columns &= open_columns(problem, limits, dual, dual.bound + NEAR_SHARE * (log.value - dual.bound))
        look = QUICK
    exchange_copies(problem, limits, columns, log, dual, seed, rounds, budget, look)
    if log.closed or budget.over() or not small:
        return
    left_out_at = log.value
    columns = open_columns(problem, limits, dual, left_out_at)
    assert log.answer is not None
    best, bound = branch_and_cut(problem, limits, columns, log.answer, seed, budget)
    log.offer(best, problem.value(best), "SCIP")
    log.prove_better_than(left_out_at, bound, "SCIP")
