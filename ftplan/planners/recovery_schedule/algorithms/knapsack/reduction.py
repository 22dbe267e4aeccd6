"""Smaller set-union knapsacks with the same answer: what is certain goes, what is alike is joined."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, group_starts, residual


@dataclass(frozen=True, eq=False)
class Fixed:
    """What is known of every choice that is looked for: queries inside and outside, elements paid and barred."""

    inside: BoolArray  # (Q,)
    outside: BoolArray  # (Q,)
    paid: BoolArray  # (B,)
    barred: BoolArray  # (B,)

    @staticmethod
    def nothing(knapsack: SetUnionKnapsack) -> Fixed:
        """Return that nothing is known."""
        queries, elements = np.zeros(knapsack.queries, np.bool_), np.zeros(knapsack.elements, np.bool_)
        return Fixed(queries, queries, elements, elements)


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

    def then(self, further: Reduction) -> Reduction:
        """Return this reduction and a further one of its groups as one."""
        group = self.group.copy()
        group[group >= 0] = further.group[group[group >= 0]]
        return Reduction(further.knapsack, group, self.back(further.taken), self.base + further.base)


@dataclass(frozen=True, eq=False)
class Propagated:
    """What follows from what is fixed: what is fixed by now, what elements still cost, and the residual capacity."""

    fixed: Fixed
    weight: FloatArray  # (B,)
    capacity: float
    open: BoolArray  # (Q,) queries still to decide


def propagate(knapsack: SetUnionKnapsack, fixed: Fixed) -> Propagated | None:
    """Take what is free and leave out what does not fit any more; None where nothing that fits agrees with *fixed*."""
    inside, outside = fixed.inside.copy(), fixed.outside.copy()
    outside[knapsack.row[fixed.barred[knapsack.member]]] = True
    paid = fixed.paid | knapsack.covered(inside)
    capacity = knapsack.limit - float(knapsack.weight[paid].sum())
    if capacity < 0 or bool((inside & outside).any()):
        return None
    weight = np.where(paid, 0.0, knapsack.weight)
    lacks = np.bincount(knapsack.row, weight[knapsack.member], knapsack.queries)
    inside |= (lacks == 0.0) & ~outside
    outside |= lacks > capacity * (1 + ROUNDING) + ROUNDING
    return Propagated(Fixed(inside, outside, paid, fixed.barred), weight, capacity, ~inside & ~outside)


def reduce(knapsack: SetUnionKnapsack, fixed: Fixed) -> Reduction | None:
    """Return what is left to decide, None where nothing that fits agrees with *fixed*.

    Queries that cost nothing more are taken, those that alone cost more than is left are out; elements with equal
    queries are one element, and queries with equal elements one query. The capacity that is left is rounded up by
    less than twice ``ROUNDING``: a bound for the reduced knapsack bounds the given one. Cost O(size of the matrix).
    """
    known = propagate(knapsack, fixed)
    if known is None:
        return None
    rest, _ = residual(knapsack, known.open, known.weight, known.capacity)
    of_rest, small = _join_queries(rest)
    group = np.full(knapsack.queries, -1, dtype=np.int64)
    group[known.open] = of_rest
    inside = known.fixed.inside
    return Reduction(join_elements(small), group, inside, knapsack.value(inside))


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
