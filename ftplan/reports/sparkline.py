"""Values over time as one line of text."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ftplan.reports.answer import Table, cell

#: Levels from low to high, and those for terminals that have plain characters only.
BLOCKS, PLAIN = "▁▂▃▄▅▆▇█", "_.:-=+*#"
#: Narrowest and widest line over time, in characters.
NARROW, WIDE = 20, 100
#: Digits of the highest values.
DIGITS = 3


def levels() -> str:
    """Return the characters that the terminal can show, whether the answer goes to standard output or error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            BLOCKS.encode(stream.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return PLAIN
    return BLOCKS


def line_width(beside: int) -> int:
    """Return how wide a line is that stands in a table beside text of so many characters, in two columns."""
    return min(max(shutil.get_terminal_size((120, 40)).columns - beside - 6, NARROW), WIDE)


def sparkline(values: Sequence[float | None], width: int, high: float, characters: str = BLOCKS) -> str:
    """Return a line of at most *width* characters, each the mean of some values between 0 and *high*.

    A space where nothing is known. The lowest character is 0 alone and the highest *high* alone.
    """
    width = min(width, len(values))
    return "".join(
        _character(values[len(values) * k // width : len(values) * (k + 1) // width], high, characters)
        for k in range(width)
    )


def over_time(parts: Sequence[Mapping[str, Any]], what: str, told: Sequence[tuple[str, str]], until_s: float) -> Table:
    """Return a table with a line for each thing that is told over time, of one part after the other.

    Parameters
    ----------
    parts
        Each has its name under *what*, and values under ``over_time`` by the names in *told*.
    told
        Names, and what a line calls each, with braces for the highest value of all parts.
    """
    characters = levels()
    high = {name: _most([part["over_time"][name] for part in parts]) for name, _ in told}
    texts = {name: text.format(cell(round(high[name], DIGITS))) for name, text in told}
    width = line_width(max(len(part[what]) for part in parts) + max(map(len, texts.values())))
    rows = [
        (part[what], texts[name], sparkline(part["over_time"][name], width, high[name], characters))
        for name, _ in told
        for part in parts
    ]
    return Table((what, "", f"from 0 s to {cell(until_s)} s"), rows)


def _most(series: Sequence[Sequence[float | None]]) -> float:
    return float(max((value for values in series for value in values if value is not None), default=0.0))


def _character(values: Sequence[float | None], high: float, characters: str) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return " "
    share = sum(known) / len(known) / high if high > 0.0 else 0.0
    if share <= 1e-9 or share >= 1.0 - 1e-9:
        return characters[0 if share < 0.5 else -1]
    return characters[1 + min(int(share * (len(characters) - 2)), len(characters) - 3)]
