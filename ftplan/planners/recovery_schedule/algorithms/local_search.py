"""Local search for one recovery step: a tabu search that oscillates around the capacity.

A round drops part of one of the best choices so far, or of a mixture of two, fills up by noisy density, and then moves
one query at a time: in while the capacity holds, even one query too many, out while it does not (strategic
oscillation, after [Glover1996]). A move is scored by priority less the price of the weight that it adds or frees; a
query that moved is tabu for a few moves. A move costs one look at each query and nearly no upkeep; [Wei2019] look at
pairs of queries to swap instead.
"""

from __future__ import annotations

import time

import numpy as np

from ftplan.compiled import pays_within
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.by_objective import by_objective
from ftplan.planners.recovery_schedule.algorithms.knapsack import tabu_moves as moves
from ftplan.planners.recovery_schedule.algorithms.knapsack import tabu_rounds as rounds
from ftplan.planners.recovery_schedule.algorithms.knapsack.completion import trim
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import (
    SetUnionKnapsack,
    StepChoice,
    common_unit,
    residual,
)
from ftplan.planners.recovery_schedule.algorithms.knapsack.reduction import join_elements
from ftplan.planners.recovery_schedule.algorithms.knapsack.tabu_moves import TabuInstance, TabuState
from ftplan.planners.recovery_schedule.algorithms.knapsack.tabu_rounds import TabuSettings
from ftplan.planners.recovery_schedule.algorithms.random_draws import random_stream
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: The search ends when this many rounds a query have brought nothing better.
PATIENCE = 40
#: Seconds of compiled work between two looks at the clock, and its moves at the first.
LOOK_S = 0.02
FIRST_MOVES = 200
#: Share of ones in the matrix of queries and elements from which sharing counts as dense.
DENSE = 0.05
#: Sums of priorities are exact up to this many binary digits, and those of weights.
DIGITS, WEIGHT_DIGITS = 51, 30
#: Price of a unit of weight in the first round, in average values of one.
FIRST_PRICE = 2.0
#: Best choices of rounds that are kept to start from.
ELITE = 8


def local_search(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Search each step's choice until nothing better comes or the time is over; see :func:`local_search_step`."""
    return by_objective(problem, options, Method(local_search_step, search=True))


def local_search_step(
    knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None
) -> StepChoice:
    """Return a good choice; no bound, unless everything that can fit fits together.

    Cost: a move looks once at each query and updates the queries of elements whose cover changes between 0, 1 and 2.
    An iteration of the budget is one round: a perturbation, and moves until some thousand bring no progress. With
    iterations given and the clock not reached, knapsack, seed, iterations and hint decide the answer. Without, the
    search ends when the clock has run out, or when many rounds in a row (in proportion to the queries) brought nothing
    better. No guarantee; never worse than the hint.
    """
    queries, core = _core(knapsack)
    everything = knapsack.closure_of(queries)
    if knapsack.fits(everything):
        return StepChoice(everything, bound=knapsack.value(everything), optimal=True)
    best = _tabu_search(core, budget, seed, None if hint is None else hint[queries])
    chosen = knapsack.whole(trim(knapsack, knapsack.closure_of(queries[best]), budget))  # the search rounded its sums
    return StepChoice(knapsack.better_of(chosen, hint))


def _core(knapsack: SetUnionKnapsack) -> tuple[IntArray, SetUnionKnapsack]:
    """Return the queries that are neither free nor too large alone, and their knapsack, equal elements joined."""
    cost = np.bincount(knapsack.row, knapsack.weight[knapsack.member], knapsack.queries)
    open_ = (cost > 0.0) & (cost <= knapsack.limit)
    return np.flatnonzero(open_), join_elements(residual(knapsack, open_, knapsack.weight, knapsack.capacity)[0])


def _tabu_search(core: SetUnionKnapsack, budget: Budget, seed: int, hint: BoolArray | None) -> BoolArray:
    """Return the incumbent when the rounds, the patience or the clock have run out, shape (Q of the core,)."""
    instance, settings = tabu_instance(core), tabu_settings(core, budget)
    state = nothing_chosen(instance, seed)
    steps = float(settings.depth) * core.queries * min(settings.rounds, settings.patience)
    fast = pays_within(rounds.search, steps, budget.left_s, moves.fill)
    search = rounds.search if fast else rounds.search.plain
    search(instance, nothing_chosen(instance, seed), settings, 0)  # compiles
    (moves.fill if fast else moves.fill.plain)(instance, state, 0.0)
    rounds.record.plain(state)
    if hint is not None:
        _adopt(instance, state, hint)
    count = FIRST_MOVES
    while True:
        before = time.perf_counter()
        if search(instance, state, settings, count) or budget.over():
            return state.best
        count = max(1, int(count * min(2.0, LOOK_S / max(time.perf_counter() - before, 1e-9))))


def _adopt(instance: TabuInstance, state: TabuState, hint: BoolArray) -> None:
    """Begin with the hint where it is better than the greedy choice."""
    for query in np.flatnonzero(state.best & ~hint):
        moves.take.plain(instance, state, int(query))
    for query in np.flatnonzero(hint & ~state.best):
        moves.put.plain(instance, state, int(query))
    if state.counts[moves.COST] <= instance.limit:
        rounds.record.plain(state)


def _unit(total: float, digits: int) -> float:
    """Return the power of two whose multiples up to *total* can be added without rounding."""
    return float(2.0 ** (np.ceil(np.log2(total)) - digits))


def tabu_instance(core: SetUnionKnapsack) -> TabuInstance:
    """Return the core as plain arrays, weights and priorities rounded so that their sums are exact."""
    value_unit = _unit(float(core.priority.sum()), DIGITS)
    priority = np.round(core.priority / value_unit) * value_unit
    scale = moves.GAIN / float(priority.max())
    total = float(core.weight.sum())
    weight_unit = common_unit(core.weight)
    if total > 2.0**WEIGHT_DIGITS * weight_unit:  # too fine, or none
        weight_unit = _unit(total, WEIGHT_DIGITS)
    by_start, by_query = core.by_element
    return TabuInstance(
        priority=priority,
        scaled=(priority * scale).astype(np.float32),
        scale=scale,
        weight=np.round(core.weight / weight_unit).astype(np.int32),
        start=core.start.astype(np.uint32),
        member=core.member.astype(np.uint32),
        by_start=by_start.astype(np.uint32),
        by_query=by_query.astype(np.uint32),
        limit=int(np.floor(core.limit / weight_unit * (1.0 + ROUNDING))),
    )


def nothing_chosen(instance: TabuInstance, seed: int) -> TabuState:
    """Return the state in which no query is chosen."""
    queries, elements = len(instance.priority), len(instance.weight)
    row = np.repeat(np.arange(queries), np.diff(instance.start))
    dense = np.zeros(queries, dtype=np.float32)
    return TabuState(
        cover=np.zeros(elements, dtype=np.uint32),
        owner=np.zeros(elements, dtype=np.uint32),
        marginal=np.bincount(row, instance.weight[instance.member], queries).astype(np.int32),
        gain=instance.scaled.copy(),
        until=np.zeros(queries, dtype=np.int32),
        order=np.arange(queries, dtype=np.int32),
        place=np.arange(queries, dtype=np.int32),
        best=np.zeros(queries, dtype=np.bool_),
        round_best=np.zeros(queries, dtype=np.int32),
        elite=np.zeros((ELITE, queries), dtype=np.bool_),
        elite_value=np.zeros(ELITE),
        elite_size=np.zeros(ELITE, dtype=np.int64),
        tilt=np.zeros(queries, dtype=np.float32),
        score=np.zeros(queries, dtype=np.int32),
        dense=dense,
        dense_bits=dense.view(np.int32),
        sums=np.array([0.0, 0.0, 0.0, FIRST_PRICE]),
        counts=np.array([0, 0, 0, 0, 0, 0, 4, 8, 0], dtype=np.int64),
        random=random_stream(seed),
    )


def tabu_settings(core: SetUnionKnapsack, budget: Budget) -> TabuSettings:
    """Return the settings: weight is dear where queries share much (measured: density 0.10), cheap where little.

    Where they share much, good choices have little in common: rounds last long and start nearly anew. Where they share
    little, rounds are many and mend what is there.
    """
    dense = len(core.member) >= DENSE * core.queries * core.elements
    return TabuSettings(
        least_price=3.0 if dense else 0.25,
        largest_price=12.0 if dense else 1.5,
        stay=3 if dense else 4,
        leave=8,
        depth=6000 if dense else 1000,
        least_drop=0.6 if dense else 0.3,
        largest_drop=1.0,
        noise=0.2,
        between=0.2,
        alike=0.9,
        rounds=np.iinfo(np.int64).max if budget.iterations is None else budget.iterations,
        patience=PATIENCE * core.queries,
    )
