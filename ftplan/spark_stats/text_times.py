"""Texts in formats of strptime as microseconds since the epoch, in integer arithmetic.

The work is done in steps, each a selection of its own: as one expression it would hold the pattern dozens of times.
Days are those of the Gregorian calendar, in columns; times without a year, as syslog's, are given one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import pyarrow
from pyspark.sql import functions as F

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.statistics import EPOCH
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.patterns import log_pattern
from ftplan.spark_stats.texts import groups_of, with_groups
from ftplan.spark_stats.time_formats import MONTHS, TimeFormat, is_strptime, strptime_format


class Year(NamedTuple):
    """A year that was given, or the moment when the log was last written: times lie in the year up to a day later."""

    given: int | None
    newest_us: int = 0


def year_of(mapping: LogMapping, files: Sequence[LogFile]) -> Year | None:
    """Return the year of times that have none; None where all have one, or nobody said what the log's times are.

    Raises
    ------
    FtplanError
        If nothing tells: files on a remote store have no time that could be asked for.
    """
    if mapping.year is not None:
        return Year(mapping.year)
    if mapping.time_format is None:
        lacking = any(_is_syslog(mapping, file) for file in files)
    else:
        lacking = is_strptime(mapping.time_format) and strptime_format(mapping.time_format).needs_year
    if not lacking:
        return None
    written = [file.modified_us for file in files if file.modified_us is not None]
    if not written:
        raise FtplanError("--year is missing: the times have none, and nothing tells when the log was written")
    return Year(None, max(written))


def assumption(year: Year | None) -> tuple[Warn, ...]:
    """Return what is to be said of a year that nobody gave."""
    if year is None or year.given is not None:
        return ()
    until = EPOCH + timedelta(microseconds=year.newest_us)
    text = f"times have no year: the twelve months up to {until:%Y-%m-%d}, when the log was last written, are assumed"
    return (Warn("YEAR_ASSUMED", f"{text}; --year says otherwise"),)


def _is_syslog(mapping: LogMapping, file: LogFile) -> bool:
    """Return whether the first line of a log that a pattern reads has a time as syslog writes it."""
    if mapping.pattern is None or not file.header:
        return False
    pattern = log_pattern(mapping.pattern)
    found = groups_of(pattern, [pattern.groups[column] for column in mapping.time_columns])
    (texts,) = found(pyarrow.array([file.header])).to_pylist()
    text = " ".join(texts.values() if texts else ()).strip("[] ")
    return re.fullmatch(r"[A-Za-z]{3}\s+[0-9]{1,2}\s+[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}", text) is not None


MICROS = 1_000_000
DAY_US = 86_400 * MICROS


def div(value: Any, by: int) -> Any:
    """Whole numbers divided, rounded down."""
    return F.call_function("div", value - F.pmod(value, F.lit(by)), F.lit(by))


def days(year: Any, month: Any, day: Any) -> Any:
    """Days since 1970-01-01 in the Gregorian calendar, null for a date that does not exist."""
    long_month = month.isin(1, 3, 5, 7, 8, 10, 12)
    leap = (F.pmod(year, F.lit(4)) == 0) & ((F.pmod(year, F.lit(100)) != 0) | (F.pmod(year, F.lit(400)) == 0))
    last = F.when(long_month, 31).when(month != 2, 30).when(leap, 29).otherwise(28)
    shifted = F.when(month <= 2, year - 1).otherwise(year)
    from_march = F.when(month <= 2, month + 9).otherwise(month - 3)
    day_of_year = div(from_march * 153 + 2, 5) + day - 1
    days = shifted * 365 + div(shifted, 4) - div(shifted, 100) + div(shifted, 400) + day_of_year - 719468
    return F.when(year.between(1, 9999) & month.between(1, 12) & (day >= 1) & (day <= last), days)


_MONTHS = "".join(month[:3] for month in MONTHS)


def with_strptime(frame: Any, text: Any, time_format: TimeFormat, year: Year | None, name: str) -> Any:
    """Return the frame with a column *name*: the moment, null where Python refuses the text.

    Parameters
    ----------
    text
        The column to read; a column without one has no moment.
    year
        Of times that have none.

    Raises
    ------
    FtplanError
        If a year is needed and there is none.
    """
    if time_format.needs_year and year is None:
        raise FtplanError("--year is missing: the times have none, and nothing tells when the log was written")
    frame, found, texts = with_groups(frame, text, time_format.pattern, time_format.groups, "t_parts")
    numbers = _numbers(texts)
    frame = frame.select("*", *(c.cast("bigint").alias(f"t_{n}") for n, c in numbers.items()))
    known = {n: F.col(f"t_{n}") for n in numbers}
    good = found & (known["second"] < 60) & (F.abs(known["offset"]) < 86_400)
    seconds = known["hour"] * 3600 + known["minute"] * 60 + known["second"] - known["offset"]
    if "s" in texts:
        seconds = known["epoch"]
    fraction = F.when(known["epoch_sign"] < 0, -known["fraction"]).otherwise(known["fraction"])
    clock = seconds * F.lit(MICROS) + fraction
    if "s" in texts:
        moment = clock
    else:
        moment = _in_years(lambda of: _day(of, known, "j" in texts) * F.lit(DAY_US) + clock, known["year"], year)
    return frame.select("*", F.when(good, moment).alias(name))


def _numbers(texts: Any) -> dict[str, Any]:
    """Return the parts of a time as numbers; what the format lacks is the least there is, a year null."""

    def part(name: str) -> Any:
        return F.trim(texts[name]).try_cast("bigint") if name in texts else F.lit(None).cast("bigint")

    month = part("m")
    for name in ("b", "B"):
        if name in texts:
            place = F.call_function("locate", F.lower(F.substring(texts[name], 1, 3)), F.lit(_MONTHS))
            month = F.coalesce(month, F.when(texts[name] != "", (place + 2) / 3).cast("bigint"))
    hour = F.coalesce(part("H"), F.lit(0))
    if "I" in texts:
        hour = F.pmod(part("I"), F.lit(12)) + F.when(F.lower(texts["p"]) == "pm", 12).otherwise(0)
    short = part("y")
    zero = F.lit(0)
    return {
        "year": F.coalesce(part("Y"), short + F.when(short < 69, 2000).otherwise(1900)),
        "month": month,
        "day": part("d"),
        "day_of_year": part("j"),
        "hour": hour,
        "minute": F.coalesce(part("M"), zero),
        "second": F.coalesce(part("S"), zero),
        "fraction": F.coalesce(F.rpad(texts["f"], 6, "0").try_cast("bigint"), zero) if "f" in texts else zero,
        "offset": _offset(texts["z"]) if "z" in texts else zero,
        "epoch": part("s"),
        "epoch_sign": F.when(texts["s"].startswith("-"), -1).otherwise(1) if "s" in texts else F.lit(1),
    }


def _offset(zone: Any) -> Any:
    """Seconds east of Greenwich of ``Z``, ``+0100``, ``-09:30`` or ``+01:00:30``."""
    digits = F.rpad(F.regexp_replace(zone, "[^0-9]", ""), 6, "0")
    hours, minutes, seconds = (F.substring(digits, start, 2).try_cast("bigint") for start in (1, 3, 5))
    return F.when(zone.startswith("-"), -1).otherwise(1) * (hours * 3600 + minutes * 60 + seconds)


def _day(year: Any, known: Any, by_year: bool) -> Any:
    if by_year:
        return days(year, F.lit(1), F.lit(1)) + known["day_of_year"] - 1
    return days(year, known["month"], known["day"])


def _in_years(moment: Callable[[Any], Any], own: Any, year: Year | None) -> Any:
    """The moment in its own year, else in the year that is assumed."""
    if year is None:
        return moment(own)
    if year.given is not None:
        return moment(F.coalesce(own, F.lit(year.given).cast("bigint")))
    last = (EPOCH + timedelta(microseconds=year.newest_us)).year
    this, before = (moment(F.lit(of).cast("bigint")) for of in (last, last - 1))
    assumed = F.when(this <= F.lit(year.newest_us + DAY_US).cast("bigint"), this).otherwise(before)
    return F.when(own.isNotNull(), moment(own)).otherwise(assumed)
