"""Local search for one recovery step: a tabu search that oscillates around the capacity.

The step is a set-union knapsack (Su & Zhou, definition 2). A round drops part of the elite (the best choice so far),
fills up by noisy density, and then moves one query at a time: in while the capacity holds, even one query too many,
out while it does not (strategic oscillation, after Glover & Kochenberger). A move is scored by priority less the price
of the weight that it adds or frees; a query that moved is tabu for a few moves. A
move costs one look at each query and nearly no upkeep; Wei & Hao ("Iterated two-phase local search for the set-union
knapsack problem") look at pairs of queries to swap instead.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.knapsack.instance import BoolArray, Choice, SetUnionKnapsack
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.by_objective import by_objective
from ftplan.planners.recovery.schedule.schedule import Schedule
from ftplan.planners.result import Result

if TYPE_CHECKING:
    from ftplan.planners.recovery.knapsack.tabu_moves import Rows, State, Tuning

#: The search ends when this many rounds a query have brought nothing better.
PATIENCE = 40

#: Seconds of compiled work between two looks at the clock, and its moves at the first.
LOOK_S = 0.02
FIRST_MOVES = 200

#: Share of ones in the matrix of queries and bundles from which sharing counts as dense.
DENSE = 0.05

#: Sums of weights are exact up to this many binary digits.
DIGITS = 51


@dataclass(frozen=True, eq=False)
class Core:
    """What is left to decide: queries that neither come for free nor exceed the capacity alone.

    Bundles have weight > 0, and no two stand in the same queries.
    """

    queries: IntArray  # (Q,) their numbers in the knapsack
    priority: FloatArray  # (Q,)
    weight: FloatArray  # (B,)
    row: IntArray  # (entries,) query of each entry, sorted
    member: IntArray  # (entries,) bundle of each entry


def local_search(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Search each step's choice until nothing better comes or the time is over; see :func:`local_search_step`."""
    return by_objective(problem, options, local_search_step)


def local_search_step(
    knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None
) -> Choice:
    """Return a good choice; no bound, unless everything that can fit fits together.

    Cost: a move looks once at each query and updates the queries of the bundles whose cover changes between 0, 1 and 2.
    An iteration of the budget is one round: a perturbation, and moves until some thousand bring no progress. With
    iterations given and the clock not reached, knapsack, seed, iterations and hint decide the answer. Without, the
    search ends when the clock has run out, or when many rounds in a row (in proportion to the queries) brought nothing
    better. No guarantee; never worse than the hint.
    """
    core = _core(knapsack)
    everything = np.zeros(knapsack.queries, dtype=np.bool_)
    everything[core.queries] = True
    everything = knapsack.whole(everything)
    if knapsack.fits(everything):
        return Choice(everything, bound=knapsack.value(everything), optimal=True)
    found = np.zeros(knapsack.queries, dtype=np.bool_)
    found[core.queries] = _searched(knapsack, core, budget, seed, hint)
    found = _that_fits(knapsack, found)
    if hint is not None and knapsack.value(knapsack.whole(hint)) > knapsack.value(found):
        found = knapsack.whole(hint)
    return Choice(found)


def _core(knapsack: SetUnionKnapsack) -> Core:
    """Leave out free queries and bundles and too large queries, and merge bundles of the same queries."""
    entry_weight = knapsack.weight[knapsack.member]
    cost = np.bincount(knapsack.row, weights=entry_weight, minlength=knapsack.queries)
    queries = np.flatnonzero((cost > 0.0) & (cost <= knapsack.limit))
    new_query = np.full(knapsack.queries, -1, dtype=np.int64)
    new_query[queries] = np.arange(len(queries))
    left = (new_query[knapsack.row] >= 0) & (entry_weight > 0.0)
    row, bundle = new_query[knapsack.row[left]], knapsack.member[left]
    merged, weight = _merged(row, bundle, knapsack.weight)
    member = merged[bundle]
    first = np.unique(row * max(1, len(weight)) + member)
    return Core(queries, knapsack.priority[queries], weight, first // max(1, len(weight)), first % max(1, len(weight)))


def _merged(row: IntArray, bundle: IntArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the merged bundle of each bundle, -1 where none is left, and the weights of merged bundles."""
    order = np.argsort(bundle, kind="stable")
    queries = row[order]
    start = np.concatenate(([0], np.cumsum(np.bincount(bundle, minlength=len(weight)))))
    merged = np.full(len(weight), -1, dtype=np.int64)
    seen: dict[bytes, int] = {}
    for b in np.flatnonzero(np.diff(start)):
        merged[b] = seen.setdefault(queries[start[b] : start[b + 1]].tobytes(), len(seen))
    used = merged >= 0
    summed = np.zeros(len(seen))
    np.add.at(summed, merged[used], weight[used])
    return merged, summed


def _searched(knapsack: SetUnionKnapsack, core: Core, budget: Budget, seed: int, hint: BoolArray | None) -> BoolArray:
    """Return the best choice of the core's queries that the search finds, shape (Q of the core,)."""
    from ftplan.planners.recovery.knapsack import tabu_moves as kernels

    unit = _unit(float(core.weight.sum()))
    limit = float(np.floor(knapsack.limit / unit) * unit)
    rows = _rows(core, unit)
    state = _state(rows, seed)
    tuning = _tuning(rows)
    warm = _state(rows, seed)
    kernels.search(rows, warm, limit, tuning, 0, 1, 1, np.inf)  # compiles
    kernels.fill(rows, state, limit, 0.0)
    kernels.record(state)
    if hint is not None:
        _adopt(rows, state, limit, hint[core.queries])
    _run(rows, state, limit, tuning, budget)
    return state.best


def _run(rows: Rows, state: State, limit: float, tuning: Tuning, budget: Budget) -> None:
    """Search until the rounds, the patience or the clock have run out."""
    from ftplan.planners.recovery.knapsack import tabu_moves as kernels

    rounds = np.iinfo(np.int64).max if budget.iterations is None else budget.iterations
    patience = PATIENCE * len(rows.priority)
    moves = FIRST_MOVES
    while True:
        before = time.perf_counter()
        if kernels.search(rows, state, limit, tuning, moves, rounds, patience, np.inf) or budget.over():
            return
        moves = max(1, int(moves * min(2.0, LOOK_S / max(time.perf_counter() - before, 1e-9))))


def _adopt(rows: Rows, state: State, limit: float, hint: BoolArray) -> None:
    """Begin with the hint where it is better than the greedy choice."""
    from ftplan.planners.recovery.knapsack import tabu_moves as kernels

    for query in np.flatnonzero(state.best & ~hint):
        kernels.take(rows, state, int(query))
    for query in np.flatnonzero(hint & ~state.best):
        kernels.put(rows, state, int(query))
    if state.sums[kernels.COST] <= limit:
        kernels.record(state)


def _unit(total: float) -> float:
    """Return the power of two whose multiples up to *total* can be added without rounding."""
    return float(2.0 ** (np.ceil(np.log2(total)) - DIGITS))


def _rows(core: Core, unit: float) -> Rows:
    """Return the core by rows and columns, weights and priorities rounded so that their sums are exact."""
    from ftplan.planners.recovery.knapsack.tabu_moves import Rows

    value_unit = _unit(float(core.priority.sum()))
    by_column = np.argsort(core.member, kind="stable")
    return Rows(
        priority=np.round(core.priority / value_unit) * value_unit,
        weight=np.round(core.weight / unit) * unit,
        start=_starts(core.row, len(core.priority)),
        member=core.member.astype(np.uint32),
        by_start=_starts(core.member, len(core.weight)),
        by_query=core.row[by_column].astype(np.uint32),
    )


def _starts(index: IntArray, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Return where each of *size* groups starts in a list that is sorted by group, shape (size + 1,)."""
    return np.concatenate(([0], np.cumsum(np.bincount(index, minlength=size)))).astype(np.uint32)


def _state(rows: Rows, seed: int) -> State:
    """Return the empty choice."""
    from ftplan.planners.recovery.knapsack.tabu_moves import State

    queries, bundles = len(rows.priority), len(rows.weight)
    add = np.zeros(queries)
    np.add.at(add, np.repeat(np.arange(queries), np.diff(rows.start)), rows.weight[rows.member])
    return State(
        cover=np.zeros(bundles, dtype=np.uint32),
        owner=np.zeros(bundles, dtype=np.uint32),
        add=add,
        free=np.zeros(queries),
        order=np.arange(queries),
        place=np.arange(queries),
        tabu=np.zeros(queries, dtype=np.int64),
        best=np.zeros(queries, dtype=np.bool_),
        tilt=np.zeros(queries),
        sums=np.array([0.0, 0.0, 0.0, 0.0, 2.0]),
        counts=np.array([0, 0, 0, 0, 0, 4, 8], dtype=np.int64),
        random=np.random.SeedSequence(seed).generate_state(1, dtype=np.uint64) | np.uint64(1),
    )


def _tuning(rows: Rows) -> Tuning:
    """Return the parameters: weight is dear where queries share much (measured: density 0.10), cheap where little."""
    from ftplan.planners.recovery.knapsack.tabu_moves import Tuning

    dense = len(rows.member) >= DENSE * len(rows.priority) * len(rows.weight)
    return Tuning(
        least_price=1.2 if dense else 0.25,
        largest_price=6.0 if dense else 1.5,
        stay=4,
        leave=8,
        depth=1000,
        least_drop=0.3,
        largest_drop=1.0,
        noise=0.2,
    )


def _that_fits(knapsack: SetUnionKnapsack, chosen: BoolArray) -> BoolArray:
    """Return the choice with its free queries; should rounding let it exceed the limit, less the cheapest queries."""
    chosen = chosen.copy()
    while not knapsack.fits(chosen):
        inside = np.flatnonzero(chosen)
        chosen[inside[np.argmin(knapsack.priority[inside])]] = False
    return knapsack.whole(chosen)
