"""Formats of times as Python's ``strptime`` has them, and those that are found by looking.

A format becomes a pattern whose groups are its directives; :mod:`ftplan.spark_stats.times` makes a number of them in
integer arithmetic, so that all engines agree with Python and with each other. Names of months and days are English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ftplan.errors import FtplanError
from ftplan.spark_stats.patterns import LogPattern, log_pattern

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _names(names: tuple[str, ...], length: int = 99) -> str:
    """Return a pattern for names, the longer before those that they begin with."""
    return "|".join(sorted((name[:length] for name in names), key=len, reverse=True))


#: Pattern of each directive, as in Python's ``_strptime``.
_DIRECTIVES: Mapping[str, str] = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "1[0-2]|0[1-9]|[1-9]",
    "B": _names(MONTHS),
    "b": _names(MONTHS, 3),
    "d": "3[0-1]|[1-2][0-9]|0[1-9]|[1-9]| [1-9]",
    "j": "36[0-6]|3[0-5][0-9]|[1-2][0-9][0-9]|0[1-9][0-9]|00[1-9]|[1-9][0-9]|0[1-9]|[1-9]",
    "H": "2[0-3]|[0-1][0-9]|[0-9]",
    "I": "1[0-2]|0[1-9]|[1-9]",
    "p": "am|pm",
    "M": "[0-5][0-9]|[0-9]",
    "S": "6[0-1]|[0-5][0-9]|[0-9]",
    "f": "[0-9]{1,6}",
    "z": r"[+-][0-9]{2}:[0-5][0-9](?::[0-5][0-9])?|[+-][0-9]{2}[0-5][0-9](?:[0-5][0-9])?|(?-i:Z)",
    "Z": "utc|gmt",
    "s": "-?[0-9]{1,12}",
    "A": _names(DAYS),
    "a": _names(DAYS, 3),
    "w": "[0-6]",
    "u": "[1-7]",
}
#: What stands for several directives.
_SHORT = {"c": "%a %b %d %H:%M:%S %Y", "x": "%m/%d/%y", "X": "%H:%M:%S", "D": "%m/%d/%y", "T": "%H:%M:%S",
          "F": "%Y-%m-%d", "R": "%H:%M", "e": "%d", "h": "%b"}  # fmt: skip
#: Directives that say nothing of the time: a wrong weekday is passed over, as Python does.
_SILENT = frozenset("AawuZ")
_WEEKS = frozenset("UWGV")

#: Formats that are found by looking, also in brackets: Log4j's, the common log format, those of asctime, date and
#: Apache's error log, and that of mail and HTTP.
FOUND_BY_LOOKING = (
    "%Y-%m-%d %H:%M:%S,%f",
    "%d/%b/%Y:%H:%M:%S %z",
    "%d/%b/%Y:%H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %Z %Y",
    "%a %b %d %H:%M:%S.%f %Y",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S %Z",
)
#: Syslog's; it has no year.
SYSLOG = "%b %d %H:%M:%S"
#: What texts in these formats begin with, so that others are not tried on them.
BEGINNINGS = r"^\[?([A-Za-z]{3}[, ]|[0-9]{1,2}/|[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8},)"


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """A format, or several of which the first that fits counts.

    ``directives`` are those of each; the pattern's groups are called like them, with the number of the format behind:
    ``Y0``, ``b0``, ``Y1``, …
    """

    directives: tuple[tuple[str, ...], ...]
    pattern: LogPattern

    @property
    def needs_year(self) -> bool:
        """Whether one of them tells the time but not the year."""
        return any(not set(names) & set("Yys") for names in self.directives)

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The numbers of the groups that hold each directive, of which at most one has taken part."""
        names = sorted({name for directives in self.directives for name in directives} - _SILENT)
        number = {name: i for i, name in enumerate(self.pattern.names, 1)}
        return {
            name: tuple(number[f"{name}{i}"] for i, has in enumerate(self.directives) if name in has) for name in names
        }


def is_strptime(time_format: str | None) -> bool:
    """Return whether a format is one of strptime's: these have directives, all others have no ``%``."""
    return time_format is not None and "%" in time_format


@cache
def strptime_format(text: str) -> TimeFormat:
    """Return a format of strptime.

    Raises
    ------
    FtplanError
        If a directive is unknown, stands twice, cannot be had, or contradicts another, or no date is in it.
    """
    expression, directives = _expression(text, 0)
    _check(text, set(directives))
    return TimeFormat((directives,), log_pattern(rf"(?i)^(?:{expression})$", "--time-format"))


@cache
def found_by_looking(syslog: bool) -> TimeFormat:
    """Return the formats that are found by looking, with syslog's among them or not."""
    parts = [_expression(text, i) for i, text in enumerate((*FOUND_BY_LOOKING, *([SYSLOG] if syslog else [])))]
    expression = "|".join(part for part, _ in parts)
    return TimeFormat(
        tuple(names for _, names in parts), log_pattern(rf"(?i)^\[?(?:{expression})\]?$", "--time-format")
    )


def _expression(text: str, number: int) -> tuple[str, tuple[str, ...]]:
    """Return the pattern of a format, and its directives in order."""
    option, expression, directives = "--time-format", "", []
    for part in re.findall(r"%.?|\s+|[^%\s]+", _expanded(text), flags=re.DOTALL):
        if not part.startswith("%"):
            expression += r"\s+" if part.isspace() else re.escape(part)
            continue
        name = part[1:]
        if name == "%":
            expression += "%"
            continue
        if name in _WEEKS:
            raise FtplanError(f"{option}: %{name} of {text!r}: weeks are not read; give a day, as %j, or %m and %d")
        if name not in _DIRECTIVES:
            raise FtplanError(f"{option}: {part!r} of {text!r} is no directive; known are %{' %'.join(_all())}")
        if name in directives:
            raise FtplanError(f"{option}: %{name} stands twice in {text!r}")
        directives.append(name)
        expression += f"(?P<{name}{number}>{_DIRECTIVES[name]})"
    return expression, tuple(directives)


def _expanded(text: str) -> str:
    return re.sub(r"%(.)", lambda m: _SHORT.get(m[1], m[0]), text, flags=re.DOTALL)


def _all() -> list[str]:
    return sorted({*_DIRECTIVES, *_SHORT}, key=lambda name: (name.lower(), name))


def _check(text: str, has: set[str]) -> None:
    """Refuse a format that tells too little or too much."""
    option = f"--time-format: {text!r}"
    if "s" in has:
        if has - _SILENT - {"s", "f"}:
            raise FtplanError(f"{option}: %s is the whole time; only %f may stand beside it")
        return
    day = "j" in has or (has & set("mbB") and "d" in has)
    if not day:
        raise FtplanError(f"{option} has no date: give %d with %m, %b or %B, or %j; or %s alone")
    for several in ("Yy", "mbB", "HI"):
        if len(has & set(several)) > 1:
            raise FtplanError(f"{option}: {' and '.join(f'%{n}' for n in several if n in has)} are two for one")
    if "j" in has and has & set("mbBd"):
        raise FtplanError(f"{option}: %j is the day of the year; leave %d and the month out")
    if "p" in has and "I" not in has:
        raise FtplanError(f"{option}: %p needs %I, the hour of twelve")
    if "I" in has and "p" not in has:
        raise FtplanError(f"{option}: %I needs %p, which half of the day")
