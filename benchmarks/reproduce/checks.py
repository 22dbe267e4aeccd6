"""What rules are made of: comparisons of columns that say their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from reproduce.row import Check, Table


def number(value: float) -> str:
    """Return a number for a sentence."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def mean(values: Sequence[float]) -> float:
    """Return the mean; of nothing it is an error, as a column that is not there."""
    return sum(values) / len(values)


def at_least(what: str, value: float, least: float) -> Check:
    """Check that a value is not below a limit."""
    return Check(value >= least, f"{what} {number(value)}{'' if value >= least else f', below {number(least)}'}")


def at_most(what: str, value: float, most: float) -> Check:
    """Check that a value is not above a limit."""
    return Check(value <= most, f"{what} {number(value)}{'' if value <= most else f', above {number(most)}'}")


def within(what: str, value: float, low: float, high: float) -> Check:
    """Check that a value lies in a range."""
    text = f"{what} {number(value)}"
    return Check(low <= value <= high, text if low <= value <= high else f"{text}, not {number(low)} to {number(high)}")


def rising(what: str, values: Sequence[float], names: Sequence[Any] = ()) -> Check:
    """Check that each value is above the one before it."""
    shown = [number(value) for value in values]
    if names:
        shown = [f"{name} {value}" for name, value in zip(names, shown, strict=True)]
    holds = len(values) > 1 and all(a < b for a, b in pairwise(values))
    return Check(holds, f"{what}: {(' < ' if holds else ', ').join(shown)}")


def compared(table: Table, column: str, low: dict[str, Any], high: dict[str, Any], what: str) -> Check:
    """Check that the mean of a column is lower in the rows *low* than in the rows *high*."""
    a, b = mean(table.column(column, **low)), mean(table.column(column, **high))
    return Check(a < b, f"{what}: {number(a)} {'<' if a < b else '>='} {number(b)}")
