"""Kernels that expand a node: choose an element, decide it both ways, find the price, and fix what follows.

A node is which queries are left out and which elements are paid; a query of which all elements are paid is in. Every
price bounds every node, so nothing here has to be exact for the bounds to hold.
"""

from __future__ import annotations

import numpy as np

from ftplan.compiled import in_place
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.recovery_schedule.algorithms.knapsack.residual_flow import (
    BEST,
    COST,
    FAR,
    PRICE,
    ROOM,
    VALUE,
    ResidualFlow,
    ResidualFlowInstance,
    bound_of,
    go_to,
    leave_out,
    maximise,
    pay,
    set_price,
)

#: Bound of a node in which nothing fits.
NOTHING_FITS = -1.0
#: Share and cores by which rounding errors may make a query seem too large.
SLACK = 1e-9


@in_place
def offer(instance: ResidualFlowInstance, state: ResidualFlow, everything: bool) -> None:
    """Sum the closure, or all queries that are left; remember it where it fits and is the best yet."""
    queries = len(instance.priority)
    value = 0.0
    for b in range(len(instance.weight)):
        state.rank[b] = 0.0
    for q in range(queries):
        if not state.out[q] and (everything or state.level[q] == FAR):
            value += instance.priority[q]
            for e in range(instance.start[q], instance.start[q + 1]):
                b = instance.member[e]
                if not state.paid[b]:
                    state.rank[b] = instance.weight[b]
    cost = 0.0
    for b in range(len(instance.weight)):
        cost += state.rank[b]
    state.sums[VALUE], state.sums[COST] = value, cost
    if cost <= state.sums[ROOM] and value > state.sums[BEST]:
        state.sums[BEST] = value
        state.counts[0] = 1
        for q in range(queries):
            state.best[q] = not state.out[q] and (everything or state.level[q] == FAR)


@in_place
def free_value(instance: ResidualFlowInstance, state: ResidualFlow) -> float:
    """Return the value of the queries of which all elements are paid."""
    value = 0.0
    for q in range(len(instance.priority)):
        lacking = state.out[q]
        for e in range(instance.start[q], instance.start[q + 1]):
            lacking |= not state.paid[instance.member[e]]
        if not lacking:
            value += instance.priority[q]
    return value


@in_place
def fix(instance: ResidualFlowInstance, state: ResidualFlow, bound: float, target: float) -> int:
    """Decide what each choice of the node with at least the *target* has; return how many were decided.

    A query that comes in despite residual capacities, or stays out despite an excess, loses that much of the bound; so
    does an element that is not paid despite the excesses of its queries.
    """
    to_lose = (bound - target) * instance.scale
    decided = 0
    for b in range(len(instance.weight)):
        excess = np.int64(0)
        for k in range(instance.by_start[b], instance.by_start[b + 1]):
            excess += state.excess[instance.row[instance.by_entry[k]]]
        state.rank[b] = 1.0 if excess > to_lose and not state.paid[b] else 0.0
    for q in range(len(instance.priority)):
        residual, weight = np.int64(0), 0.0
        for e in range(instance.start[q], instance.start[q + 1]):
            b = instance.member[e]
            if not state.paid[b]:
                residual += state.residual[b]
                weight += instance.weight[b]
        state.mark[q] = not state.out[q] and (residual > to_lose or weight > state.sums[ROOM] * (1.0 + SLACK) + SLACK)
    for q in range(len(instance.priority)):
        if state.mark[q]:
            leave_out(instance, state, q)
            decided += 1
    for b in range(len(instance.weight)):
        if state.rank[b] > 0.0:
            pay(instance, state, b)
            decided += 1
    return decided


@in_place
def settle(instance: ResidualFlowInstance, state: ResidualFlow, target: float, rounds: int) -> float:
    """Look for the best price of a node and fix what follows; return its least bound, NOTHING_FITS for nothing.

    The next price is that at which the closures on both sides of the room are worth the same.
    """
    least, best_price = np.inf, state.sums[PRICE]
    low_value, low_cost, high_value, high_cost = 0.0, 0.0, 0.0, 0.0
    fresh = True
    for number in range(rounds):
        if state.sums[ROOM] < 0.0:
            return NOTHING_FITS
        if fresh:
            offer(instance, state, True)
            high_value, high_cost = state.sums[VALUE], state.sums[COST]
            low_value, low_cost = free_value(instance, state), 0.0
            if high_cost <= state.sums[ROOM]:
                return float(min(least, high_value * (1.0 + SLACK)))
            fresh = False
        maximise(instance, state)
        bound = bound_of(instance, state)
        if bound < least:
            least, best_price = bound, state.sums[PRICE]
        if least < target:
            return least
        offer(instance, state, False)
        value, cost = state.sums[VALUE], state.sums[COST]
        if fix(instance, state, bound, target) > 0:
            fresh = True
            continue
        if cost <= state.sums[ROOM]:
            if cost >= low_cost:
                low_value, low_cost = value, cost
        elif cost <= high_cost:
            high_value, high_cost = value, cost
        if high_cost <= low_cost or number == rounds - 1:
            break
        price = (high_value - low_value) / (high_cost - low_cost)
        if abs(price - state.sums[PRICE]) <= SLACK * price:
            break
        set_price(instance, state, price)
    if state.sums[PRICE] != best_price:
        set_price(instance, state, best_price)
    return least


@in_place
def leave_out_element(instance: ResidualFlowInstance, state: ResidualFlow, b: int) -> None:
    """Leave all queries of an element out."""
    for k in range(instance.by_start[b], instance.by_start[b + 1]):
        q = instance.row[instance.by_entry[k]]
        if not state.out[q]:
            leave_out(instance, state, q)


@in_place
def branching_element(instance: ResidualFlowInstance, state: ResidualFlow) -> int:
    """Return the unpaid element of most weight times the square of the priority that needs it, -1 for none.

    To try both sides of several took longer than it gained, and their products of losses chose no better (measured).
    """
    chosen, largest = -1, 0.0
    for b in range(len(instance.weight)):
        priority = 0.0
        for k in range(instance.by_start[b], instance.by_start[b + 1]):
            q = instance.row[instance.by_entry[k]]
            if not state.out[q]:
                priority += instance.priority[q]
        if not state.paid[b] and instance.weight[b] * priority * priority > largest:
            chosen, largest = b, instance.weight[b] * priority * priority
    return chosen


@in_place
def expand(
    instance: ResidualFlowInstance,
    state: ResidualFlow,
    out: BoolArray,
    paid: BoolArray,
    price: float,
    target: float,
    rounds: int,
    outs: BoolArray,
    paids: BoolArray,
    found: FloatArray,
) -> None:
    """Decide one element of a node both ways: *outs* (2, Q), *paids* (2, B), and *found* (2, 2), bound and price.

    The state is left at the second child, where it is paid. Cost: half a dozen flows, each from a similar one.
    """
    go_to(instance, state, out, paid, price)
    maximise(instance, state)
    here = bound_of(instance, state)
    b = branching_element(instance, state)
    for side in range(2):
        found[side, 0] = NOTHING_FITS
        if b < 0:
            continue
        if side == 0:
            leave_out_element(instance, state, b)
        else:
            go_to(instance, state, out, paid, price)
            pay(instance, state, b)
        found[side, 0] = min(here, settle(instance, state, target, rounds))
        found[side, 1] = state.sums[PRICE]
        for q in range(len(state.out)):
            outs[side, q] = state.out[q]
        for k in range(len(state.paid)):
            paids[side, k] = state.paid[k]
