"""Formats of strptime on both engines, against Python's datetime and DuckDB."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import LogMapping, micros
from ftplan.spark_stats.time_formats import strptime_format
from tests.spark_stats.cases import parse
from tests.spark_stats.conftest import Run

#: Formats that Python knows too.
FORMATS = (
    "%d/%b/%Y:%H:%M:%S %z", "%a %b %d %H:%M:%S %Y", "%Y-%m-%dT%H:%M:%S.%f%z", "%y%m%d %H%M%S", "%Y-%j %H:%M",
    "%m/%d/%Y %I:%M:%S %p", "%A, %d. %B %y", "%d%%%m%%%Y", "%I %p [%d.%m.%Y]", "%Y%m%d%H%M%S%f", "%c", "%x %X",
    "%H:%M:%S %d %b %y %z",
)  # fmt: skip


def texts(time_format: str, random: Random) -> list[str]:
    """Return times as the format writes them, and what is not quite that."""
    written = []
    for _ in range(40):
        zone = timedelta(minutes=random.randrange(-1439, 1440), seconds=random.choice((0, 0, 0, 30)))
        moment = datetime(1900, 1, 1) + timedelta(microseconds=random.randrange(200 * 365 * 86_400 * 10**6))
        offset = ("-" if zone < timedelta() else "+") + str(abs(zone)).zfill(8).removesuffix(":00")
        offset = random.choice((offset, offset.replace(":", ""), "Z", "z", "+9900"))
        written.append(moment.strftime(time_format.replace("%z", offset)))
    bent = []
    for text in written:
        place = random.randrange(len(text) + 1)
        change = random.choice(("", " ", "0", "9", ":", "x"))
        bent.append(text[:place] + change + text[place + random.choice((0, 1)) :])
    return [*written, *bent, *map(str.upper, written[:3]), *(text.replace(" 0", "  ") for text in written[:5])]


def expected(text: str, time_format: str) -> int | None:
    try:
        moment = datetime.strptime(text.strip(), time_format)
        return micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


@pytest.mark.spark
def test_random_times_are_those_of_python(session: Any) -> None:
    random = Random(5)
    for time_format in FORMATS if session.kind == "sail" else FORMATS[:4]:  # each takes Spark seconds to compile
        given_texts = texts(time_format, random)
        # Left out: digits of other scripts and fractions of a second in the offset, which only Python reads.
        got = dict(zip(given_texts, parse(session, [(text,) for text in given_texts], time_format), strict=True))
        assert got == {text: expected(text, time_format) for text in given_texts}, time_format


@pytest.mark.spark
def test_formats_beyond_those_of_python(session: Any) -> None:
    rows = [("1442018818",), ("-1",), ("1442018818.7",), ("x",)]
    assert parse(session, rows, "%s") == [1_442_018_818_000_000, -1_000_000, None, None]
    assert parse(session, [("1442018818.75",), ("-1.5",)], "%s.%f") == [1_442_018_818_750_000, -1_500_000]
    moment = micros(datetime(2004, 6, 6, 8, 4, 5, tzinfo=UTC))
    assert parse(session, [("2004-06-06", "08:04:05")], "%F %T") == [moment]
    assert parse(session, [("06/06/04", "08:04")], "%D %R") == [moment - 5_000_000]
    assert parse(session, [("Sun Jun  6 08:04:05 utc 2004",)], "%a %b %e %T %Z %Y") == [moment]
    assert parse(session, [("Mon 2004-06-06",)], "%a %F") == [micros(datetime(2004, 6, 6, tzinfo=UTC))]  # a Sunday


@pytest.mark.spark
def test_found_by_looking(session: Any) -> None:
    moment = micros(datetime(2004, 6, 6, 8, 4, 5, tzinfo=UTC))
    cases = {
        "06/Jun/2004:10:04:05 +0200": moment, "[06/Jun/2004:01:34:05 -0630]": moment, "6/jun/2004:08:04:05": moment,
        "Sun Jun  6 08:04:05 2004": moment, "Wed Jun 6 08:04:05 2004": moment, "[Sun Jun 06 08:04:05.25 2004]": (
            moment + 250_000
        ), "Sun Jun  6 08:04:05 UTC 2004": moment, "Sun, 06 Jun 2004 08:04:05 GMT": moment,
        "Sun, 6 Jun 2004 10:04:05 +0200": moment, "2004-06-06 08:04:05,007": moment + 7_000, "Jun  6 08:04:05": None,
        "Foo Jun  6 08:04:05 2004": None, "31/Jun/2004:08:04:05 +0000": None, "06/Jun/2004:24:04:05 +0000": None,
        "06/Jun/2004:08:04:60 +0000": None, "Sun Jun  6 08:04:05 CEST 2004": None,
    }  # fmt: skip
    assert dict(zip(cases, parse(session, [(c,) for c in cases], spelled=True), strict=True)) == cases
    rows = [("[06/Jun/2004:10:04:05", "+0200]"), ("2004-06-06", "08:04:05")]
    assert parse(session, rows, spelled=True) == [moment, moment]
    asctime = [text for text in cases if re.fullmatch(r"(Sun|Wed) Jun +6 08:04:05 2004", text)]
    values = ", ".join(f"('{text}')" for text in asctime)
    read = duckdb.sql(f"SELECT strptime(t, '%a %b %d %H:%M:%S %Y') FROM (VALUES {values}) v(t)").fetchall()
    assert [micros(row[0].replace(tzinfo=UTC)) for row in read] == [moment] * 2


@pytest.mark.spark
def test_syslog_takes_the_year_that_is_given_or_the_one_until_it_was_written(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "messages"
    lines = ["Dec 31 23:59:58 n1 sshd[1]: a", "Feb 29 00:00:01 n1 cron[2]: b", "Mar  1 12:00:00 n2 cron[2]: c"]
    log.write_text("\n".join(lines) + "\n")
    written = datetime(2004, 3, 1, 11, 0, tzinfo=UTC)  # an hour before its last line, by another zone's clock
    os.utime(log, (written.timestamp(), written.timestamp()))
    options: dict[str, Any] = {"input_format": "regex", "operator": "o", "time_columns": ("when",), "key_groups": 1}
    options["pattern"] = r"^(?P<when>\w{3} [ \d]\d [\d:]{8}) (?P<host>\S+) (?P<program>[^:\[]+)"
    stats = run(log, **options)
    days = sorted(row[0].isoformat()[:10] for row in stats.rows("key_groups", "window_start"))
    assert days == ["2003-12-31", "2004-02-29", "2004-03-01"]
    (warning,) = stats.manifest["warnings"]
    assert (warning["code"], "up to 2004-03-01" in warning["message"]) == ("YEAR_ASSUMED", True)
    stats = run(log, **options, time_format="%b %d %H:%M:%S", year=2008)
    days = sorted(row[0].isoformat()[:10] for row in stats.rows("key_groups", "window_start"))
    assert days == ["2008-02-29", "2008-03-01", "2008-12-31"]
    assert "warnings" not in stats.manifest


@pytest.mark.spark
def test_names_of_weekdays_in_formats_of_spark(session: Any) -> None:
    moment = micros(datetime(2004, 6, 6, 8, 4, 5, tzinfo=UTC))
    rows = [("Sun Jun 6 08:04:05 2004",), ("Friday Jun 6 08:04:05 2004",)]
    assert parse(session, rows, "EEE MMM d HH:mm:ss yyyy") == [moment, moment]


@pytest.mark.parametrize(
    ("time_format", "said"),
    [
        ("%Y-%m-%d %Q", "'%Q' of '%Y-%m-%d %Q' is no directive; known are %A"),
        ("%Y %U %w", "weeks are not read"),
        ("%G-W%V-%u", "weeks are not read"),
        ("%H:%M:%S", "has no date"),
        ("%Y-%m", "has no date"),
        ("%Y-%m-%d %Y", "%Y stands twice"),
        ("%Y %y %m %d", "%Y and %y are two for one"),
        ("%Y-%j %d", "%j is the day of the year"),
        ("%F %I:%M", "%I needs %p"),
        ("%F %H:%M %p", "%p needs %I"),
        ("%s %Y", "%s is the whole time"),
        ("%Y-%m-%d %", "is no directive"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(time_format: str, said: str) -> None:
    with pytest.raises(FtplanError) as caught:
        LogMapping(time_columns=("t",), time_format=time_format, operator="o")
    assert said in str(caught.value)
    assert str(caught.value).startswith("--time-format: ")


@settings(max_examples=200, deadline=None)
@given(st.text("%%%%YmdHMSbjpIzsfyaBA -/:.[]xé", max_size=16), st.datetimes(datetime(1970, 1, 1), datetime(2068, 1, 1)))
def test_any_format_is_pythons_or_one_line(time_format: str, moment: datetime) -> None:
    """What is taken reads what Python writes."""
    if "%" not in time_format:
        return
    try:
        known = strptime_format(time_format)
    except FtplanError:
        return
    written = moment.replace(tzinfo=UTC).strftime(time_format).strip()
    expression = known.pattern.expression.replace(r"\z", r"\Z").replace("(?iu:", "(?i:").replace(r"\p{N}", "0-9")
    expression = re.sub(r"\\x\{([0-9a-f]+)\}", lambda m: f"\\U{int(m[1], 16):08x}", expression)
    if time_format == time_format.strip():
        assert re.search(expression, written), (expression, written)
