"""Records by key: a table of operator, key and records, from Parquet, CSV or Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import display_name, read_bytes, recorded_path, sha256_of_bytes
from ftplan.io.sentences import first_line
from ftplan.io.stats_store import arrow_table, sha256_of_table
from ftplan.model.plan import InputFile

COLUMNS = ("operator", "key", "records")
_MAGIC = b"PAR1"


class KeyedRecords(NamedTuple):
    """The keys of one operator, an Arrow array of texts or whole numbers, (n,), and records of each, (n,) of double."""

    keys: Any
    records: Any


class KeyLog(NamedTuple):
    """Records by key of each operator, and the fingerprint of the file."""

    by_operator: Mapping[str, KeyedRecords]
    input: InputFile


def load_key_log(source: Any) -> KeyLog:
    """Read and check a key log from a path, or an Arrow table or frame.

    Columns are ``operator``, ``key`` and ``records``, others are ignored. Keys are text in CSV, and text or whole
    numbers elsewhere: the type matters to their hashes. The same key may come several times.

    Raises FtplanError if the file cannot be read, a column is missing or of another type, or records are missing or
    negative.
    """
    path = isinstance(source, (str, Path))
    name, data = (display_name(source), read_bytes(source, "key log")) if path else ("key log", b"")
    try:
        table = _checked(_parsed(data, name) if path else arrow_table(source, name), name)
        digest = sha256_of_bytes(data) if path else sha256_of_table(table)
        file = InputFile("key_log", recorded_path(source) if path else None, digest)
        return KeyLog(_by_operator(table, name), file)
    except (pa.ArrowException, UnicodeError) as error:  # Arrow looks into text only when it is used
        raise FtplanError(f"{name}: {first_line(error)}") from None


def _parsed(data: bytes, name: str) -> Any:
    if not data:
        raise FtplanError(f"{name}: is empty; expected a table with the columns {', '.join(COLUMNS)}")
    try:
        if data.startswith(_MAGIC):
            return pq.read_table(pa.BufferReader(data))
        texts = {name: pa.string() for name in ("operator", "key")}
        convert = pyarrow.csv.ConvertOptions(column_types=texts, strings_can_be_null=False)
        return pyarrow.csv.read_csv(pa.BufferReader(data), convert_options=convert)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise FtplanError(f"{name}: is no readable Parquet or CSV file: {first_line(error)}") from None


def _checked(table: Any, name: str) -> Any:
    for column in COLUMNS:
        if column not in table.column_names:
            near = suggestion(column, table.column_names)
            raise FtplanError(f"{name}: has no column {column!r}{near}; expected {', '.join(COLUMNS)}")
    operator, key, records = (table.column(column).combine_chunks() for column in COLUMNS)
    if pa.types.is_dictionary(key.type):
        key = key.dictionary_decode()
    if not (_is_text(key.type) or pa.types.is_integer(key.type)):
        raise FtplanError(f"{name}: key: is of type {key.type}; expected text or whole numbers")
    operator = _cast(operator, pa.string(), f"{name}: operator")
    records = _cast(records, pa.float64(), f"{name}: records")
    key = _cast(key, _key_type(key.type), f"{name}: key")
    wrong = pc.fill_null(pc.invert(pc.and_(pc.greater_equal(records, 0.0), pc.is_finite(records))), True)
    if pc.any(wrong).as_py():
        row = pc.index(wrong, True).as_py()
        raise FtplanError(f"{name}: row {row + 1}: records: is {records[row].as_py()}; expected a number from 0 up")
    return pa.table({"operator": operator, "key": key, "records": records})


def _by_operator(table: Any, name: str) -> dict[str, KeyedRecords]:
    table = table.filter(pc.and_(pc.is_valid(table["operator"]), pc.is_valid(table["key"])))
    if not table.num_rows:
        raise FtplanError(f"{name}: has no rows with an operator and a key")
    known = {}
    for operator in sorted(pc.unique(table["operator"]).to_pylist()):
        mine = table.filter(pc.equal(table["operator"], operator)).combine_chunks()
        known[operator] = KeyedRecords(mine["key"].combine_chunks(), mine["records"].combine_chunks())
    return known


def _cast(values: Any, kind: Any, what: str) -> Any:
    try:
        return values.cast(kind)
    except pa.ArrowException as error:
        raise FtplanError(f"{what}: {first_line(error)}") from None


def _key_type(kind: Any) -> Any:
    """Return the type of keys as Spark reads them: numbers of 32 bits where they fit, else of 64."""
    if _is_text(kind):
        return pa.string()
    return pa.int32() if kind.bit_width < 32 or pa.types.is_int32(kind) else pa.int64()


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
