"""The one exception that users see, and how a name that is off gets a suggestion."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

#: Characters of an input that a message quotes, and characters of a message.
LONGEST_QUOTE, LONGEST_MESSAGE = 80, 400
_QUOTED = re.compile(rf"(?<![\w'\"])(['\"])((?:(?!\1).){{{LONGEST_QUOTE + 1},}}?)(\1)(?!\w)")
_WORD = re.compile(rf"[^\s/'\"]{{{LONGEST_QUOTE + 1},}}")


def shortened(text: str) -> str:
    """Return a message on one line, with long quotes and long words cut: it may hold whatever an input holds."""
    text = " ".join(text.split())
    text = _QUOTED.sub(lambda m: f"{m[1]}{m[2][: LONGEST_QUOTE - 1]}…{m[3]}", text)
    return _WORD.sub(lambda m: f"{m[0][: LONGEST_QUOTE - 1]}…", text)


def and_more(count: int) -> str:
    """Return how many there are besides the one that a message names, nothing where there is only that."""
    return f" (and {count - 1} more)" if count > 1 else ""


class FtplanError(Exception):
    """The user's mistake, or a limit that was reached: one sentence, exit code 2.

    The message names the file, the place, what is wrong and what would be right, for instance
    ``topology.yaml: edges[3].to: unknown operator 'joins' (did you mean 'join'?)``.

    Attributes
    ----------
    exit_code
        What the command line ends with: 2, in subclasses another.
    """

    exit_code = 2

    def __init__(self, message: str) -> None:
        text = shortened(message)
        if len(text) > LONGEST_MESSAGE:  # what is wrong stands at the start, what would be right at the end
            text = f"{text[: LONGEST_MESSAGE - 103]} … {text[-100:]}"
        super().__init__(text)


class OverloadError(FtplanError):
    """A job that cannot keep up with its input, and therefore never recovers: the answer is no (exit 1)."""

    exit_code = 1


class OutputError(FtplanError):
    """The disk or the pipe failed while an answer was being written; nothing is left half-written (exit 74)."""

    exit_code = 74


class MissingExtraError(FtplanError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'ftplan[{extra}]'")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known name nearest to *name*, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""
