"""Values over time as one line of text."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

#: Levels from low to high, and those for terminals that have plain characters only.
BLOCKS, PLAIN = "▁▂▃▄▅▆▇█", "_.:-=+*#"
#: Narrowest and widest line over time, in characters.
NARROW, WIDE = 20, 100


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


def _character(values: Sequence[float | None], high: float, characters: str) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return " "
    share = sum(known) / len(known) / high if high > 0.0 else 0.0
    if share <= 1e-9 or share >= 1.0 - 1e-9:
        return characters[0 if share < 0.5 else -1]
    return characters[1 + min(int(share * (len(characters) - 2)), len(characters) - 3)]
