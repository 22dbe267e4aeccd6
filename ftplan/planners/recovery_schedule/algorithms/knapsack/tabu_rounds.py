"""Rounds of the tabu search: a start from the best choices of earlier rounds, and moves until none brings progress.

The best choices of rounds that differ enough from each other are kept, a small *elite*. A round starts from one of
them, or between two ([Glover1996], path relinking), of which it drops a part and fills up by noisy density: a search
that only ever returns to its incumbent stays where coverage overlaps most.
"""

from __future__ import annotations

from typing import NamedTuple

from ftplan.compiled import in_place
from ftplan.planners.recovery_schedule.algorithms.knapsack.tabu_moves import (
    BEST,
    CHOSEN,
    COST,
    IMPROVED,
    LEAVE,
    MOVE,
    PRICE,
    PROGRESS,
    ROUND,
    ROUND_BEST,
    SIZE,
    STAY,
    VALUE,
    TabuInstance,
    TabuState,
    fill,
    put,
    step,
    take,
)
from ftplan.planners.recovery_schedule.algorithms.random_draws import draw


class TabuSettings(NamedTuple):
    """What each round draws from, how long it lasts, and how many there are."""

    least_price: float  # of a unit of weight, in average values of one
    largest_price: float
    stay: int  # moves that a query stays in: this many to twice as many
    leave: int  # moves that it stays out: this many to twice as many
    depth: int  # moves without progress that end a round
    least_drop: float  # share of the start that a round drops
    largest_drop: float
    noise: float  # of the densities that refill it
    between: float  # share of rounds that start between two choices
    alike: float  # share of queries in common from which two choices count as one
    rounds: int
    patience: int  # rounds without a better incumbent that end the search


@in_place
def record(state: TabuState) -> None:
    """Remember a choice that fits if it is the best of the round, or of all."""
    value = state.sums[VALUE]
    if value <= state.sums[ROUND_BEST]:
        return
    state.sums[ROUND_BEST] = value
    state.counts[PROGRESS] = state.counts[MOVE]
    state.counts[SIZE] = state.counts[CHOSEN]
    for position in range(state.counts[CHOSEN]):
        state.round_best[position] = state.order[position]
    if value > state.sums[BEST]:
        state.sums[BEST] = value
        state.counts[IMPROVED] = state.counts[ROUND]
        for query in range(len(state.best)):
            state.best[query] = state.place[query] < state.counts[CHOSEN]


@in_place
def keep_round(state: TabuState, settings: TabuSettings) -> None:
    """Put the best choice of the round into the elite: for one much like it if it is better, else for the worst."""
    value, size = state.sums[ROUND_BEST], state.counts[SIZE]
    worst, near, most = 0, -1, -1.0
    for e in range(len(state.elite_value)):
        if state.elite_value[e] < state.elite_value[worst]:
            worst = e
        common = 0
        for position in range(size):
            common += state.elite[e, state.round_best[position]]
        share = 2.0 * common / max(1, size + state.elite_size[e])
        if state.elite_value[e] > 0.0 and share > most:
            near, most = e, share
    at = near if most >= settings.alike else worst
    if size == 0 or value <= state.elite_value[at]:
        return
    for query in range(len(state.best)):
        state.elite[at, query] = False
    for position in range(size):
        state.elite[at, state.round_best[position]] = True
    state.elite_value[at] = value
    state.elite_size[at] = size


@in_place
def one_of(state: TabuState, other: int) -> int:
    """Return a choice of the elite by chance, not the *other*, -1 if there is none."""
    there = 0
    for e in range(len(state.elite_value)):
        there += state.elite_value[e] > 0.0 and e != other
    left = int(draw(state.random) * there)
    for e in range(len(state.elite_value)):
        if state.elite_value[e] > 0.0 and e != other:
            if left == 0:
                return e
            left -= 1
    return -1


@in_place
def restart(instance: TabuInstance, state: TabuState, settings: TabuSettings) -> None:
    """Go to one choice of the elite, or between two, drop a random share of it, and fill up."""
    first, second = one_of(state, -1), -1
    if draw(state.random) < settings.between:
        second = one_of(state, first)
    drop = settings.least_drop + (settings.largest_drop - settings.least_drop) * draw(state.random)
    if second >= 0:
        drop *= draw(state.random)
    way = draw(state.random)
    for query in range(len(instance.priority)):
        keep = first >= 0 and state.elite[first, query]
        if second >= 0 and keep != state.elite[second, query]:
            keep = draw(state.random) < (way if keep else 1.0 - way)
        keep = keep and draw(state.random) >= drop
        if state.place[query] < state.counts[CHOSEN]:
            if not keep:
                take(instance, state, query)
        elif keep:
            put(instance, state, query)
    while state.counts[COST] > instance.limit:
        take(instance, state, state.order[int(draw(state.random) * state.counts[CHOSEN])])
    fill(instance, state, settings.noise)


@in_place
def next_round(instance: TabuInstance, state: TabuState, settings: TabuSettings) -> None:
    """Keep what the round found, restart, and draw the price and the tenures of a round."""
    keep_round(state, settings)
    restart(instance, state, settings)
    ratio = settings.largest_price / settings.least_price
    state.sums[PRICE] = settings.least_price * ratio ** draw(state.random)
    state.counts[STAY] = settings.stay + int(draw(state.random) * (settings.stay + 1))
    state.counts[LEAVE] = settings.leave + int(draw(state.random) * (settings.leave + 1))
    state.counts[ROUND] += 1
    state.counts[MOVE] = state.counts[PROGRESS] = state.counts[SIZE] = 0
    state.sums[ROUND_BEST] = 0.0
    for query in range(len(state.until)):
        state.until[query] = 0


@in_place
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
        if state.counts[COST] <= instance.limit:
            record(state)
    return False
