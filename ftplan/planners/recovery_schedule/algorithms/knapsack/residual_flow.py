"""Kernels of a maximum flow that is kept from node to node of a tree: priorities of queries pay the tolls of bundles.

A price on each core turns the weight of a bundle into a toll, which its queries share in any way: what they do not
pay with is their *profit*, and the profits of all queries are an upper bound for any way to share. The best way is a
maximum flow [Rhys1970]. A node of the tree pays some bundles, which cost no toll then, and leaves some queries out;
the flow of another node is a valid start, so that little has to be pushed anew ([Dinic1970], blocking flows).
All amounts are whole: profits are rounded up, tolls down, and no sum is too small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ftplan.compiled import in_place
from ftplan.model.topology import BoolArray, FloatArray, IntArray

Index = npt.NDArray[np.int32]


class FlowInstance(NamedTuple):
    """Q queries over B bundles, by rows and by columns; see ``SetUnionKnapsack``."""

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,)
    amount: IntArray  # (Q,) priorities in whole amounts
    start: Index  # (Q + 1,)
    member: Index  # (E,) bundle of each entry
    row: Index  # (E,) query of each entry
    by_start: Index  # (B + 1,)
    by_entry: Index  # (E,) entries of each bundle
    limit: float
    scale: float  # amounts per priority


class FlowState(NamedTuple):
    """A node and its flow. Sums: ``PRICE``, ``ROOM`` (capacity left), ``BEST`` value, ``VALUE`` and ``COST``."""

    flow: IntArray  # (E,) what a query pays of a bundle's toll
    profit: IntArray  # (Q,) what it keeps, 0 for those left out
    lack: IntArray  # (B,) what is unpaid of a bundle's toll
    toll: IntArray  # (B,) at the present price
    out: BoolArray  # (Q,)
    paid: BoolArray  # (B,)
    level: Index  # (Q + B,) steps to a bundle that lacks something, FAR for none
    current: Index  # (Q + B,) next entry to look at
    queue: Index  # (Q + B + 2,)
    sums: FloatArray  # (5,)
    counts: IntArray  # (1,) whether there is a new best choice
    best: BoolArray  # (Q,) the best choice that was met
    mark: Index  # (Q,) scratch
    rank: FloatArray  # (B,) scratch


PRICE, ROOM, BEST, VALUE, COST = 0, 1, 2, 3, 4
FAR = np.int32(2**30)
#: Sum of all amounts, and the largest toll, which no query can pay.
AMOUNTS, LARGEST_TOLL = 2.0**40, 2.0**41
#: Share by which a bound is raised against rounding errors.
RAISED = 1e-9


@in_place
def levels(instance: FlowInstance, state: FlowState) -> bool:
    """Find how far each query and bundle is from a bundle that lacks something; return whether profit can still pay."""
    queries, bundles = len(instance.priority), len(instance.weight)
    level, queue, flow = state.level, state.queue, state.flow
    tail, head, useful = 0, 0, False
    for v in range(queries + bundles):
        level[v] = FAR
    for b in range(bundles):
        if state.lack[b] > 0 and not state.paid[b]:
            level[queries + b] = 1
            queue[tail] = queries + b
            tail += 1
    while head < tail:
        v = queue[head]
        head += 1
        further = level[v] + 1
        if v >= queries:
            for k in range(instance.by_start[v - queries], instance.by_start[v - queries + 1]):
                q = instance.row[instance.by_entry[k]]
                if level[q] == FAR and not state.out[q]:
                    level[q] = further
                    queue[tail] = q
                    tail += 1
                    useful |= state.profit[q] > 0
        else:
            for e in range(instance.start[v], instance.start[v + 1]):
                w = queries + instance.member[e]
                if flow[e] > 0 and level[w] == FAR:
                    level[w] = further
                    queue[tail] = w
                    tail += 1
    return useful


@in_place
def push(instance: FlowInstance, state: FlowState, source: int) -> None:
    """Push profit of one query along one shortest path, or find that there is none left: its level is FAR then."""
    queries = len(instance.priority)
    level, current, path, flow = state.level, state.current, state.queue, state.flow
    length, q = 0, source
    while True:
        b = -1
        while current[q] < instance.start[q + 1]:
            e = current[q]
            here = instance.member[e]
            if not state.paid[here] and level[queries + here] == level[q] - 1:
                b = here
                break
            current[q] += 1
        if b < 0:  # a dead end: back over the bundle to the query before
            level[q] = FAR
            if length == 0:
                return
            length -= 2
            e = path[length]
            b = instance.member[e]
            q = instance.row[e]
            current[queries + b] += 1
        if level[queries + b] == 1 and state.lack[b] > 0:
            amount = min(state.lack[b], state.profit[source])
            for k in range(1, length, 2):
                amount = min(amount, flow[path[k]])
            for k in range(0, length, 2):
                flow[path[k]] += amount
                flow[path[k + 1]] -= amount
            flow[e] += amount
            state.lack[b] -= amount
            state.profit[source] -= amount
            return
        v = queries + b
        back = -1
        while current[v] < instance.by_start[b + 1]:
            entry = instance.by_entry[current[v]]
            other = instance.row[entry]
            if flow[entry] > 0 and level[other] == level[v] - 1:
                back = entry
                break
            current[v] += 1
        if back < 0:
            level[v] = FAR
            current[q] += 1
        else:
            path[length] = e
            path[length + 1] = back
            length += 2
            q = instance.row[back]


@in_place
def maximise(instance: FlowInstance, state: FlowState) -> None:
    """Push what profit can pay, by blocking flows; the queries of level FAR are the best closure then."""
    queries, bundles = len(instance.priority), len(instance.weight)
    for q in range(queries):
        if state.profit[q] > 0:
            for e in range(instance.start[q], instance.start[q + 1]):
                b = instance.member[e]
                if state.lack[b] > 0:
                    amount = min(state.lack[b], state.profit[q])
                    state.flow[e] += amount
                    state.lack[b] -= amount
                    state.profit[q] -= amount
    while levels(instance, state):
        for q in range(queries):
            state.current[q] = instance.start[q]
        for b in range(bundles):
            state.current[queries + b] = instance.by_start[b]
        for q in range(queries):
            while state.profit[q] > 0 and state.level[q] < FAR:
                push(instance, state, q)


@in_place
def bound_of(instance: FlowInstance, state: FlowState) -> float:
    """Return the upper bound that profits and price are for each choice of the node, whatever the flow."""
    total = np.int64(0)
    for q in range(len(instance.priority)):
        total += state.profit[q]
    bound = state.sums[PRICE] * state.sums[ROOM] + total / instance.scale
    return float(bound + RAISED * (abs(bound) + state.sums[PRICE] * instance.limit))


@in_place
def leave_out(instance: FlowInstance, state: FlowState, q: int) -> None:
    """Leave a query out: bundles get back what it paid."""
    for e in range(instance.start[q], instance.start[q + 1]):
        state.lack[instance.member[e]] += state.flow[e]
        state.flow[e] = 0
    state.profit[q] = 0
    state.out[q] = True


@in_place
def pay(instance: FlowInstance, state: FlowState, b: int) -> None:
    """Pay a bundle from the room: queries get back what they paid."""
    for k in range(instance.by_start[b], instance.by_start[b + 1]):
        e = instance.by_entry[k]
        state.profit[instance.row[e]] += state.flow[e]
        state.flow[e] = 0
    state.lack[b] = 0
    state.paid[b] = True
    state.sums[ROOM] -= instance.weight[b]


@in_place
def set_price(instance: FlowInstance, state: FlowState, price: float) -> None:
    """Change the price: where tolls fall below what is paid, queries get the rest back."""
    state.sums[PRICE] = price
    for b in range(len(instance.weight)):
        exact = min(price * instance.weight[b] * instance.scale * (1.0 - 1e-15), LARGEST_TOLL)
        toll = np.int64(exact)
        if not state.paid[b]:
            state.lack[b] += toll - state.toll[b]
            for k in range(instance.by_start[b], instance.by_start[b + 1]):
                if state.lack[b] >= 0:
                    break
                e = instance.by_entry[k]
                amount = min(state.flow[e], -state.lack[b])
                state.flow[e] -= amount
                state.lack[b] += amount
                state.profit[instance.row[e]] += amount
        state.toll[b] = toll


@in_place
def go_to(instance: FlowInstance, state: FlowState, out: BoolArray, paid: BoolArray, price: float) -> None:
    """Change to another node, and keep of the flow what is valid there."""
    room = instance.limit
    for q in range(len(instance.priority)):
        if out[q] and not state.out[q]:
            leave_out(instance, state, q)
    for b in range(len(instance.weight)):
        if state.paid[b] and not paid[b]:
            state.paid[b] = False
            state.lack[b] = state.toll[b]
        elif paid[b] and not state.paid[b]:
            pay(instance, state, b)
        if paid[b]:
            room -= instance.weight[b]
    state.sums[ROOM] = room
    for q in range(len(instance.priority)):
        if state.out[q] and not out[q]:
            state.out[q] = False
            state.profit[q] = instance.amount[q]
    set_price(instance, state, price)
