"""Kernels of a maximum flow that is kept from node to node of a tree: priorities of queries pay for elements.

A price on each core turns the weight of an element into a capacity, the most that its queries pay for it in any shares:
what they do not pay with is their *excess*, and the excesses of all queries are an upper bound for any shares. The best
shares are a maximum flow [Rhys1970]. A node of the tree pays some elements, which cost nothing more then, and leaves
some queries out; the flow of another node is a valid start, so that little has to be pushed anew ([Dinic1970], blocking
flows). All amounts are whole: priorities are rounded up, capacities down, and no sum is too small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ftplan.compiled import in_place
from ftplan.model.topology import BoolArray, FloatArray, IntArray

Index = npt.NDArray[np.int32]


class ResidualFlowInstance(NamedTuple):
    """Q queries over B elements, by rows and by columns; see ``SetUnionKnapsack``."""

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,)
    amount: IntArray  # (Q,) priorities in whole amounts
    start: Index  # (Q + 1,)
    member: Index  # (E,) element of each entry
    row: Index  # (E,) query of each entry
    by_start: Index  # (B + 1,)
    by_entry: Index  # (E,) entries of each element
    limit: float
    scale: float  # amounts per priority


class ResidualFlow(NamedTuple):
    """A node and its flow. Sums: ``PRICE``, ``ROOM`` (capacity left), ``BEST`` value, ``VALUE`` and ``COST``."""

    flow: IntArray  # (E,) what a query pays of an element's capacity
    excess: IntArray  # (Q,) what it keeps, 0 for those left out
    residual: IntArray  # (B,) residual capacity: what is unpaid of an element
    capacity: IntArray  # (B,) at the present price
    out: BoolArray  # (Q,)
    paid: BoolArray  # (B,)
    level: Index  # (Q + B,) steps to an element with residual capacity, FAR for none
    current: Index  # (Q + B,) next entry to look at
    queue: Index  # (Q + B + 2,)
    sums: FloatArray  # (5,)
    counts: IntArray  # (1,) whether there is a new best choice
    best: BoolArray  # (Q,) the best choice that was met
    mark: Index  # (Q,) scratch
    rank: FloatArray  # (B,) scratch


PRICE, ROOM, BEST, VALUE, COST = 0, 1, 2, 3, 4
FAR = np.int32(2**30)
#: Sum of all amounts, and the largest capacity, which no query can pay.
AMOUNTS, LARGEST_CAPACITY = 2.0**40, 2.0**41
#: Share by which a bound is raised against rounding errors.
RAISED = 1e-9


@in_place
def levels(instance: ResidualFlowInstance, state: ResidualFlow) -> bool:
    """Find how far each query and element is from an unpaid element; return whether excess can still pay."""
    queries, elements = len(instance.priority), len(instance.weight)
    level, queue, flow = state.level, state.queue, state.flow
    tail, head, useful = 0, 0, False
    for v in range(queries + elements):
        level[v] = FAR
    for b in range(elements):
        if state.residual[b] > 0 and not state.paid[b]:
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
                    useful |= state.excess[q] > 0
        else:
            for e in range(instance.start[v], instance.start[v + 1]):
                w = queries + instance.member[e]
                if flow[e] > 0 and level[w] == FAR:
                    level[w] = further
                    queue[tail] = w
                    tail += 1
    return useful


@in_place
def push(instance: ResidualFlowInstance, state: ResidualFlow, source: int) -> None:
    """Push excess of one query along one shortest path, or find that there is none left: its level is FAR then."""
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
        if b < 0:  # a dead end: back over the element to the query before
            level[q] = FAR
            if length == 0:
                return
            length -= 2
            e = path[length]
            b = instance.member[e]
            q = instance.row[e]
            current[queries + b] += 1
        if level[queries + b] == 1 and state.residual[b] > 0:
            amount = min(state.residual[b], state.excess[source])
            for k in range(1, length, 2):
                amount = min(amount, flow[path[k]])
            for k in range(0, length, 2):
                flow[path[k]] += amount
                flow[path[k + 1]] -= amount
            flow[e] += amount
            state.residual[b] -= amount
            state.excess[source] -= amount
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
def maximise(instance: ResidualFlowInstance, state: ResidualFlow) -> None:
    """Push what excess can pay, by blocking flows; the queries of level FAR are the best closure then."""
    queries, elements = len(instance.priority), len(instance.weight)
    for q in range(queries):
        if state.excess[q] > 0:
            for e in range(instance.start[q], instance.start[q + 1]):
                b = instance.member[e]
                if state.residual[b] > 0:
                    amount = min(state.residual[b], state.excess[q])
                    state.flow[e] += amount
                    state.residual[b] -= amount
                    state.excess[q] -= amount
    while levels(instance, state):
        for q in range(queries):
            state.current[q] = instance.start[q]
        for b in range(elements):
            state.current[queries + b] = instance.by_start[b]
        for q in range(queries):
            while state.excess[q] > 0 and state.level[q] < FAR:
                push(instance, state, q)


@in_place
def bound_of(instance: ResidualFlowInstance, state: ResidualFlow) -> float:
    """Return the upper bound that excesses and price are for each choice of the node, whatever the flow."""
    total = np.int64(0)
    for q in range(len(instance.priority)):
        total += state.excess[q]
    bound = state.sums[PRICE] * state.sums[ROOM] + total / instance.scale
    return float(bound + RAISED * (abs(bound) + state.sums[PRICE] * instance.limit))


@in_place
def leave_out(instance: ResidualFlowInstance, state: ResidualFlow, q: int) -> None:
    """Leave a query out: elements get back what it paid."""
    for e in range(instance.start[q], instance.start[q + 1]):
        state.residual[instance.member[e]] += state.flow[e]
        state.flow[e] = 0
    state.excess[q] = 0
    state.out[q] = True


@in_place
def pay(instance: ResidualFlowInstance, state: ResidualFlow, b: int) -> None:
    """Pay an element from the room: queries get back what they paid."""
    for k in range(instance.by_start[b], instance.by_start[b + 1]):
        e = instance.by_entry[k]
        state.excess[instance.row[e]] += state.flow[e]
        state.flow[e] = 0
    state.residual[b] = 0
    state.paid[b] = True
    state.sums[ROOM] -= instance.weight[b]


@in_place
def set_price(instance: ResidualFlowInstance, state: ResidualFlow, price: float) -> None:
    """Change the price: where capacities fall below what is paid, queries get the rest back."""
    state.sums[PRICE] = price
    for b in range(len(instance.weight)):
        exact = min(price * instance.weight[b] * instance.scale * (1.0 - 1e-15), LARGEST_CAPACITY)
        capacity = np.int64(exact)
        if not state.paid[b]:
            state.residual[b] += capacity - state.capacity[b]
            for k in range(instance.by_start[b], instance.by_start[b + 1]):
                if state.residual[b] >= 0:
                    break
                e = instance.by_entry[k]
                amount = min(state.flow[e], -state.residual[b])
                state.flow[e] -= amount
                state.residual[b] += amount
                state.excess[instance.row[e]] += amount
        state.capacity[b] = capacity


@in_place
def go_to(instance: ResidualFlowInstance, state: ResidualFlow, out: BoolArray, paid: BoolArray, price: float) -> None:
    """Change to another node, and keep of the flow what is valid there."""
    room = instance.limit
    for q in range(len(instance.priority)):
        if out[q] and not state.out[q]:
            leave_out(instance, state, q)
    for b in range(len(instance.weight)):
        if state.paid[b] and not paid[b]:
            state.paid[b] = False
            state.residual[b] = state.capacity[b]
        elif paid[b] and not state.paid[b]:
            pay(instance, state, b)
        if paid[b]:
            room -= instance.weight[b]
    state.sums[ROOM] = room
    for q in range(len(instance.priority)):
        if state.out[q] and not out[q]:
            state.out[q] = False
            state.excess[q] = instance.amount[q]
    set_price(instance, state, price)
