"""Rounds by first fit in random orders: what others are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.drain_schedule.algorithms.allowed import AllowedSets
from ftplan.planners.drain_schedule.algorithms.first_fit import first_fit
from ftplan.planners.drain_schedule.problem import DrainProblem


def random_rounds(
    problem: DrainProblem, nodes: Sequence[int], seed: int, orders: int, budget: Budget
) -> list[list[tuple[int, ...]]]:
    """Return the rounds of first fit in so many random orders, or in those for which the budget lasts.

    *nodes*, by number, may each restart alone. Cost O(nodes * rounds) an order, with a look at output fidelity or a
    packing a try where these are limited.
    """
    sets, rng = AllowedSets(problem, nodes, budget), np.random.default_rng(seed)
    drawn: list[list[tuple[int, ...]]] = []
    for _ in range(orders):
        try:
            rounds = first_fit(sets, _while_time(rng.permutation(len(nodes)).tolist(), budget))
        except OutOfTime:
            break
        drawn.append([sets.numbers(mask) for mask in rounds])
    return drawn


def _while_time(order: Sequence[int], budget: Budget) -> Iterator[int]:
    for node in order:
        budget.check()
        yield node
