r"""Python regular expressions in the words of RE2, which finds in linear time what Python finds.

The pattern is taken apart by Python's own parser and written anew: what differs (``\d``, ``\w``, ``\s``, ``.``, ``$``,
free spacing) is spelled out, and what automata do not know (lookaround, references, atomic groups) or RE2 understands
otherwise (``\b`` beside letters that are not ASCII) is refused. Left to small differences are İ and ı under ``(?i)``,
letters that are not ASCII under ``(?ai)``, characters newer than RE2's Unicode tables, and what a group holds that
stands within a repeat and may be empty: Python ends with the empty turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any
from warnings import catch_warnings, simplefilter

from ftplan.errors import FtplanError

#: The parser behind ``re.compile``: under these names since Python 3.11.
_parser: Any = import_module("re._parser")
_constants: Any = import_module("re._constants")

#: Largest number of repeats that RE2 takes.
MOST_REPEATS = 1000

_SPACES = ((9, 13), (28, 32), (133, 133), (160, 160), (5760, 5760), (8192, 8202), (8232, 8233), (8239, 8239),
           (8287, 8287), (12288, 12288))  # fmt: skip
_ASCII_SPACES, _ASCII_WORD, _DIGITS = ((9, 13), (32, 32)), ((48, 57), (65, 90), (95, 95), (97, 122)), ((48, 57),)
#: Connector punctuation but the underscore, which is part of words.
_CONNECTORS = r"\x{203f}\x{2040}\x{2054}\x{fe33}\x{fe34}\x{fe4d}-\x{fe4f}\x{ff3f}"
#: By whether text is Unicode or ASCII only: the inside of a class, by the parser's name for it.
_CLASSES = {
    (False, "DIGIT"): r"\p{Nd}",
    (False, "NOT_DIGIT"): r"\P{Nd}",
    (False, "WORD"): r"\p{L}\p{N}_",
    (False, "NOT_WORD"): r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}" + _CONNECTORS,
}
_REFUSED = {
    "ASSERT": "lookahead or lookbehind, (?=…) or (?<=…)",
    "ASSERT_NOT": "negative lookahead or lookbehind, (?!…) or (?<!…)",
    "FAILURE": "negative lookahead, (?!…)",
    "GROUPREF": r"a reference to a group, \1 or (?P=name)",
    "GROUPREF_EXISTS": "a condition, (?(name)…)",
    "ATOMIC_GROUP": "an atomic group, (?>…)",
    "POSSESSIVE_REPEAT": "a possessive repeat, a*+",
    "AT_BOUNDARY": r"\b",
    "AT_NON_BOUNDARY": r"\B",
}


@dataclass(frozen=True, slots=True)
class LogPattern:
    """A pattern: its groups by name, in order, and the expression for RE2, in which they are ``g1``, ``g2`` and so on.

    ``ascii``: an expression for texts that are ASCII, several times as fast: its classes are shorter.
    """

    names: tuple[str, ...]
    expression: str
    ascii: str

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The number of each group."""
        return {name: (i,) for i, name in enumerate(self.names, 1)}


@cache
def log_pattern(pattern: str, option: str = "--pattern") -> LogPattern:
    """Return a Python pattern for RE2.

    Raises
    ------
    FtplanError
        If it is none (with the place), names no group, or holds what RE2 does not know, or too much of it.
    """
    import pyarrow
    from pyarrow.compute import extract_regex

    try:
        with catch_warnings():
            simplefilter("ignore")  # of sets that a later Python may read as nested
            tree = _parser.parse(pattern)
    except re.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        raise FtplanError(f"{option}: {error.msg}{place} of {pattern!r}") from None
    except (RecursionError, OverflowError):
        raise FtplanError(f"{option}: {pattern[:60]!r} is nested too deeply, or repeats too often") from None
    groups: dict[str, int] = tree.state.groupdict
    if not groups:
        raise FtplanError(f"{option}: names no group; write (?P<name>…) around each column, as in (?P<host>\\S+)")
    names = tuple(sorted(groups, key=groups.__getitem__))
    numbers = {groups[name]: i for i, name in enumerate(names, 1)}
    ascii_only = bool(tree.state.flags & re.ASCII)
    texts = []
    for writer in (
        _Writer(option, numbers, _ASCII_SPACES if ascii_only else _SPACES, ascii_only),
        _Writer(option, numbers, _ASCII_SPACES if ascii_only else _SPACES[:2], ascii_only=True),
    ):
        text = writer.sequence(tree)
        texts.append(f"(?i:{text})" if tree.state.flags & re.IGNORECASE else text)
        try:
            extract_regex(pyarrow.array([], pyarrow.string()), pattern=texts[-1])
        except pyarrow.ArrowInvalid as error:
            what = str(error).rpartition("expression: ")[2]
            raise FtplanError(f"{option}: RE2, which reads the lines, does not take {pattern[:60]!r}: {what}") from None
    return LogPattern(names, *texts)


class _Writer:
    """Writes the parser's tree as an expression."""

    def __init__(
        self, option: str, numbers: Mapping[int, int], spaces: Sequence[tuple[int, int]], ascii_only: bool
    ) -> None:
        self.option = option
        self.numbers = numbers
        self.spaces = spaces
        self.ascii_only = ascii_only

    def sequence(self, tree: Iterable[Any]) -> str:
        return "".join(self.item(str(kind), value) for kind, value in tree)

    def item(self, kind: str, value: Any) -> str:
        if kind == "AT":
            return self.at(str(value))
        if kind in _REFUSED:
            self.refuse(kind)
        return str(getattr(self, f"_{kind.lower()}")(value))

    def refuse(self, kind: str) -> None:
        raise FtplanError(
            f"{self.option} holds {_REFUSED[kind]}: RE2, which reads the lines, does not know it as Python does; "
            "write it without"
        )

    def at(self, kind: str) -> str:
        if kind in _REFUSED:
            self.refuse(kind)
        return r"\A" if kind.startswith("AT_BEGINNING") else r"\z"  # a line is one line: ^ and $ are its ends

    def _literal(self, value: int) -> str:
        return _character(value)

    def _not_literal(self, value: int) -> str:
        return f"[^{_character(value)}]"

    def _any(self, value: Any) -> str:
        return r"[^\n]"

    def _in(self, items: Any) -> str:
        negated = str(items[0][0]) == "NEGATE"
        if len(items) == 1 and str(items[0][1]).startswith("CATEGORY_") and "NOT_" in str(items[0][1]):
            return f"[^{self.member('CATEGORY', str(items[0][1]).replace('NOT_', ''))}]"
        return f"[{'^' * negated}{''.join(self.member(str(k), v) for k, v in items[negated:])}]"

    def member(self, kind: str, value: Any) -> str:
        """Return a part of a class, without a class within the class."""
        if kind == "LITERAL":
            return _character(value)
        if kind == "RANGE":
            return _range(*value)
        name = str(value).removeprefix("CATEGORY_").removeprefix("UNI_")
        known = _CLASSES.get((self.ascii_only, name))
        if known is not None:
            return known
        ranges = {"SPACE": self.spaces, "DIGIT": _DIGITS, "WORD": _ASCII_WORD}[name.removeprefix("NOT_")]
        return "".join(_range(*r) for r in (_others(ranges) if name.startswith("NOT_") else ranges))

    def _branch(self, value: Any) -> str:
        return f"(?:{'|'.join(self.sequence(branch) for branch in value[1])})"

    def _subpattern(self, value: Any) -> str:
        group, add, remove, tree = value
        for flag, name in ((re.ASCII, "a"), (re.UNICODE, "u")):
            if add & flag:
                raise FtplanError(f"{self.option}: (?{name}:…) holds for a part only; write (?{name}) at the beginning")
        inner = self.sequence(tree)
        if group in self.numbers:
            return f"(?P<g{self.numbers[group]}>{inner})"
        case = "i" * bool(add & re.IGNORECASE) + "-i" * bool(remove & re.IGNORECASE)
        return f"(?{case}:{inner})"

    def _max_repeat(self, value: Any) -> str:
        return self.repeat(*value)

    def _min_repeat(self, value: Any) -> str:
        low, high, tree = value
        return self.repeat(low, high, tree, lazy="?")

    def repeat(self, low: int, high: int, tree: Any, lazy: str = "") -> str:
        open_ended = high == _constants.MAXREPEAT
        if max(low, 0 if open_ended else high) > MOST_REPEATS:
            raise FtplanError(f"{self.option}: a repeat of more than {MOST_REPEATS:,} times takes too much memory")
        return f"(?:{self.sequence(tree)}){{{low},{'' if open_ended else high}}}{lazy}"


def _character(code: int) -> str:
    if chr(code).isascii():
        return chr(code) if chr(code).isalnum() else f"\\x{code:02x}"
    return f"\\x{{{code:x}}}"


def _range(low: int, high: int) -> str:
    return _character(low) if low == high else f"{_character(low)}-{_character(high)}"


def _others(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the characters that are in none of some ranges, which ascend."""
    others, start = [], 0
    for low, high in ranges:
        others += [(start, low - 1)] * (start < low)
        start = high + 1
    return [*others, (start, 0x10FFFF)]
