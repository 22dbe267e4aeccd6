"""How many random examples the tests try: a share with ``make test``, all of them with ``make test-thorough``."""

from __future__ import annotations

import os

#: What is tried of the examples that a test names; ``FTPLAN_TEST_EXAMPLES`` says otherwise.
SHARE = float(os.environ.get("FTPLAN_TEST_EXAMPLES") or 1 / 3)
#: Examples that are tried in any case, where a test names so many.
LEAST = 10


def examples(number: int) -> int:
    """Return how many of *number* random examples, such as seeds of a loop, are tried."""
    return max(min(number, LEAST), round(SHARE * number))
