"""Smaller set-union knapsacks with the same answer: what is certain goes, what is alike is joined."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, group_starts, residual


@dataclass(frozen=True, eq=False)
class Reduction:
    """A knapsack of S groups of queries, and the way back to the Q queries that it was made of."""

    knapsack: SetUnionKnapsack
    group: IntArray  # (Q,) the group of each query, -1 where its fate is certain
    taken: BoolArray  # (Q,) certainly chosen
    base: float  # summed priority of the taken

    def back(self, groups: BoolArray) -> BoolArray:
        """Return the queries, shape (Q,), that a choice of groups, shape (S,), stands for."""
        queries = self.taken.copy()
        open_ = self.group >= 0
        queries[open_] = groups[self.group[open_]]
        return queries

    def forth(self, queries: BoolArray) -> BoolArray:
        """Return the groups, shape (S,), that lie wholly in a set of queries, shape (Q,)."""
        groups = np.ones(self.knapsack.queries, dtype=np.bool_)
        groups[self.group[(self.group >= 0) & ~queries]] = False
        return groups


def reduce(knapsack: SetUnionKnapsack) -> Reduction | None:
    """Return what is left to decide, None where nothing fits.

    Queries that cost nothing are taken, those that alone cost more than the capacity are out; elements with equal
    queries are one element, and queries with equal elements one query. The capacity is rounded up by less than twice
    ``ROUNDING``: a bound for the reduced knapsack bounds the given one. Cost O(size of the matrix).
    """
    if knapsack.limit < 0.0:
        return None
    cost = np.bincount(knapsack.row, knapsack.weight[knapsack.member], knapsack.queries)
    free = cost == 0.0
    open_ = ~free & (cost <= knapsack.limit * (1 + ROUNDING) + ROUNDING)
    rest, _ = residual(knapsack, open_, knapsack.weight, knapsack.limit)
    of_rest, small = _join_queries(rest)
    group = np.full(knapsack.queries, -1, dtype=np.int64)
    group[open_] = of_rest
    return Reduction(join_elements(small), group, free, knapsack.value(free))


def _join_queries(knapsack: SetUnionKnapsack) -> tuple[IntArray, SetUnionKnapsack]:
    """Join queries with equal elements: their priorities add up. Also returns the group of each query."""
    group = _equal_rows(knapsack.start, knapsack.member)
    first = np.zeros(knapsack.queries, dtype=np.bool_)
    first[np.unique(group, return_index=True)[1]] = True
    entries = first[knapsack.row]
    groups = int(first.sum())
    priority = np.bincount(group, knapsack.priority, groups).astype(np.float64)
    start = group_starts(group[knapsack.row[entries]], groups)
    return group, SetUnionKnapsack(priority, knapsack.weight, start, knapsack.member[entries], knapsack.capacity)


def join_elements(knapsack: SetUnionKnapsack) -> SetUnionKnapsack:
    """Join elements with equal queries: their weights add up, the rest keep their order. Each must be needed."""
    group = _equal_rows(*knapsack.by_element)
    groups = int(group.max(initial=-1)) + 1
    weight = np.bincount(group, knapsack.weight, groups).astype(np.float64)
    row, member = np.divmod(np.unique(knapsack.row * max(groups, 1) + group[knapsack.member]), max(groups, 1))
    start = group_starts(row, knapsack.queries)
    return SetUnionKnapsack(knapsack.priority, weight, start, member, knapsack.capacity)


def _equal_rows(start: IntArray, member: IntArray) -> IntArray:
    """Number the rows of a sparse matrix: equal rows alike, in the order in which they first stand."""
    numbers: dict[bytes, int] = {}
    rows = [member[a:b].tobytes() for a, b in pairwise(start.tolist())]
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.int64)
