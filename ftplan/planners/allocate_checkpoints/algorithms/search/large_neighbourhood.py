"""Large neighbourhood search: a few nodes at a time exchange all their copies in the best way."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import AllocationDual, priced
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.models.linear_model import LEAST_TIME_S, SearchEnd, branch_and_cut
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.local_search import NeighbourhoodSizes, large_neighbourhood_search

#: Copies in one neighbourhood, about, and the fewest nodes.
COPIES_PER_NEIGHBOURHOOD = 160
FEWEST_NODES = 4
#: Nodes of the search tree, and the relative gap, at which one neighbourhood is left.
TREE_NODES = 100
RELATIVE_GAP = 1e-6
#: By how many nodes a neighbourhood grows after as many failures as there are nodes, and how often before the end.
GROWTH, MOST_GROWTHS = 2, 3


class NeighbourhoodEffort(NamedTuple):
    """Work of a search: neighbourhoods at most, nodes of each one's search tree, and what the draws follow."""

    seed: int
    rounds: int
    tree_nodes: int = TREE_NODES


def exchange_copies(
    problem: CheckpointProblem,
    limits: Limits,
    columns: BoolArray,
    log: Incumbents[IntArray],
    dual: AllocationDual,
    effort: NeighbourhoodEffort,
    budget: Budget,
) -> None:
    """Offer copies (U, c) that are better than those in the log, by re-solving small sets of nodes exactly.

    Each round destroys the copies on a few nodes, which may then go among these within *columns* (U, N), and repairs
    them by branch and cut. The draws follow the seed, each repair is bounded by its tree, so the search is
    deterministic but for the clock. It ends after the rounds, when many gained nothing, or when the bound is reached.
    """
    nodes = np.flatnonzero(problem.allowed.any(axis=0))
    if nodes.size <= FEWEST_NODES:
        return
    rng = np.random.default_rng(effort.seed)
    most = max(FEWEST_NODES, nodes.size // 2)
    start = log.answer
    assert start is not None
    size = int(np.clip(COPIES_PER_NEIGHBOURHOOD * nodes.size // max(start.size, 1), FEWEST_NODES, most))
    cost = priced(problem, limits, dual.prices)
    least = problem.copies * cost.min(axis=1)

    def exchanged(copies: IntArray, nodes_at_once: int) -> IntArray:
        destroyed = _destroyed(cost, least, nodes, copies, min(nodes_at_once, nodes.size), rng)
        better = _repaired(problem, limits, columns, destroyed, copies, effort, budget)
        log.offer(better, problem.value(better), "neighbourhoods")
        return better

    large_neighbourhood_search(
        start,
        problem.value,
        [exchanged],
        sizes=NeighbourhoodSizes(size, size + MOST_GROWTHS * GROWTH, GROWTH, lambda _: int(nodes.size)),
        rounds=effort.rounds,
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
    effort: NeighbourhoodEffort,
    budget: Budget,
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
    end = SearchEnd(RELATIVE_GAP, effort.tree_nodes)
    best, _ = branch_and_cut(inside, within, open_columns, mine, effort.seed, budget, end)
    copies = incumbent.copy()
    copies[units] = nodes[best]
    return copies if limits.satisfied_by(copies) else incumbent
