"""Lines of CSV taken apart into fields, as Python's ``csv`` does it, by each engine's own means where they suffice."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as F

from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.session import Session

#: Longest line whose quotes an engine looks at: Java takes stack for each field.
_LONGEST_LINE = 16_384


def parse_line(line: str, delimiter: str) -> list[str]:
    """Split one line of CSV; quoted fields may hold the delimiter and doubled quotes."""
    return next(csv.reader([line], delimiter=delimiter, strict=True), [])


def csv_fields(
    session: Session, lines: Any, mapping: LogMapping, names: Sequence[str], quoted: bool
) -> tuple[Any, Any, list[Any]]:
    """Return lines of CSV, the number of fields in each (null where quotes are not closed), and the mapped fields.

    Engines split lines without quotes, and lines whose quotes stand around fields without quotes and delimiters, which
    are left out; a function of Python the others.
    """
    delimiter, value = mapping.delimiter, F.col("value")
    places = [names.index(c) for c in mapping.columns]
    if not quoted:
        return _plain_fields(session, lines, value, delimiter, places)
    code = f"\\x{{{ord(delimiter):x}}}"
    one = f'(?:"[^"{code}]*"|[^"{code}]*)'
    simple = F.rlike(value, F.lit(f"\\A{one}(?:{code}{one})*\\z")) & (F.length(value) <= _LONGEST_LINE)
    frame = lines.select("file", "value", F.when(simple, F.replace(value, F.lit('"'), F.lit(""))).alias("plain"))
    others = F.when(F.col("plain").isNull(), value)
    frame = frame.select("*", quoted_fields_udf(delimiter)(others).alias("quoted"))
    frame, count, parts = _plain_fields(session, frame, F.col("plain"), delimiter, places)
    fields = [F.coalesce(p, F.get("quoted", F.lit(i))) for p, i in zip(parts, places, strict=True)]
    return frame, F.coalesce(count, F.when(F.col("quoted").isNotNull(), F.size("quoted"))), fields


def _plain_fields(
    session: Session, frame: Any, text: Any, delimiter: str, places: Sequence[int]
) -> tuple[Any, Any, list[Any]]:
    """Return a frame, the number of fields in a *text* without quotes, and the fields at some places.

    An array of all fields takes Sail twice as long as each field by itself; Spark splits anew for each.
    """
    if session.kind == "sail":
        without = F.replace(text, F.lit(delimiter), F.lit(""))
        width = F.lit(len(delimiter.encode()))
        count = F.call_function("div", F.octet_length(text) - F.octet_length(without), width) + 1
        return frame, count, [F.split_part(text, F.lit(delimiter), F.lit(i + 1)) for i in places]
    escaped = delimiter if delimiter in ",\t;" or delimiter.isalnum() else f"\\{delimiter}"
    frame = frame.select("*", F.split(text, escaped, -1).alias("parts"))
    count = F.when(F.col("parts").isNotNull(), F.size("parts"))
    return frame, count, [F.get("parts", F.lit(i)) for i in places]


def quoted_fields_udf(delimiter: str) -> Any:
    """An Arrow UDF that splits lines of CSV with quoted fields into arrays; null where quotes are not closed."""

    def fields_of(lines: Any) -> Any:
        import csv

        import pyarrow

        rows: list[list[str] | None] = []
        for line in lines.to_pylist():
            try:
                rows.append(None if line is None else next(csv.reader([line], delimiter=delimiter, strict=True), []))
            except csv.Error:
                rows.append(None)
        return pyarrow.array(rows, pyarrow.list_(pyarrow.string()))

    return F.arrow_udf(lambda lines: fields_of(lines), "array<string>")
