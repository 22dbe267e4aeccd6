"""The optimum of a small recovery step: every set of queries that fits, query by query ([SuZhouTR], algorithm 4).

The sets are columns of arrays that grow by one query at a time.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.plan import sound_bound
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.by_objective import by_objective
from ftplan.planners.recovery_schedule.algorithms.knapsack.bounds import fractional_bound
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, StepChoice, fitting
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.profit_density import density
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Sets whose values or costs differ by less than this share are equal.
EQUAL = 1e-10
#: Different queries that a bit mask holds.
MOST_ITEMS = 62


@dataclass(frozen=True, eq=False)
class Item:
    """Queries that need the same elements, and what they add to a set.

    ``added`` has the weight of the elements that exactly these earlier items (a bit mask) need as well: a set pays it
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
    """Return the queries that need some element, equal ones as one, densest first: good sets come early."""
    alike = defaultdict(list)
    for q in np.flatnonzero(np.diff(knapsack.start)).tolist():
        alike[tuple(knapsack.member[knapsack.start[q] : knapsack.start[q + 1]].tolist())].append(q)
    priority = {needs: float(knapsack.priority[equal].sum()) for needs, equal in alike.items()}
    joint = {needs: density.plain(priority[needs], knapsack.shared_cost[equal[0]]) for needs, equal in alike.items()}
    ordered = sorted(alike, key=lambda needs: (-joint[needs], alike[needs][0]))
    earlier = [0] * knapsack.elements
    items = []
    for i, needs in enumerate(ordered):
        added: dict[int, float] = defaultdict(float)
        for b in needs:
            added[earlier[b]] += float(knapsack.weight[b])
            earlier[b] |= 1 << i
        items.append(Item(tuple(alike[needs]), priority[needs], dict(added)))
    return items


#: Different failed queries that are planned unless the caller asks for more; the paper plans 18. Up to here sets are
#: few enough, and take less than a second, unless many queries have about the same cost and priority.
LIMIT = 30
#: Sets held at once, 24 bytes each and as much again to work in.
MOST_SETS = 4_000_000
#: Steps of up to so many queries are tried before a solver is loaded, with so many sets: some hundredths of a second.
FEW_QUERIES, FEW_SETS = 200, 20_000
#: Seeds that are grown for an optimum that leaves later steps more than the cheapest does.
SEEDS = 32


def dynamic_programming(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Solve each step exactly over all sets of queries that fit; see :func:`dynamic_programming_step`."""
    return by_objective(problem, options, Method(dynamic_programming_step, model=True))


def dynamic_programming_step(
    knapsack: SetUnionKnapsack,
    budget: Budget,
    seed: int = 0,
    hint: BoolArray | None = None,
    limit: int = LIMIT,
    most: int = MOST_SETS,
) -> StepChoice:
    """Choose queries of the largest summed priority that fit, proven by going through all sets that fit.

    Each query in turn extends the sets so far, pays what they have not covered yet, and what fits is a set too. Sets
    that even all queries to come cannot lift to the best one are dropped.

    Cost: at most 2^M sets for M different failed queries, each looked at once a query. Guarantee: optimal, unless the
    clock ends first. Source: [SuZhouTR], appendix B, algorithm 4.

    Raises
    ------
    FtplanError
        If there are more than *limit* different queries, or more than *most* sets at once.
    """
    # Departures from the listing. It raises the usage unit by unit and looks for queries that cost exactly the rest,
    # so it finds nothing when costs are not whole: here sets grow query by query, and only attainable costs arise.
    # It makes a set once for each order of its queries: here once (a bit mask). It drops what can grow no more before
    # it reads the answer: here the best set stays. Its line 8 means a union, not a cut.
    queries, small = fitting(knapsack)
    if small.fits(np.ones(small.queries, dtype=np.bool_)):
        return _optimum(knapsack, knapsack.closure_of(queries))
    items = items_of(small)
    if len(items) > min(limit, MOST_ITEMS):
        raise FtplanError(
            f"dynamic-programming plans up to {min(limit, MOST_ITEMS)} failed queries, there are {len(items)} "
            "different ones: use exact or local-search, or best-density for a guarantee without the proof"
        )
    incumbent = knapsack.value(hint) if hint is not None and knapsack.fits(hint) else 0.0
    free = small.value(np.diff(small.start) == 0)
    sets, complete = _extended(items, small.limit * (1.0 - NOISE), incumbent - free, most, budget)
    best = sets.best()
    chosen = knapsack.closure_of(queries[[q for i, item in enumerate(items) if best >> i & 1 for q in item.queries]])
    if complete:
        return _optimum(knapsack, chosen)
    chosen = knapsack.better_of(chosen, hint)
    bound = sound_bound("max", knapsack.value(chosen), fractional_bound(knapsack))
    note = "dynamic-programming was stopped by the clock: the best plan so far is not proven"
    return StepChoice(chosen, bound, False, note)


def optimum_where_few(knapsack: SetUnionKnapsack) -> StepChoice | None:
    """Return the optimum of a step with few sets that fit, None elsewhere: no solver is loaded, no clock looked at.

    Of equal choices the one that grew by density, if it is among them: what is begun beyond them serves later steps.
    """
    if knapsack.queries > FEW_QUERIES:
        return None
    try:
        choice = dynamic_programming_step(knapsack, Budget(np.inf), most=FEW_SETS)
    except FtplanError:
        return None
    if not choice.optimal:
        return None
    dense = best_density_step(knapsack, Budget(np.inf, SEEDS)).queries
    if knapsack.value(dense) < knapsack.value(choice.queries) * (1.0 - NOISE):
        return choice
    return StepChoice(dense, choice.bound, True)


def _optimum(knapsack: SetUnionKnapsack, chosen: BoolArray) -> StepChoice:
    return StepChoice(chosen, knapsack.value(chosen), True)


def _extended(items: list[Item], limit: float, incumbent: float, most: int, budget: Budget) -> tuple[QuerySets, bool]:
    """Return the sets that are left when all items have been added, and whether the clock let that happen.

    *incumbent* is a value that is known to be reached: sets that end below it are not needed.
    """
    sets = QuerySets.empty_set()
    to_come = np.cumsum([item.priority for item in items][::-1])[::-1]
    for i, item in enumerate(items):
        if i and budget.over():
            return sets, False
        sets = sets.extended(i, item, limit)
        incumbent = max(incumbent, float(sets.value.max()))
        rest = float(to_come[i + 1]) if i + 1 < len(items) else 0.0
        sets = sets.where(sets.value + rest >= incumbent - EQUAL * (1.0 + abs(incumbent)))
        if len(sets.items) > most:
            raise FtplanError(
                f"dynamic-programming holds up to {most:,} plans, after {i + 1} of {len(items)} different failed "
                f"queries there are {len(sets.items):,}: use exact or local-search"
            )
    return sets, True
