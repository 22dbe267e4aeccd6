"""Read a log as one DataFrame with a column for each mapped field, on Spark, Spark Connect and Sail alike.

No permissive readers, no ``_metadata``: text is read line by line and taken apart with ``split`` or ``from_json``.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pyspark.sql import functions as F

from ftplan.errors import FtplanError, suggestion
from ftplan.model.plan import Warn
from ftplan.spark_stats.csv_lines import csv_fields, parse_line
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.patterns import log_pattern
from ftplan.spark_stats.session import Session
from ftplan.spark_stats.text_times import assumption, year_of
from ftplan.spark_stats.texts import read_texts, with_groups

FieldKind = Literal["text", "int", "long", "real", "timestamp", "nanos", "other"]
#: A log of more files than this is read in one go: its rejects do not say which file they come from.
MOST_NAMED_FILES = 32


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the log: how it is read from the frame, and what kind of value it has."""

    name: str
    column: Any
    kind: FieldKind


@dataclass(frozen=True, slots=True)
class Log:
    """The log as a DataFrame (lazy; nothing is read yet).

    ``frame`` has ``file`` (int, position in ``files``; -1 where unknown), ``broken`` (int, position in ``faults``, or
    null) and the columns behind ``fields``. ``raw`` is the row as text. ``tables`` are further tables of the
    folder, which an engine's log gives as they are, with an ``operator``. ``warnings`` go into the manifest.
    """

    frame: Any
    raw: Any
    fields: Mapping[str, Field]
    files: tuple[LogFile, ...]
    faults: tuple[str, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Warn, ...] = ()


def read_log(session: Session, files: Sequence[LogFile], mapping: LogMapping) -> Log:
    """Return the log behind *files*, all of one format whose columns the user names.

    Raises FtplanError if a mapped column is missing or the files' headers differ.
    """
    kind = files[0].format
    if session.kind == "sail":
        for file in files:
            if not file.utf8:
                raise FtplanError(f"{file.path}: the text is not UTF-8, which Sail cannot read; use --engine spark")
    if kind == "parquet":
        return _read_parquet(session, files, mapping)
    read = {"csv": _read_csv, "regex": _read_regex}.get(kind, _read_jsonl)
    return replace(read(session, files, mapping), warnings=assumption(year_of(mapping, files)))


def _union(session: Session, files: Sequence[LogFile], read: Any) -> Any:
    """One frame over all files, with the position of each file as a literal column."""
    uris = [f.uri(percent_encoded=session.kind == "sail") for f in files]
    if len(files) > MOST_NAMED_FILES:
        return read(uris).withColumn("file", F.lit(-1))
    frame = None
    for i, uri in enumerate(uris):
        part = read([uri]).withColumn("file", F.lit(i))
        frame = part if frame is None else frame.unionByName(part)
    return frame


def _lines(session: Session, files: Sequence[LogFile]) -> Any:
    """Lines without line end, byte order mark and blank lines."""
    frame = _union(session, files, lambda uris: read_texts(session, uris))
    value = F.rtrim(F.col("value"), F.lit("\r"))
    value = F.when(value.startswith("\ufeff"), F.substring(value, 2, 2**31 - 1)).otherwise(value)
    return frame.select("file", value.alias("value")).filter(F.trim(F.col("value")) != "")


def _missing(file: LogFile, column: str, known: Sequence[str]) -> FtplanError:
    near = suggestion(column, known)
    if not near:
        shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
        near = f"; it has {shown}" if known else ""
    return FtplanError(f"{file.path}: no column {column!r}{near}")


def _read_csv(session: Session, files: Sequence[LogFile], mapping: LogMapping) -> Log:
    lines = _lines(session, files)
    names = list(mapping.csv_columns)
    if not names:
        line, names = _header(session, files, mapping)
        lines = lines.filter(F.col("value") != line)
    for column in mapping.columns:
        if column not in names:
            raise _missing(files[0], column, names)
    faults = (f"not {len(names)} fields", "quotes not closed")
    frame, count, parts = csv_fields(session, lines, mapping, names, any(f.quoted for f in files))
    broken = F.when(count.isNull(), 1).when(count != len(names), 0)
    return _text_log(frame, [F.nullif(p, F.lit("")) for p in parts], broken, faults, mapping, files)


def _read_regex(session: Session, files: Sequence[LogFile], mapping: LogMapping) -> Log:
    pattern = log_pattern(mapping.pattern or "")
    frame, found, groups = with_groups(_lines(session, files), F.col("value"), pattern, pattern.groups, "groups")
    chosen = [F.nullif(groups[c], F.lit("")) for c in mapping.columns]
    return _text_log(frame, chosen, F.when(~found, 0), ("not as --pattern says",), mapping, files)


def _text_log(
    frame: Any, parts: Sequence[Any], broken: Any, faults: Sequence[str], mapping: LogMapping, files: Sequence[LogFile]
) -> Log:
    """Return the log behind a frame of lines; a line that is not UTF-8 is broken in the last way, whatever else."""
    raw = F.col("value")
    if not all(f.utf8 for f in files):
        broken = F.when(~F.is_valid_utf8("value"), len(faults)).otherwise(broken)
        raw = F.make_valid_utf8("value")
    frame = frame.select("file", "value", broken.alias("broken"), *(c.alias(f"f{i}") for i, c in enumerate(parts)))
    return Log(frame, raw, _fields(mapping, ["text"] * len(parts)), tuple(files), (*faults, "not UTF-8"))


def _header(session: Session, files: Sequence[LogFile], mapping: LogMapping) -> tuple[str, list[str]]:
    """The header line that all files share, and the column names in it."""
    lines = {f.path: f.header for f in files if not f.remote}
    for file in (f for f in files if f.remote):
        first = session.spark.read.text(file.uri()).limit(1).toArrow().column(0).to_pylist()
        lines[file.path] = first[0].lstrip("\ufeff").rstrip("\r") if first else None
    headers = {path: line for path, line in lines.items() if line is not None}
    if not headers:
        raise FtplanError(f"{files[0].path}: the file has no header line")
    first_path, line = next(iter(headers.items()))
    for path, other in headers.items():
        if other != line:
            raise FtplanError(f"{path}: its header differs from that of {first_path}; compute them apart")
    try:
        names = [name.strip() for name in parse_line(line, mapping.delimiter)]
    except csv.Error as error:
        raise FtplanError(f"{first_path}: the header line is no CSV ({error})") from error
    for name in names:
        if names.count(name) > 1 and name in mapping.columns:
            raise FtplanError(f"{first_path}: column {name!r} stands twice in the header")
    return line, names


def _read_jsonl(session: Session, files: Sequence[LogFile], mapping: LogMapping) -> Log:
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(c, StringType()) for c in mapping.columns])
    options = {} if session.kind == "sail" else {"allowSingleQuotes": "false"}
    parsed = F.from_json(F.col("value"), schema, options)
    frame = _lines(session, files).select("file", "value", parsed.alias("parsed"))
    parts = [F.col("parsed").getField(c) for c in mapping.columns]
    nothing = F.coalesce(*parts).isNull()
    broken = F.when(~F.ltrim("value").startswith("{"), 0).when(nothing, 1)
    faults = ("not a JSON object", "not JSON, or without any mapped column")
    return _text_log(frame, parts, broken, faults, mapping, files)


def _read_parquet(session: Session, files: Sequence[LogFile], mapping: LogMapping) -> Log:
    if session.kind == "spark":
        session.spark.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")
    schema = None
    if any(f.remote for f in files):
        types = dict(session.spark.read.parquet(*(f.uri() for f in files)).dtypes)
        for column in mapping.columns:
            if column not in types:
                raise _missing(files[0], column, list(types))
        kinds = [_kind_of_spark(types[c]) for c in mapping.columns]
    else:
        schema, kinds = _parquet_schema(session, files, mapping)

    def read(uris: Sequence[str]) -> Any:
        reader = session.spark.read if schema is None else session.spark.read.schema(schema)
        return reader.parquet(*uris)

    columns = (F.col(_quoted(c)).alias(f"f{i}") for i, c in enumerate(mapping.columns))
    frame = _union(session, files, read).select("file", F.lit(None).cast("int").alias("broken"), *columns)
    raw = F.to_json(F.struct(*(F.col(f"f{i}").cast("string").alias(c) for i, c in enumerate(mapping.columns))))
    return Log(frame, raw, _fields(mapping, kinds), tuple(files))


def _quoted(column: str) -> str:
    return f"`{column.replace('`', '``')}`"


def _parquet_schema(session: Session, files: Sequence[LogFile], mapping: LogMapping) -> tuple[str, list[FieldKind]]:
    """Return the Spark schema to read the mapped columns with, and their kinds, from the files' own schemas."""
    schema: list[str] = []
    kinds: list[FieldKind] = []
    for column in mapping.columns:
        file_of = {}
        for file in files:
            if column not in file.parquet.names:
                raise _missing(file, column, file.parquet.names)
            file_of[_spark_type(session, file, column)] = file
        if len(file_of) > 1:
            (a, first), (b, second) = list(file_of.items())[:2]
            raise FtplanError(
                f"{second.path}: column {column!r} is {b[0]}, but {a[0]} in {first.path}; compute them apart"
            )
        ((spark_type, kind),) = file_of
        schema.append(f"{_quoted(column)} {spark_type}")
        kinds.append(kind)
    return ", ".join(schema), kinds


def _spark_type(session: Session, file: LogFile, column: str) -> tuple[str, FieldKind]:
    import pyarrow.types as t

    type_ = file.parquet.field(column).type
    if t.is_dictionary(type_):
        if session.kind == "sail":
            raise FtplanError(
                f"{file.path}: column {column!r} is a categorical, which Sail cannot read; use --engine spark, "
                "or write it as plain text"
            )
        type_ = type_.value_type
    if t.is_timestamp(type_):
        if type_.unit == "ns":
            return ("timestamp", "timestamp") if session.kind == "sail" else ("bigint", "nanos")
        return ("timestamp_ntz" if type_.tz is None else "timestamp", "timestamp")
    tests: tuple[tuple[Any, str, FieldKind], ...] = (
        (t.is_boolean, "boolean", "other"), (t.is_int8, "tinyint", "int"), (t.is_int16, "smallint", "int"),
        (t.is_uint8, "smallint", "int"), (t.is_uint16, "int", "int"), (t.is_int32, "int", "int"),
        (t.is_uint32, "bigint", "long"), (t.is_int64, "bigint", "long"), (t.is_float32, "float", "real"),
        (t.is_float64, "double", "real"), (t.is_date32, "date", "timestamp"), (t.is_string, "string", "text"),
        (t.is_large_string, "string", "text"),
    )  # fmt: skip
    for test, name, kind in tests:
        if test(type_):
            return name, kind
    if t.is_decimal128(type_):
        return f"decimal({type_.precision},{type_.scale})", "real"
    raise FtplanError(f"{file.path}: column {column!r} is of type {type_}, which holds no key, time or measure")


def _kind_of_spark(name: str) -> FieldKind:
    kinds: dict[str, FieldKind] = {
        "string": "text", "tinyint": "int", "smallint": "int", "int": "int", "bigint": "long", "float": "real",
        "double": "real", "timestamp": "timestamp", "timestamp_ntz": "timestamp", "date": "timestamp",
    }  # fmt: skip
    return kinds.get(name, "real" if name.startswith("decimal") else "other")


def _fields(mapping: LogMapping, kinds: Sequence[Any]) -> dict[str, Field]:
    return {c: Field(c, F.col(f"f{i}"), k) for i, (c, k) in enumerate(zip(mapping.columns, kinds, strict=True))}
