"""The most nodes that may stop together now."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, parts_of
from ftplan.planners.drain_schedule.algorithms.heaviest_set import AllowedSetRows, cover_bound, heaviest_set
from ftplan.planners.drain_schedule.problem import Drain, DrainOptions, DrainProblem


class LargestSet(NamedTuple):
    """Nodes by number, a proven bound on how many may stop together, and whether the clock ended the search."""

    nodes: tuple[int, ...]
    bound: int
    cut: bool


def largest_set(problem: DrainProblem, drain: Drain, options: DrainOptions) -> LargestSet:
    """Return the largest set of a drain's nodes that may stop together.

    The largest round, grown as far as it goes, and larger ones by branch and bound until there is none or the time is
    over; then the bound is that of the numbers: of all nodes, of those of each zone, of cliques of conflicts, and of
    those that lose or take least.
    """
    budget = Budget.of(options)
    nodes = sorted(node for some in drain.rounds for node in some)
    parts = [_largest(sets, drain, budget) for sets in parts_of(problem, nodes, budget, options.seed)]
    best = max((part.nodes for part in parts), key=len)
    return LargestSet(best, max(part.bound for part in parts), budget.cut)


def _largest(sets: AllowedSets, drain: Drain, budget: Budget) -> LargestSet:
    place = {node: k for k, node in enumerate(sets.nodes)}
    rounds = [sum(1 << place[node] for node in some) for some in drain.rounds if some[0] in place]
    best = max((sets.grown(mask) for mask in rounds), key=int.bit_count, default=0)
    rows, one = AllowedSetRows(sets), np.ones(sets.count, dtype=np.int64)
    bound = min(sets.most, sum(min(mask.bit_count(), sets.per_zone) for mask in sets.zone_mask), cover_bound(sets, one))
    for row, limit in zip(rows.rows, rows.limits, strict=True):
        bound = min(bound, int((np.cumsum(np.sort(row)) <= limit).sum()))
    while best.bit_count() < bound:
        larger = heaviest_set(sets, one, rows, best.bit_count(), budget)
        if larger.proven:
            bound = best.bit_count()
        if larger.mask == 0:
            break
        best = larger.mask
    return LargestSet(sets.numbers(best), max(bound, best.bit_count()), budget.cut)
