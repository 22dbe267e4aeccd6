"""``make test`` tries a share of the random examples, ``make test-thorough`` all of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import effort

TRIED: list[int] = []


@pytest.mark.parametrize(
    ("share", "number", "tried"),
    [(1 / 3, 300, 100), (1 / 3, 40, 13), (1 / 3, 20, 7), (1 / 3, 12, 6), (1 / 3, 5, 5), (1.0, 300, 300), (2.0, 40, 80)],
)
def test_a_share_but_ten_where_there_are_so_many(
    share: float, number: int, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "SHARE", share)
    assert effort.examples(number) == tried


@settings(max_examples=60)
@given(st.integers())
def test_hypothesis_tries_so_many(number: int) -> None:
    TRIED.append(number)


def test_hypothesis_tried_so_many() -> None:
    """Its settings are changed by a name that it may change: it would try all then."""
    assert len(TRIED) in (0, effort.examples(60))  # 0 where this test is asked for alone


@pytest.mark.parametrize(
    ("share", "first", "tried"),
    [(1 / 3, 0, "adg"), (1 / 3, 1, "be"), (1 / 3, 5, "cf"), (1.0, 5, "abcdefg"), (0.01, 9, "c"), (2.0, 1, "abcdefg")],
)
def test_some_of_a_row_and_all_of_it_in_turn(
    share: float, first: int, tried: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "SHARE", share)
    assert "".join(effort.some("abcdefg", first)) == tried
    assert effort.some("", first) == []
    turns = [effort.some("abcdefg", first) for first in range(7)]
    assert set().union(*turns) == set("abcdefg")
