"""Ranges of key groups, against all ranges that there are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.compiled import called_often
from ftplan.planners.scale_out.parallelism import Splitting
from tests.planners.scale_out.algorithms.cases import Ranges, even

LOADS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=8)


def best(splitting: Splitting, ranges: int, most_state: float) -> tuple[float, float] | None:
    """The least largest use, then the least largest state, of all ways to cut."""
    ways = []
    for cuts in itertools.combinations(range(1, splitting.groups), ranges - 1):
        ends = (0, *cuts, splitting.groups)
        use, state = (
            max(float(sums[b] - sums[a]) for a, b in itertools.pairwise(ends))
            for sums in (splitting.use, splitting.state)
        )
        ways += [(use, state)] if state <= most_state else []
    return min(ways, default=None)


@given(LOADS, st.sampled_from([np.inf, 3.0, 5.0, 8.0]))
@settings(max_examples=150)
def test_ranges_are_the_best_of_all(loads: list[tuple[int, int]], most_state: float) -> None:
    use, state = np.array(loads, dtype=float).T * [[0.1], [1.0]]
    splitting = Splitting(use, state, most_state)
    known = {}
    for ranges in range(1, len(loads) + 1):
        known[ranges] = best(splitting, ranges, most_state)
        if known[ranges] is None:
            assert splitting.least(ranges) == np.inf
            with pytest.raises(ValueError, match="do not fit"):
                splitting.balanced(ranges)
            continue
        assert splitting.least(ranges) == known[ranges][0]
        chosen = splitting.balanced(ranges)
        ends = [first for first, _ in chosen] + [len(loads)]
        assert len(chosen) == ranges
        assert all(a < b for a, b in itertools.pairwise(ends))
        assert [last + 1 for _, last in chosen] == ends[1:]
        largest = tuple(
            max(float(sums[b] - sums[a]) for a, b in itertools.pairwise(ends))
            for sums in (splitting.use, splitting.state)
        )
        assert largest == known[ranges]
    for most in (0.1, 0.4, 0.9):
        enough = [ranges for ranges, pair in known.items() if pair is not None and pair[0] <= most * (1 + 1e-9)]
        assert splitting.fewest(most, len(loads)) == min(enough, default=None)


def test_compiled_and_plain_are_the_same() -> None:
    draws = np.random.default_rng(5)
    use, state = draws.pareto(1.5, 300), draws.random(300)
    for ranges in (3, 40, 299):
        plain = Splitting(use, state, 30.0)
        with called_often():
            compiled = Splitting(use, state, 30.0)
            assert compiled.least(ranges) == plain.least(ranges)
            if np.isfinite(plain.least(ranges)):
                assert compiled.balanced(ranges) == plain.balanced(ranges)


@pytest.mark.parametrize(("groups", "ranges"), [(7, 3), (128, 10), (5, 5), (9, 1)])
def test_even_ranges_are_those_of_engines(groups: int, ranges: int) -> None:
    draws = np.random.default_rng(groups)
    use, state = draws.random(groups), draws.random(groups)

    def largest(values: np.ndarray, of: Ranges) -> float:
        return max(float(values[a : b + 1].sum()) for a, b in of)

    cut = even(groups, ranges)
    assert Splitting(use, state, np.inf).even(ranges) == pytest.approx((largest(use, cut), largest(state, cut)))


def test_what_limits_leave_open_goes_to_even_ranges() -> None:
    """One heavy key group decides the largest use; the others are not packed up to it."""
    use = np.array([8.0, *[1.0] * 12])
    assert Splitting(use, np.zeros(13), np.inf).balanced(4) == ((0, 0), (1, 4), (5, 8), (9, 12))
