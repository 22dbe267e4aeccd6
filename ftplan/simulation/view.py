"""What the tables of several simulations share: figures over runs, and times, as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ftplan.reports.answer import cell

#: Digits of times: what is beyond a millisecond is of no use to people.
DIGITS = 3


def runs_text(runs: int) -> str:
    """Return how many runs a table is of, and what it shows of several."""
    return "1 run" if runs == 1 else f"{runs:,} runs: mean (5 … 95 %)"


def spread(value: Mapping[str, Any] | None, missing: str | None = None) -> Any:
    """Return a figure over runs: its mean, with quantiles where there are several; *missing* where it is not known."""
    if value is None:
        return missing
    mean = round(value["mean"], DIGITS)
    if value["high"] is None:
        return mean
    return f"{cell(mean)} ({cell(round(value['p5'], DIGITS))} … {cell(round(value['p95'], DIGITS))})"


def seconds(value: float | None) -> str | None:
    """Return a time, None where there is none."""
    return None if value is None else cell(round(value, DIGITS))
