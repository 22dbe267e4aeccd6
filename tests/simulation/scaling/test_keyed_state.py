"""Equation 1 of [Mudassar2019]: composing the parts of a state gives the state, and reads from parts are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.simulation.scaling.keyed_state import KeyedState, compose, decompose, expected_digests
from tests.effort import examples


@st.composite
def split_states(draw: st.DrawFn) -> tuple[KeyedState, list[tuple[int, int]]]:
    groups = draw(st.integers(1, 20))
    state = KeyedState.empty(groups)
    for number in range(draw(st.integers(0, 5))):
        some = draw(st.lists(st.integers(0, groups - 1), unique=True))
        state.apply(number, np.array(sorted(some), dtype=np.int64))
    ends = sorted({*draw(st.lists(st.integers(1, groups))), groups})
    return state, list(zip([0, *ends[:-1]], [end - 1 for end in ends], strict=True))


@settings(max_examples=examples(60), deadline=None)
@given(split_states())
def test_composing_what_was_decomposed_gives_the_same(given_: tuple[KeyedState, list[tuple[int, int]]]) -> None:
    state, ranges = given_
    parts = decompose(state, ranges)
    assert compose(parts[::-1]).same_as(state)
    for (first, last), part in zip(ranges, parts, strict=True):
        for group in range(first, last + 1):
            assert part.digest[group - part.first] == state.digest[group]
    parts[0].apply(99, slice(None))  # the parts live on their own
    assert not compose(parts).same_as(state)


def test_parts_that_do_not_fit_together_are_refused() -> None:
    parts = decompose(KeyedState.empty(6), [(0, 1), (2, 3), (4, 5)])
    for wrong in (parts[::2], [*parts, parts[1]]):
        with pytest.raises(ValueError, match="do not follow"):
            compose(wrong)


def test_a_digest_tells_what_is_missing_doubled_or_out_of_order() -> None:
    expected = expected_digests(4)
    for numbers, right in (((0, 1, 2), True), ((0, 2), False), ((0, 1, 1, 2), False), ((1, 0, 2), False)):
        state = KeyedState.empty(3)
        for number in numbers:
            state.apply(number, slice(None))
        assert state.right(expected) == right
