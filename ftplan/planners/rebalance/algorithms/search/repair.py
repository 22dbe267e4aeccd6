"""A placement within all limits of load, from one that is not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.algorithms.models.node_model import MAX_WHOLE_CHOICES, chosen
from ftplan.planners.rebalance.algorithms.working_placement import WorkingPlacement

#: Steps of the descent, nodes that each looks at, and pairs of groups that it may exchange.
STEPS, WORST, PAIRS = 2000, 4, 1_000_000
#: Models that are tried, their choices at first, and the deterministic seconds of each.
MODELS, CHOICES, WORK_S = 8, 600, 0.5


def repaired(now: WorkingPlacement, seed: int, budget: Budget, models: int = MODELS) -> WorkingPlacement:
    """Return a placement that is less outside its limits of load, not at all where that is seen to be possible.

    Steepest descent in the sum of what nodes have too much or too little: a group goes to another node, or two change
    places. Where that ends early, integer programs place all groups of a few nodes anew: those outside of their limits
    and others drawn at random, more each time, *models* of them. The limits of moves and bytes are left aside.
    """
    _descend(now, budget)
    rng, size = np.random.default_rng(seed), CHOICES
    for _ in range(budget.passes(models)):
        if not now.over().any() or budget.over():
            break
        now = _placed_anew(now, rng, size, seed, budget)
        size = min(2 * size, MAX_WHOLE_CHOICES)
    return now


def _descend(now: WorkingPlacement, budget: Budget) -> None:
    """Make the step that helps most, while one does; changed in place."""
    for _ in range(budget.passes(STEPS)):
        outside = np.abs(now.over())
        worst = np.argsort(-outside, kind="stable")[: min(WORST, int(np.count_nonzero(outside)))]
        if budget.over() or not any(_step(now, node) for node in worst.tolist()):
            break
    now.recount()


class _Step(NamedTuple):
    """Groups and where they go, and by how much less nodes are outside of their limits then."""

    changes: tuple[tuple[int, int], ...]
    gain: float


def _step(now: WorkingPlacement, node: int) -> bool:
    """Relieve or fill a node by the best move, or else exchange; return whether one helps."""
    least = ROUNDING * float(np.abs(now.over()).sum())
    for steps in (_moves, _exchanges):
        for step in steps(now, node):
            if step.gain > least and all(now.holds(group, target) for group, target in step.changes):
                for group, target in step.changes:
                    now.put(group, target)
                return True
    return False


def _moves(now: WorkingPlacement, node: int) -> list[_Step]:
    """Return the best moves of a group from a node that is too full, or to one that lacks load."""
    load, before = now.problem.load, _outside(now, now.load)
    if now.load[node] > now.candidates.most[node]:
        here = np.flatnonzero((now.place == node) & (load > 0.0))
        left = _outside(now, now.load[node] - load[here], node)
        gain = (before[node] - left)[:, None] + before - _outside(now, now.load + load[here][:, None])
        gain[~np.isfinite(now.candidates.costs(here, now.tariff))] = -np.inf
        gain[:, node] = -np.inf
        rows, targets = np.divmod(_largest(gain.ravel()), now.candidates.nodes)
        best = gain[rows, targets]
        return [
            _Step(((g, n),), x) for g, n, x in zip(here[rows].tolist(), targets.tolist(), best.tolist(), strict=True)
        ]
    able = np.isfinite(now.candidates.column(node, now.tariff)) & (now.place != node) & (load > 0.0)
    groups = np.flatnonzero(able)
    source = now.place[groups]
    gain = before[node] - _outside(now, now.load[node] + load[groups], node)
    gain = gain + before[source] - _outside(now, now.load[source] - load[groups], source)
    at = _largest(gain)
    return [_Step(((g, node),), x) for g, x in zip(groups[at].tolist(), gain[at].tolist(), strict=True)]


def _exchanges(now: WorkingPlacement, node: int) -> list[_Step]:
    """Return the best exchanges of a group on a node for one elsewhere."""
    load, candidates, before = now.problem.load, now.candidates, _outside(now, now.load)
    here = np.flatnonzero(now.place == node)
    able = np.isfinite(candidates.column(node, now.tariff)) & (now.place != node)
    others = np.flatnonzero(able)
    if len(here) * len(others) > PAIRS:  # those of the nodes that can take or give most
        spare = candidates.most - now.load if now.load[node] > candidates.most[node] else now.load - candidates.least
        others = others[np.argsort(-spare[now.place[others]], kind="stable")][: PAIRS // len(here)]
    if not len(here) or not len(others):
        return []
    source = now.place[others]
    change = load[here][:, None] - load[others]
    gain = before[node] - _outside(now, now.load[node] - change, node)
    gain = gain + before[source] - _outside(now, now.load[source] + change, source)
    gain[~np.isfinite(candidates.costs(here, now.tariff))[:, source]] = -np.inf
    rows, at = np.divmod(_largest(gain.ravel()), len(others))
    pairs = zip(here[rows].tolist(), others[at].tolist(), gain[rows, at].tolist(), strict=True)
    return [_Step(((g, int(now.place[h])), (h, node)), x) for g, h, x in pairs]


def _outside(now: WorkingPlacement, load: FloatArray, nodes: IntArray | int | slice = slice(None)) -> FloatArray:
    """Return how far loads are outside of the limits of some nodes, of the same shape as *load*."""
    most, least = now.candidates.most[nodes], now.candidates.least[nodes]
    return np.asarray(np.maximum(load - most, 0.0) + np.maximum(least - load, 0.0))


def _largest(gain: FloatArray) -> IntArray:
    """Return the positions of the largest few gains, the first of equals first."""
    if len(gain) > 64:
        some = np.sort(np.argpartition(-gain, 8)[:8])
        return some[np.argsort(-gain[some], kind="stable")]
    return np.argsort(-gain, kind="stable")[:8]


def _placed_anew(
    now: WorkingPlacement, rng: np.random.Generator, size: int, seed: int, budget: Budget
) -> WorkingPlacement:
    """Return a placement of the groups of some nodes that keeps all limits, if there is one, else the one given."""
    outside = np.flatnonzero(now.over())
    able = np.flatnonzero(now.problem.hosts)
    partners = rng.permutation(able[~np.isin(able, outside)])
    picked = outside
    for node in partners.tolist():
        more = np.append(picked, node)
        if int(np.isin(now.place, more).sum()) * len(more) > size and len(picked) > len(outside):
            break
        picked = more
    targets = np.zeros(now.candidates.nodes, dtype=np.bool_)
    targets[picked] = True
    free = np.flatnonzero(targets[now.place])
    if len(free) * len(picked) > 4 * MAX_WHOLE_CHOICES:
        return now
    return chosen(now, free, seed, budget, WORK_S, targets, feasible=True).placement or now
