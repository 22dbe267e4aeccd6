"""Ruin and recreate over a whole repair: queries move between steps, compiled, seeded, ended by rounds or the clock."""

from __future__ import annotations

from math import inf

import numpy as np

from ftplan.compiled import pays_within
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.local_search import temperature
from ftplan.planners.recovery_schedule.algorithms.horizon import ruin_and_recreate_moves as moves
from ftplan.planners.recovery_schedule.algorithms.horizon.ruin_and_recreate_moves import Instance, Solution
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import TimeIndexedKnapsack
from ftplan.planners.recovery_schedule.algorithms.random_draws import random_stream

#: Rounds in all for each query; rounds between looks at the clock.
ROUNDS_PER_QUERY = 400
MOST_ROUNDS = 1_500_000
CHUNK = 20_000
#: Steps of elements and of times that the rounds between two looks may take, about a fifth of a second.
CHUNK_WORK = 40_000_000
#: Queries that a round moves, about.
MOVED = 36
#: Temperature at the start and the end, in gains of a mean query.
HOT, COLD = 0.1, 0.0005


def insert_in_order(problem: TimeIndexedKnapsack, order: IntArray) -> IntArray:
    """Return the steps when queries in some order each go to the earliest step by which they fit, shape (Q,)."""
    solution = _empty(problem)
    work = problem.entries * problem.steps
    construct = moves.construct if pays_within(moves.construct, work, inf) else moves.construct.plain
    construct(_instance(problem), solution, order)
    return solution.step


def ruin_and_recreate(problem: TimeIndexedKnapsack, step: IntArray, budget: Budget, seed: int) -> IntArray:
    """Return steps that are at least as good as those given.

    Simulated annealing over rounds of ruin and recreate ([Schrimpf2000]); no guarantee. Same rounds and seed, same
    answer; the rounds are fixed by the number of queries and by ``budget.iterations``, one of which is a round a
    query; the clock may end them sooner.
    """
    if problem.knapsack.queries < 2 or problem.gain[0] <= 0.0:
        return step
    instance, solution = _instance(problem), _empty(problem, seed)
    _load(problem, instance, solution, step)
    rounds = min(MOST_ROUNDS, problem.knapsack.queries * budget.passes(ROUNDS_PER_QUERY))
    if not pays_within(moves.anneal, inf, budget.left_s) and budget.iterations is None:
        budget.cut = True  # compiling alone would take longer than there is time
        moves.anneal.plain(instance, solution, 0, 1.0, 1.0)  # so that it is compiled for later commands
        return step
    _anneal(problem, instance, solution, 0, 0.0, 0.0)  # compiles: not search time
    each = MOVED * (problem.entries / problem.knapsack.queries + 2 * problem.steps)
    chunk = max(20, min(CHUNK, int(CHUNK_WORK / each)))
    began, left_s, done = now(), budget.left_s, 0
    while done < rounds and not budget.over():
        many = min(chunk, rounds - done)
        _anneal(problem, instance, solution, many, done / rounds, (done + many) / rounds)
        done += many
        possible = int(done * left_s / max(now() - began, 1e-9))
        if possible < rounds:  # cool down in the time that there is; a second run may then differ
            rounds, budget.cut = max(possible, done), True
    return solution.incumbent if problem.fits(solution.incumbent) else step


def _instance(problem: TimeIndexedKnapsack) -> Instance:
    knapsack = problem.knapsack
    by_density = np.lexsort((np.arange(knapsack.queries), -knapsack.density))
    # a hair below the limit, so that rounding errors of many additions never pass it
    limit = problem.capacity + 0.5 * (problem.limit - problem.capacity)
    return Instance(
        knapsack.priority, knapsack.weight, knapsack.start, knapsack.member, *knapsack.by_element,
        problem.release, problem.gain, limit, by_density, np.argsort(by_density),
    )  # fmt: skip


def _empty(problem: TimeIndexedKnapsack, seed: int = 0) -> Solution:
    elements, steps = problem.knapsack.elements, problem.steps
    never = np.full(problem.knapsack.queries, steps, dtype=np.int64)
    return Solution(
        step=never,
        needed=np.zeros((elements, steps), dtype=np.int32),
        first=np.full(elements, steps, dtype=np.int64),
        slack=np.zeros(steps),
        incumbent=never.copy(),
        value=np.zeros(2),
        random=random_stream(seed),
    )


def _load(problem: TimeIndexedKnapsack, instance: Instance, solution: Solution, step: IntArray) -> None:
    """Start from given steps, with all sums made anew."""
    moves.load(instance, solution, step)
    solution.value[0] = problem.gained(step)
    if solution.value[0] >= solution.value[1]:
        solution.value[1] = solution.value[0]
        solution.incumbent[:] = step


def _anneal(
    problem: TimeIndexedKnapsack,
    instance: Instance,
    solution: Solution,
    rounds: int,
    begin: float,
    end: float,
) -> None:
    """Make rounds between two shares of the way; sums are made anew before them, against drift."""
    _load(problem, instance, solution, solution.step.copy())
    unit = float(problem.knapsack.priority.mean() * problem.gain[0])
    hot, cold = (temperature(unit * HOT, unit * COLD, share) for share in (begin, end))
    moves.anneal(instance, solution, rounds, hot, cold)
