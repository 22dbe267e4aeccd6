"""Best density: every small choice grows by the query of most priority per shared core ([SuZhouTR], algorithm 3)."""

from __future__ import annotations

import math

import numpy as np

from ftplan.compiled import pays_to_compile
from ftplan.model.plan import sound_bound
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.by_objective import by_objective
from ftplan.planners.recovery_schedule.algorithms.knapsack.bounds import RAISED, fractional_bound, whole_numbers
from ftplan.planners.recovery_schedule.algorithms.knapsack.density_growth import grow, growth_instance
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, StepChoice, fitting
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Seconds of seeds between two looks at the clock.
LOOK_S = 0.05
#: Share by which the guarantee is weakened, since densities that differ by a rounding error count as equal.
NEARLY = 1e-7


def best_density(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Grow every query that fits, and every pair, by density at each step; see :func:`best_density_step`."""
    return by_objective(problem, options, Method(best_density_step))


def best_density_step(
    knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None
) -> StepChoice:
    """Choose queries by growing all seeds of up to two queries, always by the densest query that fits.

    Seeds are nothing, each query, and each pair that fits; the best of the grown choices is the answer. The density of
    a query counts the elements that it still lacks ([SuZhouTR], definition 3).

    Cost: M²/2 seeds for M queries that fit alone, each linear in the entries with a factor log M: O(M³ log M) as in
    the paper. ``budget.iterations`` is how many seeds are tried; pairs of the densest queries come before others, and
    the empty seed, a plain greedy choice, is always grown.

    Guarantee: when all seeds were grown, at least 1 - exp(-1 / d) of the optimum, d being the most queries that share
    an element (theorem 5.1, [Arulselvan2014]); for d = 1 it is 2/3 [Sahni1975]. The bound is the least of this, a
    fractional knapsack and the sum of priorities.
    """
    # Departures from the listing, which breaks its own guarantee (costs 1 and 10, priorities 2 and 10, capacity 10):
    # every single query that fits is a seed, not only the densest, since the proof needs the optimum's best two
    # queries, or its only one, as a seed; a seed's cost is that of the union; its flag starts false in each pass; ties
    # go to the cheaper query, then by name, not to the last one; a query that lacks nothing is taken for free. Queries
    # that do not fit alone share no element: no choice has them, and the guarantee is better without.
    queries, small = fitting(knapsack)
    bound = fractional_bound(knapsack)
    best, tried, seeds = _grow_seeds(small, bound, budget)
    chosen = knapsack.closure_of(queries[best])
    if tried == seeds:
        proven = knapsack.value(chosen) / _guarantee(small) * (1.0 + RAISED)
        bound = min(bound, whole_numbers(small.priority, proven))
    # A hint is only compared, not grown: the guarantee is about the seeds, and the answer is the same with it.
    chosen = knapsack.better_of(chosen, hint)
    value = knapsack.value(chosen)
    optimal = value >= bound * (1.0 - 10 * RAISED)
    note = None if optimal or tried == seeds else f"grew {tried:,} of {seeds:,} seeds: the guarantee needs all of them"
    return StepChoice(chosen, sound_bound("max", value, bound), optimal, note)


def _guarantee(knapsack: SetUnionKnapsack) -> float:
    """Return which part of the optimum growing all seeds reaches at least."""
    d = int(knapsack.sharing.max(initial=0))
    if d == 0:
        return 1.0  # all queries are free
    # Appendix D.2 ends with 1 - exp(-1 / d) <= 1/2, which is false for d = 1: there, all pairs give 2/3 [Sahni1975].
    return 2.0 / 3.0 if d == 1 else 1.0 - math.exp(-(1.0 - NEARLY) / d)


def _grow_seeds(knapsack: SetUnionKnapsack, bound: float, budget: Budget) -> tuple[BoolArray, int, int]:
    """Return the best of the grown seeds, shape (Q,), and how many of how many seeds were tried.

    Ends when the best one reaches the bound: then more seeds change nothing, and all count as tried.
    """
    best = np.zeros(knapsack.queries, dtype=np.bool_)
    if not knapsack.member.size:
        return ~best, 1, 1  # all queries are free
    instance = growth_instance(knapsack)
    ranks = len(instance.ranked)
    seeds = 1 + ranks + ranks * (ranks - 1) // 2
    end = budget.passes(seeds)
    steps = 0.1 * end * (knapsack.queries + len(knapsack.member))  # they are short
    kernel = grow if pays_to_compile(steps) else grow.plain
    value, cost = kernel(instance, 0, 1, best, -1.0, np.inf)
    tried, size = 1, 1
    while tried < end and value < bound * (1.0 - RAISED):
        if budget.over():
            return best, tried, seeds
        begun = now()
        last = min(end, tried + size)
        value, cost = kernel(instance, tried, last, best, value, cost)
        took = max(now() - begun, 1e-6)
        size = max(1, min(2 * size, int(size * min(LOOK_S, budget.left_s) / took)))
        tried = last
    return best, tried if value < bound * (1.0 - RAISED) else seeds, seeds
