"""``make test`` tries a share of the random examples, ``make test-thorough`` all of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import effort

TRIED: list[int] = []


@pytest.mark.parametrize(
    ("share", "number", "tried"),
    [(1 / 3, 300, 100), (1 / 3, 40, 13), (1 / 3, 20, 10), (1 / 3, 6, 6), (1.0, 300, 300), (2.0, 40, 80)],
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
