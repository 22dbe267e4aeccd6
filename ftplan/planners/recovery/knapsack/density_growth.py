"""The compiled part of best density: seeds that grow by the densest query that fits. Import it late: numba is slow."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.compiled import compiled, inlined
from ftplan.planners.recovery.knapsack.fractional_bound import shares
from ftplan.planners.recovery.knapsack.instance import BoolArray, SetUnionKnapsack
from ftplan.planners.recovery.knapsack.residual import ROUNDING

#: Multiplier that leaves the 30 leading bits of a density or cost (Veltkamp): what differs by less is a rounding error.
SPLIT = 2.0**23 + 1.0
#: What a query lacks is summed anew below this part of its start: what was subtracted has left its errors.
WORN = 1e-4
#: Plans whose values differ by less than this share are equal.
EQUAL = 1e-12


class Step(NamedTuple):
    """A knapsack whose bundles all weigh something, as plain arrays: Q queries, B bundles."""

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,)
    share: FloatArray  # (B,) weight / sharing
    start: IntArray  # (Q + 1,)
    member: IntArray
    by_start: IntArray  # (B + 1,)
    by_query: IntArray
    cost: FloatArray  # (Q,) summed weight
    paid: FloatArray  # (Q,) summed share
    density: FloatArray  # (Q,) priority / paid, rounded
    price: FloatArray  # (Q,) cost, rounded
    ranked: IntArray  # queries that cost something, densest first
    limit: float


class Plan(NamedTuple):
    """One plan as it grows: what each query still lacks, and a heap of the queries that may come next.

    ``touched`` and ``seen`` are room to work in.
    """

    cost: FloatArray  # (Q,)
    paid: FloatArray  # (Q,)
    lacking: IntArray  # (Q,) bundles
    covered: BoolArray  # (B,)
    chosen: BoolArray  # (Q,)
    density: FloatArray  # (Q,) rounded
    price: FloatArray  # (Q,) rounded cost
    heap: IntArray  # (Q,) queries
    place: IntArray  # (Q,) of each query in the heap, -1 outside
    touched: IntArray  # (Q,)
    seen: BoolArray  # (Q,)


def step_of(knapsack: SetUnionKnapsack) -> Step:
    """Return the arrays of a knapsack whose bundles all weigh something."""
    cost = np.bincount(knapsack.row, knapsack.weight[knapsack.member], knapsack.queries).astype(np.float64)
    paid = shares(knapsack)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exact = knapsack.priority / paid
    density, price = _rounded(exact), _rounded(cost)
    some = np.flatnonzero(np.diff(knapsack.start))
    by_start, by_query = knapsack.by_bundle
    return Step(
        knapsack.priority.astype(np.float64),
        knapsack.weight.astype(np.float64),
        knapsack.weight / np.maximum(knapsack.sharing, 1),
        knapsack.start.astype(np.int64),
        knapsack.member.astype(np.int64),
        by_start.astype(np.int64),
        by_query.astype(np.int64),
        cost,
        paid,
        density,
        price,
        some[np.lexsort((some, price[some], -density[some]))].astype(np.int64),
        knapsack.limit * (1.0 - ROUNDING),  # what fits here also fits when its cost is summed in another order
    )


def _rounded(x: FloatArray) -> FloatArray:
    """Return what :func:`rounded` makes of each number."""
    with np.errstate(over="ignore", invalid="ignore"):
        split = x * SPLIT
        return np.where(split < np.inf, split - (split - x), x)


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
def rise(heap: IntArray, place: IntArray, density: FloatArray, price: FloatArray, q: int) -> None:
    """Move a query that comes sooner than it did up the heap."""
    i = place[q]
    while i > 0:
        up = heap[(i - 1) // 2]
        if not sooner(density[q], price[q], q, density[up], price[up], up):
            break
        heap[i], place[up] = up, i
        i = (i - 1) // 2
    heap[i], place[q] = q, i


@inlined
def pop(heap: IntArray, place: IntArray, density: FloatArray, price: FloatArray, size: int) -> int:
    """Return the first query of the heap, which then has one less than *size*."""
    first, q = heap[0], heap[size - 1]
    i, j = 0, 1
    while j < size - 1:
        down = heap[j]
        if j + 1 < size - 1:
            other = heap[j + 1]
            if sooner(density[other], price[other], other, density[down], price[down], down):
                down, j = other, j + 1
        if not sooner(density[down], price[down], down, density[q], price[q], q):
            break
        heap[i], place[down] = down, i
        i, j = j, 2 * j + 1
    heap[i], place[q] = q, i
    place[first] = -1
    return int(first)


@compiled
def clear(step: Step, plan: Plan) -> None:
    """Empty the plan of all queries but the free ones, which always come back: they have no density."""
    plan.cost[:] = step.cost
    plan.paid[:] = step.paid
    plan.lacking[:] = step.start[1:] - step.start[:-1]
    plan.covered[:] = False
    plan.chosen[:] = plan.lacking == 0
    plan.density[:] = step.density
    plan.price[:] = step.price
    for i, q in enumerate(step.ranked):  # sorted, so it is a heap
        plan.heap[i], plan.place[q] = q, i


@inlined
def cover(step: Step, plan: Plan, q: int) -> tuple[float, int]:
    """Bring back what query q lacks; return what that costs, and how many queries now lack less (``touched``)."""
    # Plain indices: each slice of an array costs a count of references.
    member, by_query, covered, seen, touched = step.member, step.by_query, plan.covered, plan.seen, plan.touched
    paid, cost, lacking = plan.paid, plan.cost, plan.lacking
    added, count = 0.0, 0
    for e in range(step.start[q], step.start[q + 1]):
        b = member[e]
        if covered[b]:
            continue
        covered[b] = True
        weight, share = step.weight[b], step.share[b]
        added += weight
        for t in range(step.by_start[b], step.by_start[b + 1]):
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
def sum_anew(step: Step, plan: Plan, q: int) -> None:
    """Sum what a query lacks."""
    plan.paid[q], plan.cost[q] = 0.0, 0.0
    for b in step.member[step.start[q] : step.start[q + 1]]:
        if not plan.covered[b]:
            plan.paid[q] += step.share[b]
            plan.cost[q] += step.weight[b]


@compiled
def take(step: Step, plan: Plan, q: int) -> float:
    """Add query q and those that come back with it for free; return what that costs."""
    added: float
    added, count = cover(step, plan, q)
    plan.chosen[q] = True
    for r in plan.touched[:count]:
        plan.seen[r] = False
        if plan.lacking[r] == 0:
            plan.chosen[r] = True
        elif plan.place[r] >= 0:
            if plan.paid[r] < WORN * step.paid[r]:
                sum_anew(step, plan, r)
            # Densities only rise and costs only fall: what seems otherwise is a rounding error.
            plan.density[r] = max(plan.density[r], rounded(step.priority[r] / plan.paid[r]))
            plan.price[r] = min(plan.price[r], rounded(plan.cost[r]))
            rise(plan.heap, plan.place, plan.density, plan.price, r)
    return added


@compiled
def plant(step: Step, plan: Plan, number: int) -> float:
    """Make the plan the seed of that number; return what it costs, infinite where it does not fit."""
    ranks = len(step.ranked)
    one, two = -1, -1
    if number > ranks:
        i, j = pair(number - ranks - 1)
        one, two = step.ranked[i], step.ranked[j]
    elif number > 0:
        one = step.ranked[number - 1]
    used = 0.0
    for q in (one, two):
        if q >= 0 and not plan.chosen[q]:
            if used + plan.cost[q] > step.limit:
                return np.inf
            used += take(step, plan, q)
    return used


@compiled
def fill(step: Step, plan: Plan, used: float) -> float:
    """Add the densest query that fits until none does; return what the plan costs."""
    for size in range(len(step.ranked), 0, -1):
        q = pop(plan.heap, plan.place, plan.density, plan.price, size)
        # What does not fit now never will: the cost of a union only rises.
        if not plan.chosen[q] and used + plan.cost[q] <= step.limit:
            used += take(step, plan, q)
    return used


@compiled
def grow(
    step: Step, first: int, last: int, best: BoolArray, best_value: float, best_cost: float
) -> tuple[float, float]:
    """Grow the seeds number first to last - 1; return value and cost of the best plan, which stands in *best*.

    Seed 0 is empty, then come single queries by rank, then pairs. Of equal plans the cheaper wins, then the earlier.
    """
    queries, bundles = len(step.priority), len(step.weight)
    plan = Plan(
        np.empty(queries),
        np.empty(queries),
        np.empty(queries, dtype=np.int64),
        np.empty(bundles, dtype=np.bool_),
        np.empty(queries, dtype=np.bool_),
        np.empty(queries),
        np.empty(queries),
        np.empty(queries, dtype=np.int64),
        np.empty(queries, dtype=np.int64),
        np.empty(queries, dtype=np.int64),
        np.zeros(queries, dtype=np.bool_),
    )
    for number in range(first, last):
        clear(step, plan)
        used = plant(step, plan, number)
        if used == np.inf:
            continue
        used = fill(step, plan, used)
        value = step.priority[plan.chosen].sum()
        equal = EQUAL * (1.0 + best_value)
        if value > best_value + equal or (value >= best_value - equal and used < best_cost * (1.0 - EQUAL)):
            best_value, best_cost = value, used
            best[:] = plan.chosen
    return best_value, best_cost
