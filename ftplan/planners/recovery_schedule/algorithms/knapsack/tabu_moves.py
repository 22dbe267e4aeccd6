"""Kernels of the tabu search over queries: cover counts and marginal weights, kept from move to move.

A query that is out has a *marginal weight*: the elements that only it would bring. A query that is in has a *freed
weight*: the elements that only it needs. Both follow from how many chosen queries need an element, and change only when
that number passes between 0, 1 and 2: a move near the capacity touches few of them. Weights come in as whole numbers,
priorities as multiples of a power of two whose sums are exact, so nothing drifts however long the search runs.

Most of a move is one look at each query that is out. Its scores are whole numbers: compilers then look at many
queries at once, and rounding, which is the same in both ways to run, only breaks near ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ftplan.compiled import in_place
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.random_draws import draw

Index = npt.NDArray[np.uint32]
Whole = npt.NDArray[np.int32]
Single = npt.NDArray[np.float32]


class TabuInstance(NamedTuple):
    """Q queries over B elements of positive weight, by rows and by columns; see ``SetUnionKnapsack``."""

    priority: FloatArray  # (Q,)
    scaled: Single  # (Q,) the same in scores: the largest is GAIN
    scale: float  # scores per priority
    weight: Whole  # (B,) their sum is at most 2 ** 30
    start: Index  # (Q + 1,)
    member: Index  # (entries,)
    by_start: Index  # (B + 1,)
    by_query: Index  # (entries,)
    limit: int


class TabuState(NamedTuple):
    """Where the search stands. ``order`` lists the chosen queries first; ``place`` is its inverse."""

    cover: Index  # (B,) chosen queries that need the element
    owner: Index  # (B,) sum of their numbers: the only one's number where there is one
    marginal: Whole  # (Q,) weight of the query's elements that nothing else covers: to pay if out, to free if in
    gain: Single  # (Q,) priority in scores, CHOSEN_GAIN for chosen queries
    until: Whole  # (Q,) last move of the round at which the query must stay where it is
    order: Whole  # (Q,)
    place: Whole  # (Q,)
    best: npt.NDArray[np.bool_]  # (Q,) the incumbent
    round_best: Whole  # (Q,) the best choice of the round: so many queries as SIZE says
    elite: npt.NDArray[np.bool_]  # (E, Q) the best choices of rounds
    elite_value: FloatArray  # (E,) 0 for none
    elite_size: IntArray  # (E,)
    tilt: Single  # (Q,) priorities with the noise of this round
    score: Whole  # (Q,) of the last look
    dense: Single  # (Q,) densities of the last look
    dense_bits: Whole  # (Q,) the same memory: positive numbers stand in the order of their bits
    sums: FloatArray  # (4,) see VALUE ... PRICE
    counts: IntArray  # (9,) see COST ... SIZE
    random: IntArray  # (1,) the state of the random numbers


VALUE, BEST, ROUND_BEST, PRICE = 0, 1, 2, 3
COST, CHOSEN, MOVE, PROGRESS, ROUND, IMPROVED, STAY, LEAVE, SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8
#: Scores: the largest priority, what stands for no priority, the worst that is told apart, what fits, what may not.
GAIN = 2.0**20
CHOSEN_GAIN = np.float32(-1.0)
WORST = np.float32(-(2.0**28))
FITS, NEVER, NONE = np.int32(2**30), np.int32(-(2**30)), np.int32(2**31 - 1)
#: Weight that a query of none counts with in a density.
LEAST_WEIGHT = np.float32(1e-3)


@in_place
def trade_places(order: Whole, place: Whole, query: int, position: int) -> None:
    """Put a query at a position of the order, and what stood there where it was."""
    other = order[position]
    old = place[query]
    order[old] = other
    place[other] = old
    order[position] = query
    place[query] = position


@in_place
def put(instance: TabuInstance, state: TabuState, query: int) -> None:
    """Choose a query. Cost: its elements, and the queries of those that were not covered."""
    trade_places(state.order, state.place, query, state.counts[CHOSEN])
    state.counts[CHOSEN] += 1
    cover, owner, marginal, weight = state.cover, state.owner, state.marginal, instance.weight
    one = np.uint32(1)
    number = np.uint32(query)
    cost = marginal[query]
    for entry in range(instance.start[query], instance.start[query + 1]):
        element = instance.member[entry]
        covered = cover[element]
        if covered == 0:
            paid = weight[element]
            for other in range(instance.by_start[element], instance.by_start[element + one]):
                marginal[instance.by_query[other]] -= paid
        elif covered == 1:
            marginal[owner[element]] -= weight[element]
        cover[element] = covered + one
        owner[element] += number
    marginal[query] = cost
    state.gain[query] = CHOSEN_GAIN
    state.counts[COST] += cost
    state.sums[VALUE] += instance.priority[query]


@in_place
def take(instance: TabuInstance, state: TabuState, query: int) -> None:
    """Give a chosen query up. Cost as of :func:`put`."""
    state.counts[CHOSEN] -= 1
    trade_places(state.order, state.place, query, state.counts[CHOSEN])
    cover, owner, marginal, weight = state.cover, state.owner, state.marginal, instance.weight
    one = np.uint32(1)
    number = np.uint32(query)
    cost = marginal[query]
    for entry in range(instance.start[query], instance.start[query + 1]):
        element = instance.member[entry]
        covered = cover[element]
        owner[element] -= number
        if covered == 1:
            freed = weight[element]
            for other in range(instance.by_start[element], instance.by_start[element + one]):
                marginal[instance.by_query[other]] += freed
        elif covered == 2:
            marginal[owner[element]] += weight[element]
        cover[element] = covered - one
    marginal[query] = cost
    state.gain[query] = instance.scaled[query]
    state.counts[COST] -= cost
    state.sums[VALUE] -= instance.priority[query]


@in_place
def first_with(scores: Whole, score: int) -> np.int32:
    """Return the first query of this score, NONE if there is none."""
    first = NONE
    for query in range(np.int64(len(scores))):
        at = np.int32(query) if scores[query] == score else NONE
        first = min(first, at)
    return first


@in_place
def best_in(
    gain: Single, marginal: Whole, until: Whole, score: Whole, move: int, residual: int, lacking: float, price: float
) -> np.int32:
    """Return the query to choose next, -1 for none: the best of those that fit, else the best of all.

    A tabu query may be chosen where it fits and makes a new incumbent: its gain exceeds what is *lacking*.
    """
    highest = NEVER
    for query in range(np.int64(len(gain))):
        beyond = gain[query] - price * np.float32(marginal[query])
        beyond = beyond if beyond > WORST else WORST
        free = until[query] <= move
        here = np.int32(beyond) if free else NEVER
        fitting = np.int32(beyond) + FITS if free | (gain[query] > lacking) else NEVER
        here = fitting if marginal[query] <= residual else here
        here = here if gain[query] > CHOSEN_GAIN else NEVER
        score[query] = here
        highest = max(highest, here)
    return np.int32(-1) if highest == NEVER else first_with(score, highest)


@in_place
def worst_out(instance: TabuInstance, state: TabuState, price: float) -> np.int32:
    """Return the chosen query to give up: of least priority beyond the price of what it frees."""
    move = state.counts[MOVE]
    chosen, highest = np.int32(-1), np.float32(2.0) * WORST
    for position in range(state.counts[CHOSEN]):
        query = state.order[position]
        score = price * np.float32(state.marginal[query]) - instance.scaled[query]
        if score > highest and state.until[query] <= move:
            chosen, highest = query, score
    if chosen < 0:
        chosen = state.order[int(draw(state.random) * state.counts[CHOSEN])]
    return chosen


@in_place
def densest(tilt: Single, gain: Single, marginal: Whole, residual: int, dense: Single, bits: Whole) -> np.int32:
    """Return the query that fits with most tilted priority per marginal weight, -1 for none; fills *dense* (*bits*)."""
    for query in range(np.int64(len(gain))):
        ratio = tilt[query] / (np.float32(marginal[query]) + LEAST_WEIGHT)
        dense[query] = ratio if (marginal[query] <= residual) & (gain[query] > CHOSEN_GAIN) else np.float32(0.0)
    highest = np.int32(0)
    for query in range(np.int64(len(gain))):
        highest = max(highest, bits[query])
    return np.int32(-1) if highest == 0 else first_with(bits, highest)


@in_place
def fill(instance: TabuInstance, state: TabuState, noise: float) -> None:
    """Choose what fits by largest priority per marginal weight, times a noise of its own for each query."""
    for query in range(len(instance.priority)):
        state.tilt[query] = instance.scaled[query] * np.float32(1.0 + noise * draw(state.random))
    while True:
        residual = np.int32(instance.limit - state.counts[COST])
        query = densest(state.tilt, state.gain, state.marginal, residual, state.dense, state.dense_bits)
        if query < 0:
            return
        put(instance, state, query)


@in_place
def step(instance: TabuInstance, state: TabuState) -> None:
    """Make one move: choose a query while the capacity holds, even one too many; else give one up."""
    state.counts[MOVE] += 1
    price = np.float32(state.sums[PRICE] * state.sums[VALUE] * instance.scale / instance.limit)
    residual = instance.limit - state.counts[COST]
    tenure = state.counts[STAY]
    if residual >= 0:
        move = np.int32(state.counts[MOVE])
        lacking = np.float32((state.sums[BEST] - state.sums[VALUE]) * instance.scale)
        query = best_in(state.gain, state.marginal, state.until, state.score, move, np.int32(residual), lacking, price)
        if query >= 0:
            put(instance, state, query)
    else:
        query = worst_out(instance, state, price)
        take(instance, state, query)
        tenure = state.counts[LEAVE]
    if query >= 0:
        state.until[query] = state.counts[MOVE] + 1 + tenure + int(draw(state.random) * (tenure + 1))
