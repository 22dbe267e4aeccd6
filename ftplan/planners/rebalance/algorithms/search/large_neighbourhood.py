"""Large-neighbourhood search: the groups of a few nodes are placed anew by an integer program, again and again."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.models.choice_model import chosen
from ftplan.planners.rebalance.algorithms.search.starts import own_value
from ftplan.planners.rebalance.algorithms.search.working_placement import WorkingPlacement

#: Neighbourhoods without a gain that end the search, the most there are, their choices, and the deterministic seconds
#: that each may take.
PATIENCE, ROUNDS, CHOICES, WORK_S = 6, 24, 2500, 0.3
#: A gap to the bound, relative, for which the search is not worth while.
CLOSE = 0.005


def placed_anew(now: WorkingPlacement, bound: float, seed: int, budget: Budget) -> WorkingPlacement:
    """Return a placement that costs no more, from one that keeps all limits.

    Destroy: the groups of a node from which or to which moves are dear, drawn by what these cost, and of nodes that
    these moves, or the checkpoints of its groups, lead to. Repair: CP-SAT. Ends with the gap, or when nothing was
    gained for a while.
    """
    rng, stalled, value = np.random.default_rng(seed), 0, own_value(now)
    for _ in range(budget.passes(ROUNDS)):
        if budget.over() or stalled >= PATIENCE or value - bound <= CLOSE * abs(value):
            break
        nodes = _nodes(now, rng)
        targets = np.zeros(now.candidates.nodes, dtype=np.bool_)
        targets[nodes] = True
        free = np.flatnonzero(targets[now.place] | targets[now.problem.home])
        answer = chosen(now, free, budget, WORK_S, targets)
        after = answer.placement
        stalled += 1
        if after is not None and after.feasible() and own_value(after) < value - ROUNDING * abs(value):
            now, value, stalled = after, own_value(after), 0
    return now


def _nodes(now: WorkingPlacement, rng: np.random.Generator) -> IntArray:
    """Return nodes whose groups, together, make a model of the right size."""
    problem, candidates, moved = now.problem, now.candidates, now.moved
    near = candidates.is_near(moved, now.place[moved]).astype(np.int64)
    cost = now.tariff.charge[near, moved]
    weight: FloatArray = np.bincount(problem.home[moved], cost, minlength=candidates.nodes).astype(np.float64)
    weight += np.bincount(now.place[moved], cost, minlength=candidates.nodes)
    if weight.sum() <= 0.0:
        weight = np.ones(candidates.nodes)
    picked = [int(rng.choice(candidates.nodes, p=weight / weight.sum()))]
    on = (problem.home[moved] == picked[0]) | (now.place[moved] == picked[0])
    ties = np.bincount(np.concatenate([problem.home[moved[on]], now.place[moved[on]]]), minlength=candidates.nodes)
    held = candidates.spread[problem.home[candidates.spread[:, 0]] == picked[0], 1]
    likely = 1e-3 + ties + 0.2 * np.bincount(held, minlength=candidates.nodes)
    likely[picked[0]] = 0.0
    count = np.bincount(now.place, minlength=candidates.nodes)
    order = rng.choice(candidates.nodes, candidates.nodes - 1, replace=False, p=likely / likely.sum())
    for node in order.tolist():
        more = [*picked, node]
        if len(picked) >= 2 and int(count[more].sum()) * len(more) > CHOICES:
            break
        picked = more
    return np.array(sorted(picked))
