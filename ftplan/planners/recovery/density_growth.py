"""The compiled part of best density: seeds that grow by the densest query that fits. Import it late: numba is slow."""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.compiled import compiled
from ftplan.planners.recovery.fitting import ROUNDING
from ftplan.planners.recovery.fractional_bound import shares
from ftplan.planners.recovery.knapsack import BoolArray, SetUnionKnapsack

#: Bits of a density and of a cost that are compared: what differs by less is a rounding error, and a tie.
BITS = 30
#: What a query lacks is summed anew below this part of its start: what was subtracted has left its errors.
WORN = 1e-4
#: Plans whose values differ by less than this share are equal.
EQUAL = 1e-12

Heap = list[tuple[float, float, int]]  # minus density, cost, query: densest first, then cheapest, then by name


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
    ranked: IntArray  # queries that cost something, densest first
    limit: float


class Plan(NamedTuple):
    """One plan as it grows: what each query still lacks. ``touched`` and ``seen`` are room to work in."""

    cost: FloatArray  # (Q,)
    paid: FloatArray  # (Q,)
    lacking: IntArray  # (Q,) bundles
    key: FloatArray  # (Q,) minus density of the one entry of the heap that is not stale
    covered: BoolArray  # (B,)
    chosen: BoolArray  # (Q,)
    touched: IntArray  # (Q,)
    seen: BoolArray  # (Q,)


def step_of(knapsack: SetUnionKnapsack) -> Step:
    """Return the arrays of a knapsack whose bundles all weigh something."""
    cost = np.bincount(knapsack.row, knapsack.weight[knapsack.member], knapsack.queries).astype(np.float64)
    paid = shares(knapsack)
    some = np.flatnonzero(np.diff(knapsack.start))
    with np.errstate(divide="ignore", over="ignore"):
        density = np.array([rounded(x) for x in knapsack.priority[some] / paid[some]], dtype=np.float64)
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
        some[np.lexsort((some, cost[some], -density))].astype(np.int64),
        knapsack.limit * (1.0 - ROUNDING),  # what fits here also fits when its cost is summed in another order
    )


@compiled
def rounded(x: float) -> float:
    """Return x with its leading bits only."""
    if x <= 0.0 or math.isinf(x):
        return x
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(math.ldexp(mantissa, BITS) + 0.5), exponent - BITS)


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
def entry(step: Step, plan: Plan, q: int) -> tuple[float, float, int]:
    """Return the entry of a query in the heap, and make older ones stale."""
    plan.key[q] = -rounded(step.priority[q] / plan.paid[q])
    return plan.key[q], rounded(plan.cost[q]), q


@compiled
def clear(step: Step, plan: Plan) -> None:
    """Empty the plan of all queries but the free ones, which always come back: they have no density."""
    plan.cost[:] = step.cost
    plan.paid[:] = step.paid
    plan.lacking[:] = step.start[1:] - step.start[:-1]
    plan.covered[:] = False
    plan.chosen[:] = plan.lacking == 0


@compiled
def cover(step: Step, plan: Plan, q: int) -> tuple[float, int]:
    """Bring back what query q lacks; return what that costs, and how many queries now lack less (``touched``)."""
    added, count = 0.0, 0
    for b in step.member[step.start[q] : step.start[q + 1]]:
        if plan.covered[b]:
            continue
        plan.covered[b] = True
        added += step.weight[b]
        for r in step.by_query[step.by_start[b] : step.by_start[b + 1]]:
            plan.paid[r] -= step.share[b]
            plan.cost[r] -= step.weight[b]
            plan.lacking[r] -= 1
            if not plan.seen[r]:
                plan.seen[r] = True
                plan.touched[count] = r
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
def take(step: Step, plan: Plan, heap: Heap, q: int) -> float:
    """Add query q and those that come back with it for free; return what that costs."""
    added: float
    added, count = cover(step, plan, q)
    plan.chosen[q] = True
    for r in plan.touched[:count]:
        plan.seen[r] = False
        if plan.lacking[r] == 0:
            plan.chosen[r] = True
        else:
            if plan.paid[r] < WORN * step.paid[r]:
                sum_anew(step, plan, r)
            heapq.heappush(heap, entry(step, plan, r))
    return added


@compiled
def plant(step: Step, plan: Plan, heap: Heap, number: int) -> float:
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
            used += take(step, plan, heap, q)
    return used


@compiled
def fill(step: Step, plan: Plan, heap: Heap, used: float) -> float:
    """Add the densest query that fits until none does; return what the plan costs."""
    while len(heap) > 0:
        key, _, q = heapq.heappop(heap)
        # What does not fit now never will: the cost of a union only rises.
        if not plan.chosen[q] and key == plan.key[q] and used + plan.cost[q] <= step.limit:
            used += take(step, plan, heap, q)
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
        np.empty(queries),
        np.empty(bundles, dtype=np.bool_),
        np.empty(queries, dtype=np.bool_),
        np.empty(queries, dtype=np.int64),
        np.zeros(queries, dtype=np.bool_),
    )
    clear(step, plan)
    heap_at_first = [entry(step, plan, q) for q in step.ranked]  # sorted, so it is a heap
    keys_at_first = plan.key.copy()
    for number in range(first, last):
        clear(step, plan)
        plan.key[:] = keys_at_first
        heap = heap_at_first.copy()
        used = plant(step, plan, heap, number)
        if used == np.inf:
            continue
        used = fill(step, plan, heap, used)
        value = step.priority[plan.chosen].sum()
        equal = EQUAL * (1.0 + best_value)
        if value > best_value + equal or (value >= best_value - equal and used < best_cost * (1.0 - EQUAL)):
            best_value, best_cost = value, used
            best[:] = plan.chosen
    return best_value, best_cost
