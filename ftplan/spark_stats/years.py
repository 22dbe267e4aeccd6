"""The year of times that have none, as syslog's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.statistics import EPOCH
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.time_formats import is_strptime, strptime_format


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
    found = re.search(mapping.pattern, file.header)
    if found is None:
        return False
    text = " ".join(found.group(column) or "" for column in mapping.time_columns).strip("[] ")
    return re.fullmatch(r"[A-Za-z]{3}\s+[0-9]{1,2}\s+[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}", text) is not None
