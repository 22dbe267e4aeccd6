"""Whether a plan is held against others: random ones, blocking recovery, sampled arrivals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Parts of a summary that hold these comparisons.
PARTS = ("before", "step_by_step", "random", "sampled")

_COMPARED: ContextVar[bool] = ContextVar("compared", default=True)


def compared() -> bool:
    """Return whether plans are held against others now."""
    return _COMPARED.get()


@contextmanager
def without_comparisons() -> Iterator[None]:
    """Make plans without the figures of what they are held against: those are None in the summary.

    The plan, its objective and its bound are the same. For who asks thousands of questions and reads no comparison.
    """
    token = _COMPARED.set(False)
    try:
        yield
    finally:
        _COMPARED.reset(token)
