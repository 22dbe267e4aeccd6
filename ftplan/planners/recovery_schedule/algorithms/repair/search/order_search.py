"""Search over the order of queries, their nodes and their restores, by ruin and recreate with the real replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ftplan.compiled import pays_within
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.local_search import temperature
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.aggregated import aggregated_order
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement, value
from ftplan.planners.recovery_schedule.algorithms.repair.search import order_annealing, query_moves
from ftplan.planners.recovery_schedule.algorithms.repair.search import placement_rows as row
from ftplan.planners.recovery_schedule.algorithms.repair.search.list_schedule import by_density, weighted
from ftplan.planners.recovery_schedule.algorithms.repair.search.order_annealing import BUFFER, RoundQueries
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_arrays import (
    RepairArrays,
    arrays_of,
    best_of,
    empty,
)

#: Rounds for each query and pass; passes in all where nothing else limits them.
ROUNDS_PER_PASS, PASSES = 20, 127
MOST_ROUNDS = 3_000_000
#: Queries up to which it ends when so many cycles in a row brought nothing, after so many rounds.
FEW, IDLE, SOON = 24, 2, 2_000
#: Elementary steps of a round where hardly anything failed.
ROUND_WORK = 100
#: Rounds between looks at the clock, at most; elementary steps that they may take: few, as they may not be compiled.
CHUNK, CHUNK_WORK = 200, 2_000_000
#: Temperature at the start and the end, in losses of a mean query.
HOT, COLD = 0.03, 0.0003
#: Queries from which on an order in sums is tried first, for a share of the time or so many passes.
MANY, AGGREGATED, AGGREGATED_PASSES = 100, 0.4, 20


def search_orders(instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int) -> RepairPlacement:
    """Return a placement that loses no more than *start*.

    Simulated annealing over rounds of ruin and recreate ([Schrimpf2000]) in cycles, each as long as all before it
    together; no guarantee. ``budget.iterations`` bounds the passes over the queries; more passes go on where fewer
    end, so that they never lose more. The clock may end a cycle early, which then cools down sooner. Few queries end
    where cycles bring nothing; many start from their order in sums where that is better than *start*.
    """
    if len(instance.host) == 0 or value(instance, start) <= 0.0:
        return start
    repair = arrays_of(instance)
    cycle = ROUNDS_PER_PASS * repair.of_query.shape[1]
    total = min(MOST_ROUNDS, cycle * budget.passes(PASSES))
    few = repair.of_query.shape[1] <= FEW
    steps = min(total, SOON) * ROUND_WORK if few else total * ROUND_WORK
    with_it = (query_moves.load, query_moves.construct)
    compiled = pays_within(order_annealing.anneal, steps, budget.left_s, *with_it)
    search = _OrderSearch(repair, seed, value(instance, start), plain=not compiled)
    search.load(start)
    if repair.of_query.shape[1] >= MANY and total > 0:
        passes = None if budget.iterations is None else AGGREGATED_PASSES  # the same however many follow
        part = replace(budget.part(AGGREGATED), iterations=passes)
        search.try_order(aggregated_order(instance, part, seed))
        budget.cut |= part.cut
    done = idle = 0
    while done < total and not budget.over() and not (few and idle >= IDLE and done >= SOON):
        least = search.least
        search.cycle(cycle, min(cycle, total - done), budget)
        idle = 0 if search.least < least else idle + 1
        done += cycle
        cycle *= 2
    best = best_of(repair, search.placed)
    return best if value(instance, best) < value(instance, start) else start


class _OrderSearch:
    """A placement under search."""

    def __init__(self, repair: RepairArrays, seed: int, loss: float, plain: bool) -> None:
        queries = repair.of_query.shape[1]
        self.repair, self.placed = repair, empty(repair, seed)
        self._load: Callable[..., None] = query_moves.load.plain if plain else query_moves.load
        self._construct: Callable[..., None] = query_moves.construct.plain if plain else query_moves.construct
        self._anneal: Callable[..., None] = order_annealing.anneal.plain if plain else order_annealing.anneal
        work = weighted(repair, 1.0, 1.0)
        order = by_density(repair, work / np.maximum(np.diff(repair.by_start), 1))
        self._moved = RoundQueries(
            np.zeros(BUFFER, np.int64), np.full(queries, -1, np.int64), np.zeros(BUFFER), order, np.argsort(order)
        )
        self._unit = loss / queries
        self._chunk = max(20, min(CHUNK, CHUNK_WORK // _round_steps(repair)))

    @property
    def least(self) -> float:
        """What the best placement so far loses."""
        return float(self.placed.loss[1])

    def load(self, start: RepairPlacement) -> None:
        """Start from a placement."""
        tasks = len(start.host)
        key = np.empty(tasks)
        there = np.where(start.host >= 0, self.repair.there[start.host], np.inf)
        step = there if start.step_s is None else start.step_s
        queued = start.order[np.argsort(step[start.order], kind="stable")]  # as they are restored
        key[queued] = -np.arange(tasks, dtype=np.float64)
        step = there if self.repair.prefetch else step
        self._load(self.repair, self.placed, start.host, key, step)
        order_annealing.keep_best.plain(self.placed)

    def try_order(self, order: IntArray) -> None:
        """Construct placements from an order of queries, for the next cycle to start from if one is best."""
        for way in (row.LATEST, row.TIGHTEST, row.SOONEST):
            self._construct(self.repair, self.placed, order, way)
            order_annealing.keep_best.plain(self.placed)

    def cycle(self, rounds: int, many: int, budget: Budget) -> None:
        """Make the first *many* of the rounds of a cycle, from the best placement so far on."""
        done, began, left_s, planned = 0, now(), budget.left_s, rounds
        self._restart()
        while done < many and not budget.over():
            some = min(self._chunk, many - done)
            hot, cold = (temperature(self._unit * HOT, self._unit * COLD, at / planned) for at in (done, done + some))
            self._anneal(self.repair, self.placed, self._moved, some, hot, cold)
            done += some
            possible = int(done * left_s / max(now() - began, 1e-9))
            if possible < min(planned, many):  # cool down in the time that there is; a second run may then differ
                planned, budget.cut = max(possible, done), True

    def _restart(self) -> None:
        placed = self.placed
        host, real = placed.task_int[row.BEST_HOST].copy(), placed.task_real
        self._load(self.repair, placed, host, real[row.BEST_KEY].copy(), real[row.BEST_STEP].copy())


def _round_steps(repair: RepairArrays) -> int:
    """Return about how many elementary steps a round takes."""
    queries, tasks, hosts = repair.of_query.shape[1], repair.of_task.shape[1], len(repair.there)
    needed = float(np.diff(repair.task_start)[repair.member].sum()) / queries
    queue = tasks if repair.of_task[row.RESTORE].any() else 0
    return int(BUFFER * (1.0 + needed * (hosts + queue)))
