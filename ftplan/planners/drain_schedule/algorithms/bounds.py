"""Rounds that no schedule can do without: at little cost, and by prices.

Where nodes have prices and no allowed set is worth more than 1, the sum of all prices is a bound on rounds
([MehrotraTrick1996]). Which set is dearest is decided in whole numbers, so that no rounding error makes the bound too
large ([Held2012]).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, members
from ftplan.planners.drain_schedule.algorithms.heaviest_set import AllowedSetRows, heaviest_set

#: The dearest node's price in whole numbers.
PRICE_UNITS = 1 << 30
#: Nodes of the trees of the first two passes over the prices.
TREE_NODES = (60_000, 600_000)
#: Share of the time in which a bound of one round less than known is tried at once, before it is raised one by one.
CLOSING_SHARE = 0.85


class LeastRounds(NamedTuple):
    """A number of rounds that is proven to be needed, and nodes of which no two go together."""

    rounds: int
    clique: tuple[int, ...]


def least_rounds(sets: AllowedSets) -> LeastRounds:
    """Return the best of some bounds: cliques of conflicts, the nodes of each zone and of all, and output lost.

    Where output fidelity is limited no round loses more than allowed, and the rows of :meth:`AllowedSets.loss_row`
    never count more than a round loses.
    """
    if sets.count == 0:
        return LeastRounds(0, ())
    clique = greedy_clique(sets)
    bounds = [1, len(clique), -(-sets.count // sets.most)]
    bounds += [-(-mask.bit_count() // sets.per_zone) for mask in sets.zone_mask]
    if sets.limits_output:
        lost, most = float(sets.shared_row.sum()), sets.largest_loss + 2 * ROUNDING
        bounds.append(int(np.ceil(lost / most * (1.0 - ROUNDING))) if most > 0.0 else 1)
    return LeastRounds(max(bounds), clique)


def greedy_clique(sets: AllowedSets) -> tuple[int, ...]:
    """Return nodes of which no two go together, ascending: the largest of a greedy choice from each of many nodes."""
    adjacent, best = sets.adjacent, 0
    degree = [mask.bit_count() for mask in adjacent]
    starts = sorted(range(sets.count), key=lambda k: (-degree[k], k))[:200]
    for start in starts:
        clique, open_ = 1 << start, adjacent[start]
        while open_ and clique.bit_count() + open_.bit_count() > best.bit_count():
            near = list(members(open_))
            node = max(near[:64], key=lambda k: ((adjacent[k] & open_).bit_count(), -k))
            clique, open_ = clique | 1 << node, open_ & adjacent[node]
        if open_ == 0 and clique.bit_count() > best.bit_count():
            best = clique
    return tuple(members(best))


def raised(sets: AllowedSets, rows: AllowedSetRows, rounds: list[int], least: int, budget: Budget) -> int:
    """Return the bound *least*, raised as far as the budget goes, at most to the number of *rounds*.

    Two sorts of prices: those at which each round, filled up with other nodes, is worth 1, and equal ones. What does
    not end in a small tree is tried in larger ones; at last in any, first for a bound that lacks but one round.
    """
    known = np.zeros(sets.count)
    for mask in rounds:
        filled = list(members(sets.grown(mask)))
        known[filled] = np.maximum(known[filled], 1.0 / len(filled))
    equal, most = np.ones(sets.count), len(rounds)
    for steps in (*TREE_NODES, None):
        for prices in (known, equal) if steps else (equal, known):
            if steps is None and least + 1 < most - 1:
                part = budget.part(CLOSING_SHARE)
                least = most - 1 if _none_too_dear(sets, rows, prices, most - 1, part, None) else least
                budget.cut = budget.cut or part.cut
            while least < most and not budget.over() and _none_too_dear(sets, rows, prices, least + 1, budget, steps):
                least += 1
    return least


def _none_too_dear(
    sets: AllowedSets, rows: AllowedSetRows, prices: FloatArray, rounds: int, budget: Budget, steps: int | None
) -> bool:
    """Return whether it is proven that no set is too dear for a bound of so many rounds."""
    weight = np.floor(prices / prices.max() * PRICE_UNITS).astype(np.int64)
    weight //= max(1, int(np.gcd.reduce(weight)))
    above = (int(weight.sum()) - 1) // max(1, rounds - 1)
    return heaviest_set(sets, weight, rows, above, budget, steps).proven
