"""Compiled moves of the tabu search over queries: cover counts and marginal weights, kept from move to move.

A query that is out has a *marginal weight*: the bundles that only it would bring. A query that is in has a *freed
weight*: the bundles that only it needs. Both follow from how many chosen queries need a bundle, and change only when
that number passes between 0, 1 and 2: a move near the capacity touches few of them. Weights and priorities come in as
multiples of a power of two whose sums are exact, so nothing drifts however long the search runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.compiled import compiled

Index = npt.NDArray[np.uint32]


class Rows(NamedTuple):
    """Q queries over B bundles of positive weight, by rows and by columns; see ``SetUnionKnapsack``."""

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,)
    start: Index  # (Q + 1,)
    member: Index  # (entries,)
    by_start: Index  # (B + 1,)
    by_query: Index  # (entries,)


class State(NamedTuple):
    """Where the search stands. ``order`` lists the chosen queries first; ``place`` is its inverse."""

    cover: Index  # (B,) chosen queries that need the bundle
    owner: Index  # (B,) sum of their numbers: the only one's number where there is one
    add: FloatArray  # (Q,) weight of the query's bundles that nothing covers
    free: FloatArray  # (Q,) weight that goes with a chosen query, 0 for others
    order: IntArray  # (Q,)
    place: IntArray  # (Q,)
    tabu: IntArray  # (Q,) last move at which the query must stay where it is
    best: npt.NDArray[np.bool_]  # (Q,) the elite: best choice so far
    tilt: FloatArray  # (Q,) noise of this round's densities
    sums: FloatArray  # (5,) see COST ... PRICE
    counts: IntArray  # (7,) see CHOSEN ... LEAVE
    random: npt.NDArray[np.uint64]  # (1,) xorshift


class Tuning(NamedTuple):
    """What each round draws from, and how long it lasts."""

    least_price: float  # of a unit of weight, in average values of one
    largest_price: float
    stay: int  # moves that a query stays in: this many to twice as many
    leave: int  # moves that it stays out: this many to twice as many
    depth: int  # moves without progress that end a round
    least_drop: float  # share of the elite that a round drops
    largest_drop: float
    noise: float  # of the densities that refill it


COST, VALUE, BEST, ROUND_BEST, PRICE = 0, 1, 2, 3, 4
CHOSEN, MOVE, PROGRESS, ROUND, IMPROVED, STAY, LEAVE = 0, 1, 2, 3, 4, 5, 6
BIG = 1e300


@compiled
def draw(random: npt.NDArray[np.uint64]) -> float:
    """Return a number in [0, 1) (Marsaglia's xorshift)."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return float(x >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def trade_places(state: State, query: int, position: int) -> None:
    """Put a query at a position of the order, and what stood there where it was."""
    other = state.order[position]
    old = state.place[query]
    state.order[old] = other
    state.place[other] = old
    state.order[position] = query
    state.place[query] = position


@compiled
def put(rows: Rows, state: State, query: int) -> None:
    """Choose a query. Cost: its bundles, and the queries of those that were not covered."""
    trade_places(state, query, state.counts[CHOSEN])
    state.counts[CHOSEN] += 1
    one = np.uint32(1)
    number = np.uint32(query)
    cost = 0.0
    for entry in range(rows.start[query], rows.start[query + 1]):
        bundle = rows.member[entry]
        cover = state.cover[bundle]
        if cover == 0:
            weight = rows.weight[bundle]
            cost += weight
            for other in range(rows.by_start[bundle], rows.by_start[bundle + one]):
                state.add[rows.by_query[other]] -= weight
        elif cover == 1:
            state.free[state.owner[bundle]] -= rows.weight[bundle]
        state.cover[bundle] = cover + one
        state.owner[bundle] += number
    state.free[query] = cost
    state.sums[COST] += cost
    state.sums[VALUE] += rows.priority[query]


@compiled
def take(rows: Rows, state: State, query: int) -> None:
    """Give a chosen query up. Cost as of :func:`put`."""
    state.counts[CHOSEN] -= 1
    trade_places(state, query, state.counts[CHOSEN])
    one = np.uint32(1)
    number = np.uint32(query)
    for entry in range(rows.start[query], rows.start[query + 1]):
        bundle = rows.member[entry]
        cover = state.cover[bundle]
        state.owner[bundle] -= number
        if cover == 1:
            weight = rows.weight[bundle]
            for other in range(rows.by_start[bundle], rows.by_start[bundle + one]):
                state.add[rows.by_query[other]] += weight
        elif cover == 2:
            state.free[state.owner[bundle]] += rows.weight[bundle]
        state.cover[bundle] = cover - one
    state.sums[COST] -= state.free[query]
    state.free[query] = 0.0
    state.sums[VALUE] -= rows.priority[query]


@compiled
def fill(rows: Rows, state: State, limit: float, noise: float) -> None:
    """Choose what fits by largest priority per marginal weight, times a noise of its own for each query."""
    queries = len(rows.priority)
    for query in range(queries):
        state.tilt[query] = rows.priority[query] * (1.0 + noise * draw(state.random))
    while True:
        room = limit - state.sums[COST]
        chosen, densest = -1, -1.0
        for position in range(state.counts[CHOSEN], queries):
            query = state.order[position]
            add = state.add[query]
            if add <= room:
                density = state.tilt[query] / add if add > 0.0 else BIG
                if density > densest:
                    chosen, densest = query, density
        if chosen < 0:
            return
        put(rows, state, chosen)


@compiled
def next_round(rows: Rows, state: State, limit: float, tuning: Tuning) -> None:
    """Return to the elite, drop a random share of it, fill up, and draw the price and the tenures of a round."""
    drop = tuning.least_drop + (tuning.largest_drop - tuning.least_drop) * draw(state.random)
    for query in range(len(rows.priority)):
        keep = state.best[query] and draw(state.random) >= drop
        if state.place[query] < state.counts[CHOSEN]:
            if not keep:
                take(rows, state, query)
        elif keep:
            put(rows, state, query)
    fill(rows, state, limit, tuning.noise)
    ratio = tuning.largest_price / tuning.least_price
    state.sums[PRICE] = tuning.least_price * ratio ** draw(state.random)
    state.counts[STAY] = tuning.stay + int(draw(state.random) * (tuning.stay + 1))
    state.counts[LEAVE] = tuning.leave + int(draw(state.random) * (tuning.leave + 1))
    state.counts[ROUND] += 1
    state.counts[PROGRESS] = state.counts[MOVE]
    state.sums[ROUND_BEST] = state.sums[VALUE]
    state.tabu[:] = 0


@compiled
def best_in(rows: Rows, state: State, room: float, price: float) -> int:
    """Return the query to choose next, -1 for none: the best of those that fit, else the best of all."""
    move = state.counts[MOVE]
    lacking = state.sums[BEST] - state.sums[VALUE]
    chosen, highest, fits = -1, -BIG, False
    for position in range(state.counts[CHOSEN], len(rows.priority)):
        query = state.order[position]
        add = state.add[query]
        if add <= room:
            if state.tabu[query] >= move and rows.priority[query] <= lacking:
                continue
            score = rows.priority[query] - price * add
            if score > highest or not fits:
                chosen, highest, fits = query, score, True
        elif not fits:
            score = rows.priority[query] - price * add
            if score > highest and state.tabu[query] < move:
                chosen, highest = query, score
    return chosen


@compiled
def worst_out(rows: Rows, state: State, price: float) -> int:
    """Return the chosen query to give up: of least priority beyond the price of what it frees."""
    move = state.counts[MOVE]
    chosen, highest = -1, -BIG
    for position in range(state.counts[CHOSEN]):
        query = state.order[position]
        score = price * state.free[query] - rows.priority[query]
        if score > highest and state.tabu[query] < move:
            chosen, highest = query, score
    if chosen < 0:
        chosen = state.order[int(draw(state.random) * state.counts[CHOSEN])]
    return chosen


@compiled
def step(rows: Rows, state: State, limit: float) -> None:
    """Make one move: choose a query while the capacity holds, even one too many; else give one up."""
    state.counts[MOVE] += 1
    price = state.sums[PRICE] * state.sums[VALUE] / limit
    room = limit - state.sums[COST]
    if room >= 0.0:
        query = best_in(rows, state, room, price)
        if query >= 0:
            put(rows, state, query)
            tenure = state.counts[STAY]
    else:
        query = worst_out(rows, state, price)
        take(rows, state, query)
        tenure = state.counts[LEAVE]
    if query >= 0:
        state.tabu[query] = state.counts[MOVE] + tenure + int(draw(state.random) * (tenure + 1))


@compiled
def record(state: State) -> None:
    """Remember a choice that fits if it is the best of the round, or of all."""
    value = state.sums[VALUE]
    if value <= state.sums[ROUND_BEST]:
        return
    state.sums[ROUND_BEST] = value
    state.counts[PROGRESS] = state.counts[MOVE]
    if value > state.sums[BEST]:
        state.sums[BEST] = value
        state.counts[IMPROVED] = state.counts[ROUND]
        state.best[:] = state.place < state.counts[CHOSEN]


@compiled
def search(
    rows: Rows, state: State, limit: float, tuning: Tuning, moves: int, rounds: int, patience: int, aim: float
) -> bool:
    """Search for *moves* more moves; return whether it ended: *rounds* made, *patience* lost, or *aim* reached.

    Stopping and going on gives the same as not stopping.
    """
    for _ in range(moves):
        if state.sums[BEST] >= aim:
            return True
        if state.counts[MOVE] - state.counts[PROGRESS] >= tuning.depth:
            done = state.counts[ROUND] + 1
            if done >= rounds or done - state.counts[IMPROVED] >= patience:
                return True
            next_round(rows, state, limit, tuning)
        else:
            step(rows, state, limit)
        if state.sums[COST] <= limit:
            record(state)
    return False
