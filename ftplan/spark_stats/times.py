"""Time columns as one number: microseconds since the epoch, UTC, null where the time cannot be read.

Integer arithmetic throughout, so that every engine agrees to the microsecond and none raises on odd values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as F

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import EPOCH_UNITS_US
from ftplan.spark_stats.readers import Field
from ftplan.spark_stats.text_times import DAY_US, MICROS, Year, days, div, with_strptime
from ftplan.spark_stats.time_formats import BEGINNINGS, found_by_looking, is_strptime, strptime_format

#: By magnitude: below 1e11 seconds (the year 5138), below 1e14 milliseconds, below 1e17 microseconds, else nanoseconds.
_MAGNITUDES = ((1e11, 1e6), (1e14, 1e3), (1e17, 1.0), (9.2e18, 1e-3))


def is_blank(field: Field) -> Any:
    """Whether the field has no value: null, or text of blanks only."""
    blank = field.column.isNull()
    if field.kind != "text":
        return blank
    # Few texts begin with a blank, or less: comparing is quicker than trimming all of them.
    return blank | F.when(field.column < "!", F.trim(field.column) == "").otherwise(F.lit(False))


def with_time(
    frame: Any, fields: Sequence[Field], time_format: str | None, year: Year | None = None, spelled: bool = True
) -> Any:
    """Return the frame with ``time_us``, the time in microseconds (a bigint) of one or several time columns.

    One column: a timestamp, a number or text. Without a format, numbers count seconds, milli-, micro- or nanoseconds
    by their magnitude, and text is a number, ISO, or one of the formats that are found by looking; syslog's only with a
    *year*, since it has none. A format with ``%`` is one of strptime's, others are Spark's. Several columns with a
    format are joined with blanks and parsed with it; without one, their number tells what they are: date and time of
    day; year, month, day; these and HHMM (2400 is the next day's 00:00); or hour, minute and second apart. A time
    without a zone is UTC. The name of a weekday is passed over, also a wrong one. Unless *spelled*, times are taken to
    be numbers or ISO where there is no format: looking for others costs Spark seconds before it begins.

    Raises FtplanError if the format does not suit the columns' types.
    """
    if len(fields) == 1 and fields[0].kind == "other":
        raise FtplanError(f"--time-column: column {fields[0].name!r} holds no time")
    text = F.concat_ws(" ", *(_text(f) for f in fields)) if len(fields) > 1 else _text(fields[0])
    fixed = len(fields) == 1 and fields[0].kind in ("timestamp", "nanos")
    if is_strptime(time_format) and not fixed:
        return with_strptime(frame, text, strptime_format(str(time_format)), year, "time_us")
    # A selection of its own: an engine computes a number as often as it stands in an expression.
    frame = frame.select("*", *(_whole(f).alias(f"t_{i}") for i, f in enumerate(fields) if not fixed))
    us = _joined(fields, text, time_format) if len(fields) > 1 else _single(fields[0], time_format)
    by_looking = spelled and time_format is None and len(fields) <= 2 and all(f.kind == "text" for f in fields)
    if not by_looking:
        return frame.select("*", us.alias("time_us"))
    # Texts of other shapes are not tried, which costs them little.
    tried = F.when(F.rlike(text, F.lit(BEGINNINGS)), text)
    frame = with_strptime(frame, tried, found_by_looking(year is not None), year, "looked_us")
    return frame.select("*", F.coalesce(us, F.col("looked_us")).alias("time_us"))


def _single(field: Field, time_format: str | None) -> Any:
    if field.kind in ("timestamp", "nanos"):
        return _of_timestamp(field)
    if time_format in EPOCH_UNITS_US:
        return _epoch(field, ((9.2e18 / max(1.0, EPOCH_UNITS_US[time_format]), EPOCH_UNITS_US[time_format]),))
    if time_format is None:
        number = _epoch(field, _MAGNITUDES)
        return F.coalesce(number, _iso(field.column)) if field.kind == "text" else number
    return _iso(_text(field)) if time_format == "iso" else _spark_pattern(_text(field), time_format)


def _of_timestamp(field: Field) -> Any:
    if field.kind == "nanos":
        return div(field.column, 1000)
    return F.unix_micros(field.column.cast("timestamp"))


def _text(field: Field) -> Any:
    return F.trim(field.column.cast("string"))


def _epoch(field: Field, units: Sequence[tuple[float, float]]) -> Any:
    """A count since the epoch; each unit holds below its limit."""
    whole, value = F.col("t_0"), field.column.try_cast("double")
    exact: Any = F  # F.when(…).when(…)…
    rounded: Any = F
    for limit, factor in units:
        us = div(whole, round(1 / factor)) if factor < 1 else whole * F.lit(int(factor)).cast("bigint")
        exact = exact.when(whole.between(-int(limit), int(limit)), us)
        rounded = rounded.when(F.abs(value) < limit, F.round(value * factor).cast("bigint"))
    return exact if field.kind in ("int", "long") else F.when(whole.isNotNull(), exact).otherwise(rounded)


def _iso(text: Any) -> Any:
    trimmed = F.trim(text)
    return F.when(F.substring(trimmed, 5, 1) == "-", F.unix_micros(F.try_to_timestamp(trimmed)))


def _spark_pattern(text: Any, pattern: str) -> Any:
    """Text in a format of Spark, which refuses to parse names of weekdays: both go without."""
    without = re.sub(r"'[^']*'|E+", lambda m: m[0] if m[0].startswith("'") else "", pattern)
    if without != pattern:
        text = F.regexp_replace(text, "(?i)(mon|tue|wed|thu|fri|sat|sun)[a-z]*", "")
    return F.unix_micros(F.try_to_timestamp(text, F.lit(without)))


def _joined(fields: Sequence[Field], text: Any, time_format: str | None) -> Any:
    if time_format not in (None, "iso"):
        return _spark_pattern(text, str(time_format))
    if len(fields) == 2:
        return _date_and_time(*fields)
    year, month, day = (F.col(f"t_{i}") for i in range(3))
    date = days(year, month, day)
    if len(fields) == 3:
        return date * F.lit(DAY_US)
    if len(fields) == 4:
        return date * F.lit(DAY_US) + _clock(F.col("t_3"))
    hour, minute = F.col("t_3"), F.col("t_4")
    second_us = F.lit(0).cast("bigint")
    if len(fields) == 6:
        second = fields[5].column.try_cast("double")
        second_us = F.when((second >= 0) & (second < 60), F.round(second * MICROS).cast("bigint"))
    fits = hour.between(0, 23) & minute.between(0, 59)
    return F.when(fits, date * F.lit(DAY_US) + (hour * 3600 + minute * 60) * F.lit(MICROS) + second_us)


def _date_and_time(date: Field, clock: Field) -> Any:
    """An ISO date, and HHMM or an ISO time of day."""
    if date.kind == "timestamp":
        day_us = F.unix_micros(date.column.cast("timestamp"))
        text = F.date_format(date.column.cast("timestamp"), "yyyy-MM-dd")
    else:
        text = _text(date)
        day_us = F.when(F.length(text) == 10, _iso(text))
    number = day_us + _clock(F.col("t_1"))
    return F.coalesce(number, _iso(F.concat_ws(" ", text, _text(clock))))


def _clock(hhmm: Any) -> Any:
    """HHMM as microseconds; 2400 is a whole day."""
    minutes = F.pmod(hhmm, F.lit(100))
    us = (div(hhmm, 100) * 60 + minutes) * F.lit(60 * MICROS)
    return F.when(hhmm.between(0, 2400) & (minutes < 60), us)


def _whole(field: Field) -> Any:
    """The value as a bigint; also ``5.0``, as tables with gaps write whole numbers."""
    if field.kind in ("int", "long"):
        return field.column.cast("bigint")
    if field.kind not in ("text", "real"):
        return F.lit(None).cast("bigint")
    value = field.column.try_cast("double")
    whole = F.when((value == F.floor(value)) & (F.abs(value) < 1e15), value.try_cast("bigint"))
    return F.coalesce(field.column.try_cast("bigint"), whole) if field.kind == "text" else whole
