"""The one exception that users see, and how a name that is off gets a suggestion."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

#: Characters of an input that a message quotes, and characters of a message.
LONGEST_QUOTE, LONGEST_MESSAGE = 80, 400
_QUOTED = re.compile(rf"(?<![\w'\"])(['\"])((?:(?!\1).){{{LONGEST_QUOTE + 1},}}?)(\1)(?!\w)")
_WORD = re.compile(rf"[^\s/'\"]{{{LONGEST_QUOTE + 1},}}")


_ACCESS = r"[\w.-]*(?:token(?!s)|passw(?:or)?d|secret|credential|api-?_?key|access-?_?key)[\w.-]*"
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s;&,"')\]}]+)"""
#: ``token=X``, and ``"token": "X"`` as in JSON.
_SECRET = re.compile(rf"""({_ACCESS}\s*=\s*|(["'])(?!-){_ACCESS}\2\s*:\s*){_VALUE}""", re.IGNORECASE)
_USER_INFO = re.compile(r"(://)[^\s/@'\"]+@")
_BEARER = re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE)


def without_credentials(text: str) -> str:
    """Return a text with what gives access taken out: tokens, passwords, keys, and who logs in to a URL."""
    text = _SECRET.sub(r"\1***", text)
    return _BEARER.sub(r"\1 ***", _USER_INFO.sub(r"\1***@", text))


#: Characters that move the cursor, colour a terminal or turn the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return a text with control characters written out, such as ``\\x1b``; lines and tabs stay."""
    return _CONTROL.sub(lambda m: m[0].encode("unicode_escape").decode(), text)


def shortened(text: str) -> str:
    """Return a message on one line, with long quotes and long words cut: it may hold whatever an input holds.

    Credentials are taken out.
    """
    text = without_credentials(printable(" ".join(text.split())))
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
    messages
        The sentence; of a file whose mistakes are told at once all sentences, of which the text has the first.
    """

    exit_code = 2

    def __init__(self, message: str, further: Sequence[str] = ()) -> None:
        self.messages = tuple(map(_limited, (message, *further)))
        super().__init__(f"{self.messages[0]}{and_more(len(self.messages))}")


def _limited(message: str) -> str:
    text = shortened(message)
    if len(text) > LONGEST_MESSAGE:  # what is wrong stands at the start, what would be right at the end
        text = f"{text[: LONGEST_MESSAGE - 103]} … {text[-100:]}"
    return text


class Mistakes:
    """Mistakes of one file that are told at once: each is caught where it is made, and all are raised together."""

    def __init__(self) -> None:
        self._messages: list[str] = []

    def __len__(self) -> int:
        return len(self._messages)

    @contextmanager
    def caught(self, place: str = "") -> Iterator[None]:
        """Note the mistake that the block raises, at a place."""
        try:
            yield
        except FtplanError as error:
            self._messages += [f"{place}: {text}" if place else text for text in error.messages]

    def finish(self) -> None:
        """Raise FtplanError if there was a mistake."""
        if self._messages:
            raise FtplanError(self._messages[0], self._messages[1:])


_IMPORT = "ftplan import-topology SOURCE --from ENGINE -o topology.yaml --cluster-output cluster.yaml"
#: The command that makes an input, by what messages call it, and by its role.
MADE_BY = {
    "topology": _IMPORT,
    "cluster": _IMPORT,
    "stats": "ftplan compute-stats LOG -o stats",
    "recovery costs": "ftplan calibrate RECOVERIES -o costs.yaml",
}


def made_by(what: str) -> str:
    """Return ``; COMMAND makes it`` for an input that is missing, or an empty string where no command does."""
    return f"; `{MADE_BY[what]}` makes it" if what in MADE_BY else ""


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
    """Return `` (did you mean 'x'?)`` for the known name nearest to *name*, or an empty string.

    That is the only one that *name* is the beginning of, from three characters on, else the most similar one.
    """
    names = list(known)
    longer = [other for other in names if other.startswith(name)] if len(name) > 2 else []
    close = longer if len(longer) == 1 else difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""
