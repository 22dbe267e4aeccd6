"""Local search over a whole repair: queries move between steps, compiled, seeded, bounded by rounds or the clock."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.compiled import SMALL_WORK
from ftplan.planners.recovery.horizon.time_indexed import NestedKnapsack

#: Rounds in all for each query; rounds between looks at the clock.
ROUNDS_PER_QUERY = 400
MOST_ROUNDS = 1_500_000
CHUNK = 20_000
#: Steps of bundles and of times that the rounds between two looks may take, about a fifth of a second.
CHUNK_WORK = 40_000_000
#: Queries that a round moves, about.
MOVED = 36
#: Temperature at the start and the end, in gains of a mean query.
HOT, COLD = 0.1, 0.0005


def in_order(problem: NestedKnapsack, order: IntArray) -> IntArray:
    """Return the steps when queries in some order each go to the earliest step by which they fit, shape (Q,)."""
    return _Search(problem).placed(order)


def densities(problem: NestedKnapsack) -> FloatArray:
    """Return priority over the shared cost of each query, shape (Q,), infinite where that is 0."""
    share = problem.weight / np.maximum(problem.one_step.sharing, 1)
    paid = np.bincount(problem.one_step.row, share[problem.member], minlength=problem.queries)
    density: FloatArray = np.full(problem.queries, np.inf)
    np.divide(problem.priority, paid, out=density, where=paid > 0.0)
    return density


def improved(problem: NestedKnapsack, step: IntArray, budget: Budget, seed: int) -> IntArray:
    """Return steps that are at least as good as those given.

    Simulated annealing over rounds of ruin and recreate (:mod:`nested_moves`). Same rounds and seed, same answer; the
    rounds are fixed by the number of queries and by ``budget.iterations``, one of which is a round a query; the clock
    may end them sooner.
    """
    if problem.queries < 2 or problem.gain[0] <= 0.0:
        return step
    search = _Search(problem)
    search.load(step)
    rounds = min(MOST_ROUNDS, problem.queries * budget.passes(ROUNDS_PER_QUERY))
    search.run(0, seed, 0.0, 0.0)  # compiles: not search time
    each = MOVED * (len(problem.member) / problem.queries + 2 * problem.steps)
    chunk = max(20, min(CHUNK, int(CHUNK_WORK / each)))
    began, left_s, done = now(), budget.left_s, 0
    while done < rounds and not budget.over():
        many = min(chunk, rounds - done)
        search.run(many, seed + done, done / rounds, (done + many) / rounds)
        done += many
        possible = int(done * left_s / max(now() - began, 1e-9))
        if possible < rounds:  # cool down in the time that there is; a second run may then differ
            rounds, budget.cut = max(possible, done), True
    return search.best_step if problem.fits(search.best_step) else step


class _Search:
    """The arrays that the compiled moves work on."""

    def __init__(self, problem: NestedKnapsack) -> None:
        bundles, steps = len(problem.weight), problem.steps
        self.problem = problem
        density = densities(problem)
        self.by_density = np.lexsort((np.arange(problem.queries), -density))
        self.place = np.argsort(self.by_density)
        self.fixed = (problem.start, problem.member, problem.weight)
        # a hair below the limit, so that rounding errors of many additions never pass it
        self.limit = problem.capacity + 0.5 * (problem.limit - problem.capacity)
        self.count = np.zeros((bundles, steps), dtype=np.int32)
        self.first = np.full(bundles, steps, dtype=np.int64)
        self.slack = self.limit.copy()
        self.step = np.full(problem.queries, steps, dtype=np.int64)
        self.best_step = self.step.copy()
        self.value = self.best = 0.0

    def placed(self, order: IntArray) -> IntArray:
        """Return the steps by :func:`in_order`."""
        from ftplan.planners.recovery.horizon import ruin_and_recreate_moves as nested_moves

        small = len(self.problem.member) * self.problem.steps <= SMALL_WORK
        build = nested_moves.build.plain if small else nested_moves.build
        build(order, self.problem.release, *self.fixed, self.limit, self.count, self.first, self.slack, self.step)
        return self.step.copy()

    def load(self, step: IntArray) -> None:
        """Start from given steps."""
        from ftplan.planners.recovery.horizon.ruin_and_recreate_moves import load

        load(step, *self.fixed, self.limit, self.count, self.first, self.slack, self.step)
        self.value = self.problem.gained(step)
        if self.value >= self.best:
            self.best, self.best_step = self.value, step.copy()

    def run(self, rounds: int, seed: int, begin: float, end: float) -> None:
        """Run rounds between two shares of the way; sums are made anew before them, against drift."""
        from ftplan.planners.recovery.horizon.ruin_and_recreate_moves import anneal

        problem = self.problem
        self.load(self.step.copy())
        unit = float(problem.priority.mean() * problem.gain[0])
        hot, cold = (unit * HOT * (COLD / HOT) ** share for share in (begin, end))
        start, member, weight = self.fixed
        of_start, of_query = problem.one_step.by_bundle
        self.value, self.best = anneal(
            rounds, seed % 2**32, hot, cold, problem.priority, weight, start, member, of_start, of_query,
            problem.release, problem.gain, self.by_density, self.place, self.count, self.first, self.slack,
            self.step, self.best_step, self.value, self.best,
        )  # fmt: skip
