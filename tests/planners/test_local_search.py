"""The two loops of local search: they keep the best, end where they are told to, and accept as annealing does."""

from __future__ import annotations

import math
import random

import pytest

from ftplan.planners.budget import Budget
from ftplan.planners.local_search import NeighbourhoodSizes, accepted, anneal, large_neighbourhood_search, temperature


class _Row:
    """Numbers of which two change places; worse is what stands far from its place."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = self.random.sample(range(8), 8)
        self.best, self.last = list(self.now), (0, 0)

    def cost(self, row: list[int]) -> int:
        return sum(abs(k - number) for k, number in enumerate(row))

    def swap(self) -> None:
        a, b = self.last
        self.now[a], self.now[b] = self.now[b], self.now[a]

    def move(self) -> float | None:
        before = self.cost(self.now)
        self.last = (self.random.randrange(8), self.random.randrange(8))
        self.swap()
        return float(self.cost(self.now) - before)

    def keep(self) -> None:
        if self.cost(self.now) < self.cost(self.best):
            self.best = list(self.now)

    def undo(self) -> None:
        self.swap()


@pytest.mark.parametrize("seed", range(5))
def test_annealing_sorts_a_row(seed: int) -> None:
    state, budget = _Row(seed), Budget(math.inf)
    anneal(state, state.random.random, 4000, budget, 4.0, 0.05)
    assert state.best == list(range(8))
    assert not budget.cut


def test_annealing_ends_with_the_clock_and_says_so() -> None:
    state, budget = _Row(0), Budget(0.0)
    anneal(state, state.random.random, 10**9, budget, 4.0, 0.05)
    assert budget.cut


def test_what_is_better_is_always_kept_and_what_is_worse_by_its_odds() -> None:
    assert accepted(-1.0, 1.0, 0.999)
    assert accepted(0.0, 1.0, 0.999)
    assert accepted(1.0, 1.0, math.exp(-1.0) - 1e-9)
    assert not accepted(1.0, 1.0, math.exp(-1.0) + 1e-9)
    assert temperature(8.0, 2.0, 0.0) == 8.0
    assert temperature(8.0, 2.0, 0.5) == pytest.approx(4.0)
    assert temperature(8.0, 2.0, 7.0) == pytest.approx(2.0)


def _sorted_part(row: tuple[int, ...], size: int, chance: random.Random) -> tuple[int, ...]:
    first = chance.randrange(len(row) - size + 1)
    return row[:first] + tuple(sorted(row[first : first + size])) + row[first + size :]


def test_neighbourhoods_grow_until_one_holds_everything() -> None:
    chance = random.Random(1)
    sizes = NeighbourhoodSizes(first=2, most=6, growth=1, patience=lambda _: 3)
    tried: list[int] = []

    def sort_part(row: tuple[int, ...], size: int) -> tuple[int, ...]:
        tried.append(size)
        return _sorted_part(row, size, chance)

    def inversions(row: tuple[int, ...]) -> float:
        return float(sum(a > b for k, a in enumerate(row) for b in row[k + 1 :]))

    row = large_neighbourhood_search(
        (5, 4, 3, 2, 1, 0), inversions, [sort_part], sizes=sizes, rounds=500, budget=Budget(math.inf)
    )
    assert row == (0, 1, 2, 3, 4, 5)
    assert max(tried) == 6


def test_a_neighbourhood_search_is_never_worse_than_its_start_and_ends_when_enough() -> None:
    worse = [lambda number, _: number + 1, lambda number, _: None, lambda number, _: number - 1]
    sizes = NeighbourhoodSizes(first=1, most=1, growth=0, patience=lambda _: 10)
    found = large_neighbourhood_search(
        9, float, worse, sizes=sizes, rounds=100, budget=Budget(math.inf), enough=lambda value: value <= 6.0
    )
    assert found == 6
