"""Smaller set-union knapsacks with the same answer: what is certain goes, what is alike is joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery.knapsack.instance import BoolArray, SetUnionKnapsack


@dataclass(frozen=True, eq=False)
class Fixed:
    """What is known of every choice that is looked for: queries inside and outside, bundles paid and barred."""

    inside: BoolArray  # (Q,)
    outside: BoolArray  # (Q,)
    paid: BoolArray  # (B,)
    barred: BoolArray  # (B,)

    @staticmethod
    def nothing(knapsack: SetUnionKnapsack) -> Fixed:
        """Return that nothing is known."""
        queries, bundles = np.zeros(knapsack.queries, np.bool_), np.zeros(knapsack.bundles, np.bool_)
        return Fixed(queries, queries, bundles, bundles)


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


@dataclass(frozen=True, eq=False)
class Settled:
    """What follows from what is fixed: ``due`` is what each bundle still costs, ``left`` the capacity that is left.

    ``open`` are the queries still to decide, ``entry`` the entries of the matrix that they still pay for.
    """

    fixed: Fixed
    due: FloatArray  # (B,)
    left: float
    open: BoolArray  # (Q,)
    entry: BoolArray  # (entries,)


def settle(knapsack: SetUnionKnapsack, fixed: Fixed) -> Settled | None:
    """Take what is free and leave out what does not fit any more; None where nothing that fits agrees with *fixed*."""
    inside, outside = fixed.inside.copy(), fixed.outside.copy()
    outside[knapsack.row[fixed.barred[knapsack.member]]] = True
    paid = fixed.paid | knapsack.covered(inside)
    left = knapsack.limit - float(knapsack.weight[paid].sum())
    if left < 0 or bool((inside & outside).any()):
        return None
    due = np.where(paid, 0.0, knapsack.weight)
    short = np.bincount(knapsack.row, due[knapsack.member], knapsack.queries)
    inside |= (short == 0.0) & ~outside
    outside |= short > left * (1 + 1e-9) + 1e-9
    open_ = ~inside & ~outside
    entry = open_[knapsack.row] & (due[knapsack.member] > 0.0)
    return Settled(Fixed(inside, outside, paid, fixed.barred), due, left, open_, entry)


def reduce(knapsack: SetUnionKnapsack, fixed: Fixed) -> Reduction | None:
    """Return what is left to decide, None where nothing that fits agrees with *fixed*.

    Queries that cost nothing more are taken, those that alone cost more than is left are out; bundles with equal
    queries are one bundle, and queries with equal bundles one query. The capacity that is left is rounded up by
    less than twice ``SLACK``: a bound for the reduced knapsack bounds the given one. Cost O(size of the matrix).
    """
    settled = settle(knapsack, fixed)
    if settled is None:
        return None
    inside, due, left = settled.fixed.inside, settled.due, settled.left
    open_, entry = settled.open, settled.entry
    group, first, start, member = _join_rows(knapsack.row[entry], knapsack.member[entry], open_)
    priority = np.bincount(group[open_], knapsack.priority[open_], len(first)).astype(np.float64)
    small = _join_bundles(priority, due, start, member, left)
    return Reduction(small, group, inside, knapsack.value(inside))


def _join_rows(row: IntArray, member: IntArray, open_: BoolArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Join queries with equal bundles: group of each query, a query of each group, and the groups' bundles."""
    counts = np.bincount(row, minlength=len(open_))
    ends = np.cumsum(counts)
    seen: dict[bytes, int] = {}
    group = np.full(len(open_), -1, dtype=np.int64)
    first: list[int] = []
    for q in np.flatnonzero(open_).tolist():
        key = member[ends[q] - counts[q] : ends[q]].tobytes()
        group[q] = seen.setdefault(key, len(first))
        if group[q] == len(first):
            first.append(q)
    kept = np.array(first, dtype=np.int64)
    is_first = np.zeros(len(open_), dtype=np.bool_)
    is_first[kept] = True
    start = np.concatenate(([0], np.cumsum(counts[kept]))).astype(np.int64)
    return group, kept, start, member[is_first[row]]


def _join_bundles(
    priority: FloatArray, weight: FloatArray, start: IntArray, member: IntArray, capacity: float
) -> SetUnionKnapsack:
    """Join bundles with equal queries: their weights add up. The rest keep their order."""
    raw = SetUnionKnapsack(priority, weight, start, member, capacity)
    ends, queries = raw.by_bundle
    seen: dict[bytes, int] = {}
    name = np.full(len(weight), -1, dtype=np.int64)
    for b in np.flatnonzero(raw.sharing).tolist():
        name[b] = seen.setdefault(queries[ends[b] : ends[b + 1]].tobytes(), len(seen))
    used = name >= 0
    total = np.bincount(name[used], weight[used], len(seen)).astype(np.float64)
    pairs = np.unique(raw.row * max(len(seen), 1) + name[member])
    row, joined = np.divmod(pairs, max(len(seen), 1))
    counts = np.bincount(row, minlength=len(priority))
    return SetUnionKnapsack(priority, total, np.concatenate(([0], np.cumsum(counts))), joined, capacity)
