"""The two loops of local search that planners share: annealing, and large neighbourhoods. The moves are injected.

A loop reads as the method; what a move is, and what a solution is worth, the question says. Searches whose moves are
compiled keep their own loop, and take ``temperature_kernel`` and ``accepted_kernel`` from here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ftplan.compiled import only_within
from ftplan.planners.budget import Budget, now

Solution = TypeVar("Solution")

#: Rounds of annealing between two looks at the clock.
LOOK_EVERY = 64


def temperature(hot: float, cold: float, part: float) -> float:
    """Return the temperature after a part of the rounds, from 0 to 1: it falls geometrically from *hot* to *cold*."""
    degrees: float = hot * (cold / hot) ** min(1.0, part)
    return degrees


def accepted(worse: float, degrees: float, draw: float) -> bool:
    """Return whether what is worse by so much is kept: with probability exp(-worse / degrees) ([Kirkpatrick1983])."""
    return worse <= 0.0 or draw < math.exp(-worse / degrees)


temperature_kernel, accepted_kernel = only_within(temperature), only_within(accepted)


class AnnealedState(Protocol):
    """A solution that moves change in place."""

    def move(self) -> float | None:
        """Make a random move; return by how much it makes the solution worse, None where none was made."""

    def keep(self) -> None:
        """Take the move for made, and remember the solution if it is the best."""

    def undo(self) -> None:
        """Take the move back."""


def anneal(
    state: AnnealedState, draw: Callable[[], float], rounds: int, budget: Budget, hot: float, cold: float
) -> None:
    """Make moves under a falling temperature, as many as the budget has time for; the state remembers the best.

    Where the clock will not allow all rounds the temperature falls faster, and the budget counts as cut.

    Parameters
    ----------
    draw
        Returns a random number in [0, 1).
    rounds
        Moves to make.
    """
    began, left_s, planned = now(), budget.left_s, rounds
    for done in range(rounds):
        if done and done % LOOK_EVERY == 0:
            if budget.over():
                return
            possible = done * left_s / max(now() - began, 1e-9)
            if possible < planned:
                planned, budget.cut = max(int(possible), done), True
        worse = state.move()
        if worse is None:
            continue
        if accepted(worse, temperature(hot, cold, done / planned), draw()):
            state.keep()
        else:
            state.undo()


@dataclass(frozen=True)
class NeighbourhoodSizes:
    """How large neighbourhoods are: the first, the largest, and by how much they grow after *patience(size)* failures.

    A search ends at a failure with the largest, or when that has failed so often.
    """

    first: int
    most: int
    growth: int
    patience: Callable[[int], int]


def large_neighbourhood_search(
    start: Solution,
    value: Callable[[Solution], float],
    neighbourhoods: Sequence[Callable[[Solution, int], Solution | None]],
    *,
    sizes: NeighbourhoodSizes,
    rounds: int,
    budget: Budget,
    enough: Callable[[float], bool] = lambda _: False,
    least_time_s: float = 0.0,
) -> Solution:
    """Return a solution that is worth no more than *start*: parts of it are destroyed and repaired, again and again.

    Parameters
    ----------
    value
        What is to become small.
    neighbourhoods
        Each takes a part of about a size out of a solution and repairs it, best by an exact model ([Shaw1998]); None
        where it finds nothing. They take turns.
    enough
        Whether a value ends the search.
    least_time_s
        Seconds below which no round is begun.
    """
    best, reached, size, failed = start, value(start), sizes.first, 0
    for turn in range(budget.passes(rounds)):
        if budget.left_s <= least_time_s:
            budget.cut = True
            break
        if enough(reached) or size > sizes.most:
            break
        other = neighbourhoods[turn % len(neighbourhoods)](best, size)
        if other is not None and (gained := value(other)) < reached:
            best, reached, failed = other, gained, 0
            continue
        failed += 1
        if failed > sizes.patience(size):
            size, failed = size + sizes.growth, 0
    return best
