"""Rounds by first fit: nodes one after another, each into a round that stays allowed with it.

In random orders that is what plans are compared with (:func:`random_rounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, members, parts_of
from ftplan.planners.drain_schedule.problem import DrainProblem


def random_rounds(
    problem: DrainProblem, nodes: Sequence[int], seed: int, orders: int, budget: Budget
) -> list[list[tuple[int, ...]]]:
    """Return the rounds of first fit in so many random orders, or in those for which the budget lasts.

    *nodes*, by number, may each restart alone. Cost O(nodes * rounds) an order, with a look at output fidelity or a
    packing a try where these are limited.
    """
    parts, rng = parts_of(problem, nodes, budget, seed), np.random.default_rng(seed)
    drawn: list[list[tuple[int, ...]]] = []
    for _ in range(orders):
        rounds: list[tuple[int, ...]] = []
        try:
            for sets in parts:
                order = _while_time(rng.permutation(sets.count).tolist(), budget)
                rounds += [sets.numbers(mask) for mask in first_fit(sets, order)]
        except OutOfTime:
            break
        drawn.append(rounds)
    return drawn


def _while_time(order: Sequence[int], budget: Budget) -> Iterator[int]:
    for node in order:
        budget.check()
        yield node


def first_fit(sets: AllowedSets, order: Iterable[int]) -> list[int]:
    """Put each node of an order into the first round that it fits, a new one if none; cost O(nodes * rounds).

    Where the time is over the nodes that are left have a round each.
    """
    filled: list[int] = []
    for node in order:
        for r, mask in enumerate([] if sets.budget.over() else filled):
            if sets.extends(mask, node):
                filled[r] = mask | 1 << node
                break
        else:
            filled.append(1 << node)
    return filled


def by_saturation(sets: AllowedSets, rng: np.random.Generator | None = None) -> list[int]:
    """Put the node next that is shut out of most rounds, into the round that shuts out fewest others (DSATUR).

    Of equal ones the node with most conflicts, then at random or by number. Cost O(nodes * (nodes + rounds)), and a
    look at output fidelity or room a try. Departs from [Brelaz1979] in the limits on sets beside conflicts: a round
    that they close to a node stays closed, since it only grows. Where the time is over the rest have a round each.
    """
    count = sets.count
    degree = sets.conflict.sum(axis=1)
    tie = np.arange(count) if rng is None else rng.permutation(count)
    rank = np.empty(count, dtype=np.int64)
    rank[np.lexsort((tie, -sets.restart_s, -degree))] = np.arange(count)
    waiting = np.ones(count, dtype=np.bool_)
    closed = np.zeros((count, 16), dtype=np.bool_)
    saturation = np.zeros(count, dtype=np.int64)
    rounds: list[int] = []
    for _ in range(count):
        key = np.where(waiting, saturation * count + (count - 1 - rank), -1)
        node = int(np.argmax(key))
        while True:
            r = -1 if sets.budget.over() else _least_harm(sets, node, closed[:, : len(rounds)], waiting)
            if r < 0 or sets.extends(rounds[r], node):
                break
            closed[node, r] = True
        if r < 0:
            rounds.append(0)
            r = len(rounds) - 1
            if r == closed.shape[1]:
                closed = np.concatenate((closed, np.zeros_like(closed)), axis=1)
        rounds[r] |= 1 << node
        waiting[node] = False
        shut = _shut(sets, rounds[r], node) & ~closed[:, r]
        closed[shut, r] = True
        saturation += shut
    return rounds


def _least_harm(sets: AllowedSets, node: int, closed: BoolArray, waiting: BoolArray) -> int:
    """Return the open round of a node that shuts out fewest more of those that wait, the first of equals; -1: none."""
    open_rounds = np.flatnonzero(~closed[node])
    if len(open_rounds) == 0:
        return -1
    hit = np.flatnonzero(sets.conflict[node] & waiting)
    harm = (~closed[np.ix_(hit, open_rounds)]).sum(axis=0)
    return int(open_rounds[np.argmin(harm)])


def _shut(sets: AllowedSets, mask: int, node: int) -> BoolArray:
    """Return the nodes, (m,), that a round takes no more since a node joined it."""
    if mask.bit_count() >= sets.most:
        return np.ones(sets.count, dtype=np.bool_)
    shut: BoolArray = sets.conflict[node].copy()
    if sets.per_zone < sets.count:
        zone = int(sets.zone[node])
        if (sets.zone_mask[zone] & mask).bit_count() >= sets.per_zone:
            shut |= sets.zone == zone
    return shut


def one_by_one(sets: AllowedSets) -> list[int]:
    """Return a round a node, as Strimzi and cass-operator restart them."""
    return [1 << k for k in range(sets.count)]


def zone_by_zone(sets: AllowedSets) -> list[int]:
    """Return the zones one after another, each split as the limits need."""
    rounds: list[int] = []
    for mask in sets.zone_mask:
        rounds += first_fit(sets, members(mask))
    return rounds


def in_order(rounds: Iterable[int]) -> list[int]:
    """Return rounds in the order of their first nodes, without empty ones."""
    return sorted((mask for mask in rounds if mask), key=lambda mask: mask & -mask)
