"""Few rounds, quickly."""

from __future__ import annotations

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed import AllowedSets
from ftplan.planners.drain_schedule.algorithms.bounds import LeastRounds, least_rounds
from ftplan.planners.drain_schedule.algorithms.first_fit import by_saturation, one_by_one, zone_by_zone
from ftplan.planners.drain_schedule.algorithms.improvement import fewer, reordered, shorter, total_s
from ftplan.planners.drain_schedule.algorithms.options import DrainOptions
from ftplan.planners.drain_schedule.algorithms.outcome import begin, outcome
from ftplan.planners.drain_schedule.problem import Drain, DrainProblem
from ftplan.planners.result import Result

#: Orders from which first fit begins, beside those of saturation and of zones.
STARTS = 3


def greedy(problem: DrainProblem, options: DrainOptions) -> Result[Drain]:
    """Restart nodes in few rounds: first fit by conflicts, then reordered and dissolved while that helps.

    Guarantee: all limits kept, never more rounds than one by one or zone by zone, and a proven bound from cliques,
    zones, numbers and lost output. Deterministic unless the clock cuts it short (warning ``TIME_LIMIT``). Cost
    O(nodes^2) a start, plus a look at output fidelity or a packing a try where these are limited.

    Source: DSATUR [Brelaz1979] in an independence system instead of a graph.
    """
    budget = Budget.of(options)
    begun = begin(problem, options, budget)
    if isinstance(begun, Result):
        return begun
    sets, without = begun
    least = least_rounds(sets)
    return outcome(sets, without, few_rounds(sets, least, options.seed, budget), least.rounds, budget)


def few_rounds(sets: AllowedSets, least: LeastRounds, seed: int, budget: Budget) -> list[int]:
    """Return the fewest rounds of several starts, improved; of as few the shortest, then the first."""
    rng = np.random.default_rng(seed)
    rounds = min(one_by_one(sets), zone_by_zone(sets), key=len)
    for start in range(STARTS):
        if len(rounds) <= least.rounds or (start and budget.over()):
            break
        rounds = min(rounds, by_saturation(sets, rng if start else None), key=len)
    rounds = reordered(sets, rounds, rng, least.rounds, budget)
    rounds = fewer(sets, rounds, rng, least.rounds, budget)
    return shortest(sets, rounds)


def shortest(sets: AllowedSets, rounds: list[int]) -> list[int]:
    """Return rounds made shorter in all where nodes take different times; as many or fewer."""
    if len(set(sets.restart_s.tolist())) <= 1:
        return rounds
    better = shorter(sets, rounds)
    return better if (len(better), total_s(sets, better)) < (len(rounds), total_s(sets, rounds)) else rounds
