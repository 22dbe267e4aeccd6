"""Kernels of the tabu search over queries: cover counts and marginal weights, kept from move to move.

A query that is out has a *marginal weight*: the bundles that only it would bring. A query that is in has a *freed
weight*: the bundles that only it needs. Both follow from how many chosen queries need a bundle, and change only when
that number passes between 0, 1 and 2: a move near the capacity touches few of them. Weights and priorities come in as
multiples of a power of two whose sums are exact, so nothing drifts however long the search runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ftplan.compiled import compiled
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery.profit_density import density

Index = npt.NDArray[np.uint32]


class TabuInstance(NamedTuple):
    """Q queries over B bundles of positive weight, by rows and by columns; see ``SetUnionKnapsack``."""

    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,)
    start: Index  # (Q + 1,)
    member: Index  # (entries,)
    by_start: Index  # (B + 1,)
    by_query: Index  # (entries,)
    limit: float


class TabuState(NamedTuple):
    """Where the search stands. ``order`` lists the chosen queries first; ``place`` is its inverse."""

    cover: Index  # (B,) chosen queries that need the bundle
    owner: Index  # (B,) sum of their numbers: the only one's number where there is one
    marginal: FloatArray  # (Q,) weight of the query's bundles that nothing covers
    freed: FloatArray  # (Q,) weight that goes with a chosen query, 0 for others
    order: IntArray  # (Q,)
    place: IntArray  # (Q,)
    tabu: IntArray  # (Q,) last move at which the query must stay where it is
    best: npt.NDArray[np.bool_]  # (Q,) the incumbent
    tilt: FloatArray  # (Q,) priorities with the noise of this round
    sums: FloatArray  # (5,) see COST ... PRICE
    counts: IntArray  # (7,) see CHOSEN ... LEAVE
    random: npt.NDArray[np.uint64]  # (1,) xorshift


class TabuSettings(NamedTuple):
    """What each round draws from, how long it lasts, and how many there are."""

    least_price: float  # of a unit of weight, in average values of one
    largest_price: float
    stay: int  # moves that a query stays in: this many to twice as many
    leave: int  # moves that it stays out: this many to twice as many
    depth: int  # moves without progress that end a round
    least_drop: float  # share of the incumbent that a round drops
    largest_drop: float
    noise: float  # of the densities that refill it
    rounds: int
    patience: int  # rounds without a better incumbent that end the search


COST, VALUE, BEST, ROUND_BEST, PRICE = 0, 1, 2, 3, 4
CHOSEN, MOVE, PROGRESS, ROUND, IMPROVED, STAY, LEAVE = 0, 1, 2, 3, 4, 5, 6
BIG = 1e300


@compiled
def draw(random: npt.NDArray[np.uint64]) -> float:
    """Return a number in [0, 1) by xorshift [Marsaglia2003]."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return float(x >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def trade_places(state: TabuState, query: int, position: int) -> None:
    """Put a query at a position of the order, and what stood there where it was."""
    other = state.order[position]
    old = state.place[query]
    state.order[old] = other
    state.place[other] = old
    state.order[position] = query
    state.place[query] = position


@compiled
def put(instance: TabuInstance, state: TabuState, query: int) -> None:
    """Choose a query. Cost: its bundles, and the queries of those that were not covered."""
    trade_places(state, query, state.counts[CHOSEN])
    state.counts[CHOSEN] += 1
    one = np.uint32(1)
    number = np.uint32(query)
    cost = 0.0
    for entry in range(instance.start[query], instance.start[query + 1]):
        bundle = instance.member[entry]
        cover = state.cover[bundle]
        if cover == 0:
            weight = instance.weight[bundle]
            cost += weight
            for other in range(instance.by_start[bundle], instance.by_start[bundle + one]):
                state.marginal[instance.by_query[other]] -= weight
        elif cover == 1:
            state.freed[state.owner[bundle]] -= instance.weight[bundle]
        state.cover[bundle] = cover + one
        state.owner[bundle] += number
    state.freed[query] = cost
    state.sums[COST] += cost
    state.sums[VALUE] += instance.priority[query]


@compiled
def take(instance: TabuInstance, state: TabuState, query: int) -> None:
    """Give a chosen query up. Cost as of :func:`put`."""
    state.counts[CHOSEN] -= 1
    trade_places(state, query, state.counts[CHOSEN])
    one = np.uint32(1)
    number = np.uint32(query)
    for entry in range(instance.start[query], instance.start[query + 1]):
        bundle = instance.member[entry]
        cover = state.cover[bundle]
        state.owner[bundle] -= number
        if cover == 1:
            weight = instance.weight[bundle]
            for other in range(instance.by_start[bundle], instance.by_start[bundle + one]):
                state.marginal[instance.by_query[other]] += weight
        elif cover == 2:
            state.freed[state.owner[bundle]] += instance.weight[bundle]
        state.cover[bundle] = cover - one
    state.sums[COST] -= state.freed[query]
    state.freed[query] = 0.0
    state.sums[VALUE] -= instance.priority[query]


@compiled
def fill(instance: TabuInstance, state: TabuState, noise: float) -> None:
    """Choose what fits by largest priority per marginal weight, times a noise of its own for each query."""
    queries = len(instance.priority)
    for query in range(queries):
        state.tilt[query] = instance.priority[query] * (1.0 + noise * draw(state.random))
    while True:
        residual = instance.limit - state.sums[COST]
        chosen, densest = -1, -1.0
        for position in range(state.counts[CHOSEN], queries):
            query = state.order[position]
            marginal = state.marginal[query]
            if marginal <= residual:
                dense = density(state.tilt[query], marginal)
                if dense > densest:
                    chosen, densest = query, dense
        if chosen < 0:
            return
        put(instance, state, chosen)


@compiled
def next_round(instance: TabuInstance, state: TabuState, settings: TabuSettings) -> None:
    """Return to the incumbent, drop a random share of it, fill up, and draw the price and the tenures of a round."""
    drop = settings.least_drop + (settings.largest_drop - settings.least_drop) * draw(state.random)
    for query in range(len(instance.priority)):
        keep = state.best[query] and draw(state.random) >= drop
        if state.place[query] < state.counts[CHOSEN]:
            if not keep:
                take(instance, state, query)
        elif keep:
            put(instance, state, query)
    fill(instance, state, settings.noise)
    ratio = settings.largest_price / settings.least_price
    state.sums[PRICE] = settings.least_price * ratio ** draw(state.random)
    state.counts[STAY] = settings.stay + int(draw(state.random) * (settings.stay + 1))
    state.counts[LEAVE] = settings.leave + int(draw(state.random) * (settings.leave + 1))
    state.counts[ROUND] += 1
    state.counts[PROGRESS] = state.counts[MOVE]
    state.sums[ROUND_BEST] = state.sums[VALUE]
    state.tabu[:] = 0


@compiled
def best_in(instance: TabuInstance, state: TabuState, residual: float, price: float) -> int:
    """Return the query to choose next, -1 for none: the best of those that fit, else the best of all."""
    move = state.counts[MOVE]
    lacking = state.sums[BEST] - state.sums[VALUE]
    chosen, highest, fits = -1, -BIG, False
    for position in range(state.counts[CHOSEN], len(instance.priority)):
        query = state.order[position]
        marginal = state.marginal[query]
        if marginal <= residual:
            if state.tabu[query] >= move and instance.priority[query] <= lacking:
                continue
            score = instance.priority[query] - price * marginal
            if score > highest or not fits:
                chosen, highest, fits = query, score, True
        elif not fits:
            score = instance.priority[query] - price * marginal
            if score > highest and state.tabu[query] < move:
                chosen, highest = query, score
    return chosen


@compiled
def worst_out(instance: TabuInstance, state: TabuState, price: float) -> int:
    """Return the chosen query to give up: of least priority beyond the price of what it frees."""
    move = state.counts[MOVE]
    chosen, highest = -1, -BIG
    for position in range(state.counts[CHOSEN]):
        query = state.order[position]
        score = price * state.freed[query] - instance.priority[query]
        if score > highest and state.tabu[query] < move:
            chosen, highest = query, score
    if chosen < 0:
        chosen = state.order[int(draw(state.random) * state.counts[CHOSEN])]
    return chosen


@compiled
def step(instance: TabuInstance, state: TabuState) -> None:
    """Make one move: choose a query while the capacity holds, even one too many; else give one up."""
    state.counts[MOVE] += 1
    price = state.sums[PRICE] * state.sums[VALUE] / instance.limit
    residual = instance.limit - state.sums[COST]
    if residual >= 0.0:
        query = best_in(instance, state, residual, price)
        if query >= 0:
            put(instance, state, query)
            tenure = state.counts[STAY]
    else:
        query = worst_out(instance, state, price)
        take(instance, state, query)
        tenure = state.counts[LEAVE]
    if query >= 0:
        state.tabu[query] = state.counts[MOVE] + tenure + int(draw(state.random) * (tenure + 1))


@compiled
def record(state: TabuState) -> None:
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
def search(instance: TabuInstance, state: TabuState, settings: TabuSettings, moves: int) -> bool:
    """Search for *moves* more moves; return whether it ended: all rounds made, or patience lost.

    Stopping and going on gives the same as not stopping.
    """
    for _ in range(moves):
        if state.counts[MOVE] - state.counts[PROGRESS] >= settings.depth:
            done = state.counts[ROUND] + 1
            if done >= settings.rounds or done - state.counts[IMPROVED] >= settings.patience:
                return True
            next_round(instance, state, settings)
        else:
            step(instance, state)
        if state.sums[COST] <= instance.limit:
            record(state)
    return False
