"""Days of the Gregorian calendar, in columns."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

MICROS = 1_000_000
DAY_US = 86_400 * MICROS


def days(year: Any, month: Any, day: Any) -> Any:
    """Days since 1970-01-01 in the Gregorian calendar, null for a date that does not exist."""

    def div(a: Any, b: int) -> Any:
        return F.floor((a - F.pmod(a, F.lit(b))) / b).cast("bigint")

    long_month = month.isin(1, 3, 5, 7, 8, 10, 12)
    leap = (F.pmod(year, F.lit(4)) == 0) & ((F.pmod(year, F.lit(100)) != 0) | (F.pmod(year, F.lit(400)) == 0))
    last = F.when(long_month, 31).when(month != 2, 30).when(leap, 29).otherwise(28)
    shifted = F.when(month <= 2, year - 1).otherwise(year)
    from_march = F.when(month <= 2, month + 9).otherwise(month - 3)
    day_of_year = div(from_march * 153 + 2, 5) + day - 1
    days = shifted * 365 + div(shifted, 4) - div(shifted, 100) + div(shifted, 400) + day_of_year - 719468
    return F.when(year.between(1, 9999) & month.between(1, 12) & (day >= 1) & (day <= last), days)
