"""Rounds that no schedule can do without, at little cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, members


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
