"""The optimum of a small recovery step: every plan that fits, query by query (Su & Zhou, algorithm 4)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.plan import sound_bound
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.knapsack.fractional_bound import fractional_bound, shares
from ftplan.planners.recovery.knapsack.instance import BoolArray, Choice, SetUnionKnapsack
from ftplan.planners.recovery.knapsack.residual import ROUNDING, fitting

#: Different failed queries that are planned unless the caller asks for more; the paper plans 18. Up to here plans are
#: few enough, and take less than a second, unless many queries cost and are worth about the same.
LIMIT = 30
#: Plans held at once, 24 bytes each and as much again to work in.
PLANS = 4_000_000
#: Plans whose values or costs differ by less than this share are equal.
EQUAL = 1e-10


@dataclass(frozen=True, eq=False)
class Item:
    """Queries that need the same bundles, and what they add to a plan.

    ``added`` has the weight of the bundles that exactly these earlier items (a bit mask) need as well: a plan pays it
    if it has none of them.
    """

    queries: tuple[int, ...]
    priority: float
    added: dict[int, float]


@dataclass(frozen=True, eq=False)
class Plans:
    """Plans as columns: which items each has (a bit mask), what it costs and what it is worth."""

    items: IntArray
    cost: FloatArray
    value: FloatArray

    def where(self, keep: BoolArray) -> Plans:
        """Return the plans that are kept."""
        return Plans(self.items[keep], self.cost[keep], self.value[keep])

    def and_also(self, other: Plans) -> Plans:
        """Return these plans, then the others."""
        return Plans(
            np.concatenate((self.items, other.items)),
            np.concatenate((self.cost, other.cost)),
            np.concatenate((self.value, other.value)),
        )

    def best(self) -> int:
        """Return the plan of most value, of equal ones the cheapest, of those the first."""
        equal = self.value >= self.value.max() * (1.0 - EQUAL)
        cost = np.where(equal, self.cost, np.inf)
        return int(np.flatnonzero(cost <= cost.min() * (1.0 + EQUAL))[0])


def dynamic_programming(
    knapsack: SetUnionKnapsack,
    budget: Budget,
    seed: int = 0,
    hint: BoolArray | None = None,
    limit: int = LIMIT,
    plans: int = PLANS,
) -> Choice:
    """Choose queries of the largest summed priority that fit, proven by going through all plans that fit.

    A plan is a set of queries; each query in turn extends the plans so far, pays what they have not covered yet, and
    what fits is a plan too. Plans that even all queries to come cannot lift to the best one are dropped.

    Cost: at most 2^M plans for M different failed queries, each looked at once a query. Refuses more than *limit* of
    them and more than *plans* plans at once. Guarantee: optimal, unless the clock ends first.

    References: Su & Zhou, appendix B, algorithm 4.

    Raises
    ------
    FtplanError
        If there are too many queries or plans.
    """
    # Departures from the listing. It raises the usage unit by unit and looks for queries that cost exactly the rest,
    # so it finds nothing when costs are not whole: here plans grow query by query, and only attainable costs arise.
    # It makes a plan once for each order of its queries: here once for each set (a bit mask). It drops what can
    # grow no more before it reads the answer: here the best plan stays. Its line 8 means a union, not a cut.
    queries, small = fitting(knapsack)
    everything = np.ones(small.queries, dtype=np.bool_)
    if small.fits(everything):
        return chosen_of(knapsack, queries)
    items = items_of(small)
    if len(items) > limit or len(items) > 62:
        raise FtplanError(
            f"dynamic-programming plans up to {min(limit, 62)} failed queries, there are {len(items)} different ones: "
            "use exact or local-search, or best-density for a guarantee without the proof"
        )
    start = knapsack.value(hint) if hint is not None and knapsack.fits(hint) else 0.0
    free = small.value(np.diff(small.start) == 0)
    found, finished = grown(items, small.limit * (1.0 - ROUNDING), start - free, plans, budget)
    best = int(found.items[found.best()])
    choice = chosen_of(knapsack, queries[[q for i, item in enumerate(items) if best >> i & 1 for q in item.queries]])
    if finished:
        return choice
    if hint is not None and start > knapsack.value(choice.queries):
        choice = Choice(knapsack.whole(hint))
    note = "dynamic-programming was stopped by the clock: the best plan so far is not proven"
    return Choice(
        choice.queries, sound_bound("max", knapsack.value(choice.queries), fractional_bound(knapsack)), False, note
    )


def chosen_of(knapsack: SetUnionKnapsack, queries: IntArray) -> Choice:
    """Return the choice of these queries, and what comes back with them, as an optimum."""
    chosen = np.zeros(knapsack.queries, dtype=np.bool_)
    chosen[queries] = True
    chosen = knapsack.whole(chosen)
    return Choice(chosen, knapsack.value(chosen), True)


def items_of(knapsack: SetUnionKnapsack) -> list[Item]:
    """Return the queries that need some bundle, equal ones as one, densest first: good plans come early."""
    paid, alike = shares(knapsack), defaultdict(list)
    for q in np.flatnonzero(np.diff(knapsack.start)).tolist():
        alike[tuple(knapsack.member[knapsack.start[q] : knapsack.start[q + 1]].tolist())].append(q)
    worth = {needs: float(knapsack.priority[equal].sum()) for needs, equal in alike.items()}
    ordered = sorted(alike, key=lambda needs: (-worth[needs] / paid[alike[needs][0]], alike[needs][0]))
    earlier = [0] * knapsack.bundles
    items = []
    for i, needs in enumerate(ordered):
        added: dict[int, float] = defaultdict(float)
        for b in needs:
            added[earlier[b]] += float(knapsack.weight[b])
            earlier[b] |= 1 << i
        items.append(Item(tuple(alike[needs]), worth[needs], dict(added)))
    return items


def grown(items: list[Item], limit: float, incumbent: float, most: int, budget: Budget) -> tuple[Plans, bool]:
    """Return the plans that are left when all items have been added, and whether the clock let that happen.

    *incumbent* is a value that is known to be reached: plans below it are not needed.
    """
    plans = Plans(np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1))
    to_come = np.cumsum([item.priority for item in items][::-1])[::-1]
    for i, item in enumerate(items):
        if i and budget.over():
            return plans, False
        plans = extended(plans, i, item, limit)
        incumbent = max(incumbent, float(plans.value.max()))
        rest = float(to_come[i + 1]) if i + 1 < len(items) else 0.0
        plans = plans.where(plans.value + rest >= incumbent - EQUAL * (1.0 + abs(incumbent)))
        if len(plans.items) > most:
            raise FtplanError(
                f"dynamic-programming holds up to {most:,} plans, after {i + 1} of {len(items)} different failed "
                f"queries there are {len(plans.items):,}: use exact or local-search"
            )
    return plans, True


def extended(plans: Plans, i: int, item: Item, limit: float) -> Plans:
    """Return the plans with and without an item: with it where that fits, without where it is not free."""
    added = np.zeros(len(plans.items))
    for others, weight in item.added.items():
        added += weight * ((plans.items & others) == 0)
    fits = plans.cost + added <= limit
    taken = Plans(plans.items[fits] | (1 << i), plans.cost[fits] + added[fits], plans.value[fits] + item.priority)
    return taken.and_also(plans.where(added > 0.0))
