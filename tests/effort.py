"""How many random examples and combinations the tests try: a share, or all of them with ``make test-thorough``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

#: What is tried of the examples that a test names; ``FTPLAN_TEST_EXAMPLES`` says otherwise.
SHARE = float(os.environ.get("FTPLAN_TEST_EXAMPLES") or 1 / 3)
#: Examples that are tried in any case, where a test names so many.
LEAST = 6


def examples(number: int) -> int:
    """Return how many of *number* random examples, such as seeds of a loop, are tried."""
    return max(min(number, LEAST), round(SHARE * number))


def some(values: Sequence[T], first: int = 0) -> list[T]:
    """Return the share of *values* that is tried: every third, say, from number *first* on; at least one.

    What repeats with other *first* ones goes through all *values*.
    """
    step = max(1, min(len(values), round(1.0 / SHARE)))
    return list(values[first % step :: step])
