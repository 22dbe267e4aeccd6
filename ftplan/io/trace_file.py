"""Trace files: one JSON object a line, ``seconds``, ``value``, ``bound``, ``by`` and ``search`` of each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from ftplan.errors import FtplanError
from ftplan.io.documents import display_name
from ftplan.io.output import write_text
from ftplan.model.plan import canonical
from ftplan.model.trace import TraceLine

#: Bytes of the largest trace that is read.
MOST_BYTES = 100_000_000


def write_trace(path: str | os.PathLike[str], lines: Iterable[TraceLine], force: bool = False) -> None:
    """Write a trace, as :func:`ftplan.io.output.write_bytes` does.

    Raises FtplanError, OutputError as there.
    """
    write_text(path, "".join(json.dumps(canonical(line.to_dict())) + "\n" for line in lines), force)


def read_trace(path: str | os.PathLike[str]) -> tuple[TraceLine, ...]:
    """Return the lines of a trace file.

    Raises FtplanError if it cannot be read, is larger than :data:`MOST_BYTES`, or a line is none of a trace.
    """
    name = display_name(path)
    try:
        if os.path.getsize(path) > MOST_BYTES:
            raise FtplanError(f"{name}: larger than {MOST_BYTES // 10**6} MB, which no trace is")
        with open(path, encoding="utf-8") as file:
            return tuple(_line(text, f"{name}, line {k}") for k, text in enumerate(file, 1) if text.strip())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise FtplanError(f"{name}: cannot be read: {reason}") from None


def _line(text: str, where: str) -> TraceLine:
    expected = f'{where}: expected {{"seconds": …, "value": …, "bound": …, "by": …, "search": …}} as --trace writes it'
    try:
        found = json.loads(text, parse_constant=lambda _: None)
        line = TraceLine(**found)
    except (TypeError, ValueError, RecursionError):
        raise FtplanError(expected) from None
    numbers = [line.seconds, *(number for number in (line.value, line.bound) if number is not None)]
    plain = all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers)
    if not plain or not isinstance(line.by, str) or not isinstance(line.search, str) or line.seconds < 0:
        raise FtplanError(expected)
    return line
