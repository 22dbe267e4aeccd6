"""All sets of queries that fit a step, as columns that grow query by query ([SuZhouTR], algorithm 4)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.profit_density import density

#: Sets whose values or costs differ by less than this share are equal.
EQUAL = 1e-10
#: Different queries that a bit mask holds.
MOST_ITEMS = 62


@dataclass(frozen=True, eq=False)
class Item:
    """Queries that need the same bundles, and what they add to a set.

    ``added`` has the weight of the bundles that exactly these earlier items (a bit mask) need as well: a set pays it
    if it has none of them.
    """

    queries: tuple[int, ...]
    priority: float
    added: dict[int, float]


@dataclass(frozen=True, eq=False)
class QuerySets:
    """Sets of items as columns, each of shape (sets,)."""

    items: IntArray  # a bit mask
    cost: FloatArray  # cores
    value: FloatArray  # summed priority

    @staticmethod
    def empty_set() -> QuerySets:
        """Return the set without items, alone."""
        return QuerySets(np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1))

    def where(self, keep: BoolArray) -> QuerySets:
        """Return the sets that are kept."""
        return QuerySets(self.items[keep], self.cost[keep], self.value[keep])

    def extended(self, i: int, item: Item, limit: float) -> QuerySets:
        """Return the sets with and without item *i*: with it where that fits, without where it is not free."""
        added = np.zeros(len(self.items))
        for others, weight in item.added.items():
            added += weight * ((self.items & others) == 0)
        fits, paid = self.cost + added <= limit, added > 0.0
        return QuerySets(
            np.concatenate((self.items[fits] | (1 << i), self.items[paid])),
            np.concatenate((self.cost[fits] + added[fits], self.cost[paid])),
            np.concatenate((self.value[fits] + item.priority, self.value[paid])),
        )

    def best(self) -> int:
        """Return the items of the set of most value, of equal ones the cheapest, of those the first."""
        equal = self.value >= self.value.max() * (1.0 - EQUAL)
        cost = np.where(equal, self.cost, np.inf)
        return int(self.items[np.flatnonzero(cost <= cost.min() * (1.0 + EQUAL))[0]])


def items_of(knapsack: SetUnionKnapsack) -> list[Item]:
    """Return the queries that need some bundle, equal ones as one, densest first: good sets come early."""
    alike = defaultdict(list)
    for q in np.flatnonzero(np.diff(knapsack.start)).tolist():
        alike[tuple(knapsack.member[knapsack.start[q] : knapsack.start[q + 1]].tolist())].append(q)
    priority = {needs: float(knapsack.priority[equal].sum()) for needs, equal in alike.items()}
    joint = {needs: density.plain(priority[needs], knapsack.shared_cost[equal[0]]) for needs, equal in alike.items()}
    ordered = sorted(alike, key=lambda needs: (-joint[needs], alike[needs][0]))
    earlier = [0] * knapsack.bundles
    items = []
    for i, needs in enumerate(ordered):
        added: dict[int, float] = defaultdict(float)
        for b in needs:
            added[earlier[b]] += float(knapsack.weight[b])
            earlier[b] |= 1 << i
        items.append(Item(tuple(alike[needs]), priority[needs], dict(added)))
    return items
