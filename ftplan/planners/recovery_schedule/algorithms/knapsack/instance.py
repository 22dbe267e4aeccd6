"""One recovery step as a set-union knapsack: choose queries, pay each task once.

[SuZhouTR], definition 2: maximise the summed priority of whole queries under a capacity; NP-hard (appendix D.1, also
[Goldschmidt1994]).
Tasks that stand in exactly the same queries are one element: a *bundle* that is restored as a whole
or not at all. Of a step that is partly decided a smaller knapsack is left (:func:`residual`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.profit_density import profit_density, shared_cost


def residual(
    knapsack: SetUnionKnapsack, queries: BoolArray, weight: FloatArray, capacity: float
) -> tuple[SetUnionKnapsack, IntArray]:
    """Return the knapsack of some queries (Q,) for new weights (B,) and capacity, and the elements that are left.

    An element of no weight, or of no query that is left, restricts nothing. Linear in the entries.
    """
    entries = queries[knapsack.row] & (weight[knapsack.member] > 0.0)
    elements, member = np.unique(knapsack.member[entries], return_inverse=True)
    row = (np.cumsum(queries) - 1)[knapsack.row[entries]]
    start = group_starts(row, int(queries.sum()))
    small = SetUnionKnapsack(knapsack.priority[queries], weight[elements], start, member.astype(np.int64), capacity)
    return small, elements


def fitting(knapsack: SetUnionKnapsack) -> tuple[IntArray, SetUnionKnapsack]:
    """Return the queries that fit alone, and the knapsack of only these.

    A query that costs more than the capacity is in no choice, so how often its elements are shared is counted without
    it.
    """
    alone = np.bincount(knapsack.row, knapsack.weight[knapsack.member], knapsack.queries)
    fit = alone <= knapsack.limit * (1.0 + NOISE)
    return np.flatnonzero(fit), residual(knapsack, fit, knapsack.weight, knapsack.capacity)[0]


@dataclass(frozen=True, eq=False)
class SetUnionKnapsack:
    """Q queries over B elements. Query q needs the elements ``member[start[q]:start[q + 1]]``, sorted, none twice.

    ``weight`` is in cores and may be 0; a query may need no element at all (both are free). ``priority`` is > 0.
    Queries stand in the order of their names (operator id, index), which ends every tie.
    """

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,) cores
    start: IntArray  # (Q + 1,)
    member: IntArray  # (start[Q],)
    capacity: float  # cores

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.priority)

    @property
    def elements(self) -> int:
        """Number of elements."""
        return len(self.weight)

    @cached_property
    def row(self) -> IntArray:
        """Query of each entry of :attr:`member`."""
        return np.repeat(np.arange(self.queries, dtype=np.int64), np.diff(self.start))

    @cached_property
    def by_element(self) -> tuple[IntArray, IntArray]:
        """The transposed matrix: (start, queries); element b is in ``queries[start[b]:start[b + 1]]``, sorted."""
        return group_starts(self.member, self.elements), self.row[np.argsort(self.member, kind="stable")]

    @cached_property
    def sharing(self) -> IntArray:
        """How many queries need each element, the paper's f, shape (B,)."""
        return np.diff(self.by_element[0])

    @cached_property
    def shared_cost(self) -> FloatArray:
        """What each query costs when those that need an element share its weight evenly, shape (Q,), cores."""
        return shared_cost(self, self.weight, self.queries)

    @cached_property
    def density(self) -> FloatArray:
        """Profit density of each query, shape (Q,)."""
        return profit_density(self, self.priority, self.weight)

    @property
    def limit(self) -> float:
        """The largest cost that counts as fitting: the capacity and a rounding error."""
        return self.capacity + ROUNDING * max(1.0, abs(self.capacity))

    def covered(self, chosen: BoolArray) -> BoolArray:
        """Return which elements a set of queries needs, shape (B,)."""
        covered = np.zeros(self.elements, dtype=np.bool_)
        covered[self.member[chosen[self.row]]] = True
        return covered

    def cost(self, chosen: BoolArray) -> float:
        """Return the cores that a set of queries costs, each element counted once."""
        return float(self.weight[self.covered(chosen)].sum())

    def value(self, chosen: BoolArray) -> float:
        """Return the summed priority of a set of queries."""
        return float(self.priority[chosen].sum())

    def fits(self, chosen: BoolArray) -> bool:
        """Return whether a set of queries fits into the capacity."""
        return self.cost(chosen) <= self.limit

    def whole(self, chosen: BoolArray) -> BoolArray:
        """Return *chosen* and all queries that come back with it for free, shape (Q,)."""
        short = ~self.covered(chosen)[self.member] & (self.weight[self.member] > 0.0)
        lacking = np.zeros(self.queries, dtype=np.bool_)
        lacking[self.row[short]] = True
        return ~lacking

    def closure_of(self, numbers: IntArray) -> BoolArray:
        """Return the queries with these numbers and all that come back with them for free, shape (Q,)."""
        chosen = np.zeros(self.queries, dtype=np.bool_)
        chosen[numbers] = True
        return self.whole(chosen)

    def better_of(self, chosen: BoolArray, hint: BoolArray | None) -> BoolArray:
        """Return *chosen*, or the hint and what comes with it for free, if that fits and has more value."""
        if hint is None or not self.fits(hint) or self.value(self.whole(hint)) <= self.value(chosen):
            return chosen
        return self.whole(hint)


def group_starts(group: IntArray, groups: int) -> IntArray:
    """Return where each group starts in a list that is sorted by group, and its length, shape (groups + 1,)."""
    return np.concatenate(([0], np.cumsum(np.bincount(group, minlength=groups)))).astype(np.int64)


def common_unit(numbers: FloatArray, largest: float = 2.0**40) -> float:
    """Return a unit of which all numbers are multiples: some 1, 1/2, 1/4, 1/10, ... 1/1000; 0 if there is none.

    A number of more than *largest* such fractions has none.
    """
    for factor in (1.0, 2.0, 4.0, 10.0, 20.0, 100.0, 1000.0):
        whole: IntArray = np.round(numbers * factor)
        rounding = ROUNDING * np.minimum(whole, 1.0)  # next to nothing is not nothing
        if len(whole) and bool((np.abs(numbers * factor - whole) <= rounding).all()) and whole.max() <= largest:
            return float(np.gcd.reduce(whole.astype(np.int64))) / factor
    return 0.0


@dataclass(frozen=True, eq=False)
class StepChoice:
    """What a one-step solver chose: queries that fit together, and what it proved.

    ``bound`` is an upper bound on the value of any choice, None where none was proved. ``optimal`` tells that the
    solver proved its choice best, up to rounding. ``note`` says what a user should know of the way.
    """

    queries: BoolArray  # (Q,)
    bound: float | None = None
    optimal: bool = False
    note: str | None = None


class StepSolver(Protocol):
    """Every one-step planner: same knapsack, seed and bounded work give the same choice.

    ``hint`` is a choice that fits, from an earlier solver; the answer is never worse than it.
    """

    def __call__(
        self, knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None
    ) -> StepChoice:
        """Return a choice that fits."""
