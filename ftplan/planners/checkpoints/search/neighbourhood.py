"""Large neighbourhood search: a few nodes at a time exchange all their copies in the best way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.bounds.lagrangian import Dual, priced
from ftplan.planners.checkpoints.models.branch_and_cut import LEAST_TIME_S, branch_and_cut
from ftplan.planners.checkpoints.rules.limits import Limits

#: Copies in one neighbourhood, about, and the fewest nodes.
COPIES = 160
FEWEST_NODES = 4
#: Nodes of the search tree, and the relative gap, at which one neighbourhood is left.
TREE_NODES = 100
GAP = 1e-6
#: Neighbourhoods without success, times the number of nodes, after which the search ends.
STALE = 2


def exchange(
    problem: CheckpointProblem,
    limits: Limits,
    columns: BoolArray,
    best: IntArray,
    dual: Dual,
    seed: int,
    budget: Budget,
    rounds: int,
    tree_nodes: int = TREE_NODES,
) -> IntArray:
    """Return copies (U, c) that cost no more than *best*, by re-solving small sets of nodes exactly.

    Each round draws nodes, frees their copies among them within *columns* (U, N), keeps all others, and solves that
    small problem by branch and cut. The draws follow the seed, each solve is bounded by its tree, so the search is
    deterministic but for the clock. It ends after *rounds*, when
    many in a row gained nothing, or when the bound is reached.
    """
    nodes = np.flatnonzero(problem.allowed.any(axis=0))
    if nodes.size <= FEWEST_NODES:
        return best
    rng = np.random.default_rng(seed)
    size = int(np.clip(COPIES * nodes.size // max(best.size, 1), FEWEST_NODES, max(FEWEST_NODES, nodes.size // 2)))
    cost = priced(problem, limits, dual.prices)
    least = problem.copies * cost.min(axis=1)
    stale = 0
    for _ in range(budget.passes(rounds)):
        value = problem.value(best)
        if budget.left_s < LEAST_TIME_S or stale >= STALE * nodes.size or problem.gap(value, dual.bound) <= 1e-9:
            break
        chosen = _drawn(problem, cost, least, nodes, best, size, rng)
        found = _solved(problem, limits, columns, chosen, best, seed, budget, tree_nodes)
        stale = stale + 1 if problem.value(found) >= value else 0
        best = found
        if stale and stale % nodes.size == 0:
            size = min(size + 2, nodes.size)
    budget.cut = budget.cut or budget.left_s < LEAST_TIME_S
    return best


def _solved(
    problem: CheckpointProblem,
    limits: Limits,
    columns: BoolArray,
    chosen: BoolArray,
    best: IntArray,
    seed: int,
    budget: Budget,
    tree_nodes: int,
) -> IntArray:
    """Return *best* (U, c) with the copies on the chosen nodes (N,) exchanged among them in the best way.

    The model holds the units with copies there alone; what all others use is taken off the limits.
    """
    units = np.flatnonzero(chosen[best].any(axis=1))
    if not units.size:
        return best
    nodes = np.union1d(np.flatnonzero(chosen), best[units])
    position = np.zeros(chosen.size, dtype=np.int64)
    position[nodes] = np.arange(nodes.size)
    there = np.ix_(units, nodes)
    mine = position[best[units]]
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
    weight = limits.weight[:, units]
    within = Limits(limits.names, weight, limits.lower[:, nodes], limits.upper[:, nodes])
    rest = limits.used(best)[:, nodes] - within.used(mine)
    within = replace(within, lower=within.lower - rest, upper=within.upper - rest)
    open_columns = columns[there] & chosen[nodes][None, :]
    np.put_along_axis(open_columns, mine, True, axis=1)
    found, _ = branch_and_cut(inside, within, open_columns, mine, seed, budget, GAP, tree_nodes)
    copies = best.copy()
    copies[units] = nodes[found]
    return copies if limits.kept(copies) else best


def _drawn(
    problem: CheckpointProblem,
    cost: FloatArray,
    least: FloatArray,
    nodes: IntArray,
    best: IntArray,
    size: int,
    rng: np.random.Generator,
) -> BoolArray:
    """Draw a unit by how much more its copies cost, at the dual's prices, than they could; return some nodes (N,).

    These are the unit's own nodes, its cheapest ones, and others at random.
    """
    there = np.take_along_axis(cost, best, axis=1).sum(axis=1)
    excess = np.maximum(there - least, 0.0)
    total = float(excess.sum())
    unit = int(rng.choice(best.shape[0], p=excess / total)) if total > 0 else int(rng.integers(best.shape[0]))
    chosen = np.zeros(len(problem.nodes), dtype=np.bool_)
    chosen[best[unit]] = True
    chosen[np.argsort(cost[unit], kind="stable")[: size // 2]] = True
    chosen &= np.isin(np.arange(chosen.size), nodes)
    for node in rng.permutation(nodes).tolist():
        if int(chosen.sum()) >= size:
            break
        chosen[node] = True
    return chosen
