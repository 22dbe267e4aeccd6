"""Kernels of best density: seeds that grow by the densest query that fits ([SuZhouTR], algorithm 3)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ftplan.compiled import compiled, inlined
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.profit_density import density

#: Multiplier that leaves the 30 leading bits of a density or cost (Veltkamp): what differs by less is a rounding error.
SPLIT = 2.0**23 + 1.0
#: What a query lacks is summed anew below this part of its start: what was subtracted has left its errors.
WORN = 1e-4


class GrowthInstance(NamedTuple):
    """A knapsack whose elements all weigh something, as plain arrays: Q queries, B elements."""

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,)
    share: FloatArray  # (B,) weight / sharing
    start: IntArray  # (Q + 1,)
    member: IntArray
    by_start: IntArray  # (B + 1,)
    by_query: IntArray
    cost: FloatArray  # (Q,) summed weight
    paid: FloatArray  # (Q,) summed share
    density: FloatArray  # (Q,) rounded
    price: FloatArray  # (Q,) cost, rounded
    ranked: IntArray  # queries that cost something, densest first
    limit: float


class Growth(NamedTuple):
    """One choice as it grows: what each query still lacks, and a heap of the queries that may come next.

    ``touched`` and ``seen`` are room to work in.
    """

    cost: FloatArray  # (Q,)
    paid: FloatArray  # (Q,)
    lacking: IntArray  # (Q,) elements
    covered: BoolArray  # (B,)
    chosen: BoolArray  # (Q,)
    density: FloatArray  # (Q,) rounded
    price: FloatArray  # (Q,) rounded cost
    heap: IntArray  # (Q,) queries
    place: IntArray  # (Q,) of each query in the heap, -1 outside
    touched: IntArray  # (Q,)
    seen: BoolArray  # (Q,)


def growth_instance(knapsack: SetUnionKnapsack) -> GrowthInstance:
    """Return the arrays of a knapsack whose elements all weigh something."""
    cost = np.bincount(knapsack.row, knapsack.weight[knapsack.member], knapsack.queries).astype(np.float64)
    leading = rounded.inner
    dense = np.array([leading(x) for x in knapsack.density.tolist()], dtype=np.float64)
    price = np.array([leading(x) for x in cost.tolist()], dtype=np.float64)
    some = np.flatnonzero(np.diff(knapsack.start))
    by_start, by_query = knapsack.by_element
    return GrowthInstance(
        priority=knapsack.priority.astype(np.float64),
        weight=knapsack.weight.astype(np.float64),
        share=knapsack.weight / np.maximum(knapsack.sharing, 1),
        start=knapsack.start.astype(np.int64),
        member=knapsack.member.astype(np.int64),
        by_start=by_start,
        by_query=by_query,
        cost=cost,
        paid=knapsack.shared_cost,
        density=dense,
        price=price,
        ranked=some[np.lexsort((some, price[some], -dense[some]))],
        limit=knapsack.limit * (1.0 - NOISE),  # what fits here also fits when its cost is summed in another order
    )


@compiled
def rounded(x: float) -> float:
    """Return x with its 30 leading bits."""
    split = x * SPLIT
    return split - (split - x) if split < np.inf else x


@compiled
def pair(number: int) -> tuple[int, int]:
    """Return the ranks i < j of a pair: all pairs among the first k ranks come before any with the next one."""
    j = int((1.0 + math.sqrt(1.0 + 8.0 * number)) / 2.0)
    while j * (j - 1) // 2 > number:
        j -= 1
    while j * (j + 1) // 2 <= number:
        j += 1
    return number - j * (j - 1) // 2, j


@compiled
def sooner(density: float, price: float, q: int, other_density: float, other_price: float, other: int) -> bool:
    """Return whether a query comes before another: denser, of equals cheaper, of those by name."""
    if density != other_density:
        return density > other_density
    return price < other_price or (price == other_price and q < other)


@inlined
def rise(growth: Growth, q: int) -> None:
    """Move a query that comes sooner than it did up the heap."""
    heap, place, dense, price = growth.heap, growth.place, growth.density, growth.price
    i = place[q]
    while i > 0:
        up = heap[(i - 1) // 2]
        if not sooner(dense[q], price[q], q, dense[up], price[up], up):
            break
        heap[i], place[up] = up, i
        i = (i - 1) // 2
    heap[i], place[q] = q, i


@inlined
def pop(growth: Growth, size: int) -> int:
    """Return the first query of the heap, which then has one less than *size*."""
    heap, place, dense, price = growth.heap, growth.place, growth.density, growth.price
    first, q = heap[0], heap[size - 1]
    i, j = 0, 1
    while j < size - 1:
        down = heap[j]
        if j + 1 < size - 1:
            other = heap[j + 1]
            if sooner(dense[other], price[other], other, dense[down], price[down], down):
                down, j = other, j + 1
        if not sooner(dense[down], price[down], down, dense[q], price[q], q):
            break
        heap[i], place[down] = down, i
        i, j = j, 2 * j + 1
    heap[i], place[q] = q, i
    place[first] = -1
    return int(first)


@compiled
def clear(instance: GrowthInstance, growth: Growth) -> None:
    """Give up all queries but the free ones, which always come back: they have no density."""
    growth.cost[:] = instance.cost
    growth.paid[:] = instance.paid
    growth.lacking[:] = instance.start[1:] - instance.start[:-1]
    growth.covered[:] = False
    growth.chosen[:] = growth.lacking == 0
    growth.density[:] = instance.density
    growth.price[:] = instance.price
    for i, q in enumerate(instance.ranked):  # sorted, so it is a heap
        growth.heap[i], growth.place[q] = q, i


@inlined
def cover(instance: GrowthInstance, growth: Growth, q: int) -> tuple[float, int]:
    """Bring back what query q lacks; return what that costs, and how many queries now lack less (``touched``)."""
    # Plain indices: each slice of an array costs a count of references.
    member, by_query = instance.member, instance.by_query
    covered, seen, touched = growth.covered, growth.seen, growth.touched
    paid, cost, lacking = growth.paid, growth.cost, growth.lacking
    added, count = 0.0, 0
    for e in range(instance.start[q], instance.start[q + 1]):
        b = member[e]
        if covered[b]:
            continue
        covered[b] = True
        weight, share = instance.weight[b], instance.share[b]
        added += weight
        for t in range(instance.by_start[b], instance.by_start[b + 1]):
            r = by_query[t]
            paid[r] -= share
            cost[r] -= weight
            lacking[r] -= 1
            if not seen[r]:
                seen[r] = True
                touched[count] = r
                count += 1
    return added, count


@compiled
def sum_anew(instance: GrowthInstance, growth: Growth, q: int) -> None:
    """Sum what a query lacks."""
    growth.paid[q], growth.cost[q] = 0.0, 0.0
    for b in instance.member[instance.start[q] : instance.start[q + 1]]:
        if not growth.covered[b]:
            growth.paid[q] += instance.share[b]
            growth.cost[q] += instance.weight[b]


@compiled
def take(instance: GrowthInstance, growth: Growth, q: int) -> float:
    """Add query q and those that come back with it for free; return what that costs."""
    added: float
    added, count = cover(instance, growth, q)
    growth.chosen[q] = True
    for r in growth.touched[:count]:
        growth.seen[r] = False
        if growth.lacking[r] == 0:
            growth.chosen[r] = True
        elif growth.place[r] >= 0:
            if growth.paid[r] < WORN * instance.paid[r]:
                sum_anew(instance, growth, r)
            # Densities only rise and costs only fall: what seems otherwise is a rounding error.
            growth.density[r] = max(growth.density[r], rounded(density(instance.priority[r], growth.paid[r])))
            growth.price[r] = min(growth.price[r], rounded(growth.cost[r]))
            rise(growth, r)
    return added


@compiled
def plant(instance: GrowthInstance, growth: Growth, number: int) -> float:
    """Choose the seed of that number; return what it costs, infinite where it does not fit."""
    ranks = len(instance.ranked)
    one, two = -1, -1
    if number > ranks:
        i, j = pair(number - ranks - 1)
        one, two = instance.ranked[i], instance.ranked[j]
    elif number > 0:
        one = instance.ranked[number - 1]
    used = 0.0
    for q in (one, two):
        if q >= 0 and not growth.chosen[q]:
            if used + growth.cost[q] > instance.limit:
                return np.inf
            used += take(instance, growth, q)
    return used


@compiled
def fill(instance: GrowthInstance, growth: Growth, used: float) -> float:
    """Add the densest query that fits until none does; return what the choice costs."""
    for size in range(len(instance.ranked), 0, -1):
        q = pop(growth, size)
        # What does not fit now never will: the cost of a union only rises.
        if not growth.chosen[q] and used + growth.cost[q] <= instance.limit:
            used += take(instance, growth, q)
    return used


@compiled
def grow(
    instance: GrowthInstance, first: int, last: int, best: BoolArray, best_value: float, best_cost: float
) -> tuple[float, float]:
    """Grow the seeds number first to last - 1; return value and cost of the best choice, which stands in *best*.

    Seed 0 is empty, then come single queries by rank, then pairs. Of equal choices the cheaper wins, then the earlier.
    """
    queries, elements = len(instance.priority), len(instance.weight)
    growth = Growth(
        np.empty(queries),
        np.empty(queries),
        np.empty(queries, dtype=np.int64),
        np.empty(elements, dtype=np.bool_),
        np.empty(queries, dtype=np.bool_),
        np.empty(queries),
        np.empty(queries),
        np.empty(queries, dtype=np.int64),
        np.empty(queries, dtype=np.int64),
        np.empty(queries, dtype=np.int64),
        np.zeros(queries, dtype=np.bool_),
    )
    for number in range(first, last):
        clear(instance, growth)
        used = plant(instance, growth, number)
        if used == np.inf:
            continue
        used = fill(instance, growth, used)
        value = instance.priority[growth.chosen].sum()
        equal = NOISE * (1.0 + best_value)
        if value > best_value + equal or (value >= best_value - equal and used < best_cost * (1.0 - NOISE)):
            best_value, best_cost = value, used
            best[:] = growth.chosen
    return best_value, best_cost
