"""Arrow tables of statistics, brought to their schemas and checked, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ftplan.errors import FtplanError, suggestion
from ftplan.model.ranges import MEASURED
from ftplan.model.statistics import TABLES, Column, Manifest, window_numbers

_WHOLE = ("whole numbers", pa.types.is_integer)
#: Of each type of column its name in messages, and the Arrow types that are read as it.
_READABLE: Mapping[str, tuple[Any, ...]] = {
    "string": ("text", pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    "int32": _WHOLE,
    "int64": _WHOLE,
    "double": ("numbers", pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal),
    "timestamp": ("UTC timestamps", pa.types.is_timestamp, pa.types.is_string),
    "bool": ("true or false", pa.types.is_boolean),
}
_RESOLUTIONS = ("key_group", "task", "operator")
_OPERATOR_COLUMNS = ("operator", "from_operator", "to_operator")
_INDEX_COLUMNS = ("key_group", "task", "from_task", "to_task")


def checked_table(table: Any, kind: str, manifest: Manifest, name: str) -> Any:
    """Return a table with exactly the columns of its schema in ``model.statistics``; *name* stands in messages.

    Raises FtplanError for a missing column, a wrong type, an absent, negative or not finite value, an unknown operator
    or resolution, a key group out of range, or a window off the grid or outside the manifest's range.
    """
    columns = {column.name: _typed(table, column, name) for column in TABLES[kind]}
    result = pa.table(columns)
    for column in TABLES[kind]:
        _check_values(result[column.name], column, name)
    _check_windows(result["window_start"], manifest, name)
    for column in TABLES[kind]:
        if column.name in _OPERATOR_COLUMNS:
            _check_among(result[column.name], column.name, list(manifest.operators), "operator", name)
    if kind == "key_groups":
        _check_among(result["resolution"], "resolution", list(_RESOLUTIONS), "resolution", name)
        _check_key_groups(result, manifest, name)
    return result


def _typed(table: Any, column: Column, name: str) -> Any:
    """Return a column in its type; a nullable one that is missing is all null."""
    if column.name not in table.column_names:
        if column.nullable:
            return pa.nulls(table.num_rows, column.arrow)
        near = suggestion(column.name, table.column_names)
        raise FtplanError(f"{name}: column {column.name!r} is missing ({column.meaning}){near}")
    values = table[column.name]
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    expected, *tests = _READABLE[column.type]
    if not any(test(values.type) for test in (pa.types.is_null, *tests)):
        raise FtplanError(f"{name}: column {column.name!r}: expected {expected}, got {values.type}")
    try:
        if column.type == "timestamp" and pa.types.is_timestamp(values.type) and values.type.tz is None:
            values = pc.assume_timezone(values, "UTC")
        return values.cast(column.arrow)
    except (pa.ArrowException, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else "a value does not fit"
        raise FtplanError(f"{name}: column {column.name!r}: expected {expected}: {reason}") from None


def _first(mask: Any) -> int:
    return int(np.argmax(np.asarray(mask)))


def _check_values(values: Any, column: Column, name: str) -> None:
    if values.null_count:
        if not column.nullable:
            row = _first(values.is_null().to_numpy())
            raise FtplanError(f"{name}: column {column.name!r}: row {row}: is empty")
        if values.null_count == len(values):
            return
    if column.type != "double" and column.name not in _INDEX_COLUMNS:
        return
    filled = pc.fill_null(values, 0) if values.null_count else values
    numbers = filled.to_numpy()
    wrong = ~np.isfinite(numbers) | (numbers < 0) if column.type == "double" else numbers < 0
    if wrong.any():
        row = _first(wrong)
        value = numbers[row]
        got = f"must be at least 0, got {value:g}" if np.isfinite(value) else f"must be a finite number, got {value}"
        raise FtplanError(f"{name}: column {column.name!r}: row {row}: {got.replace('nan', 'NaN')}")
    if column.type == "double":
        beyond = (numbers > MEASURED.high) | ((numbers > 0.0) & (numbers < MEASURED.low))
        if beyond.any():
            row = _first(beyond)
            raise FtplanError(f"{name}: column {column.name!r}: row {row}: must be {MEASURED}, got {numbers[row]:g}")


def _time(scalar: Any) -> str:
    """Return an Arrow timestamp as text, also one that Python's calendar does not reach."""
    try:
        text: str = scalar.as_py().isoformat()
    except (OverflowError, ValueError):
        return f"{scalar.value} microseconds after 1970"
    return text.replace("+00:00", "Z")


def _check_windows(window_start: Any, manifest: Manifest, name: str) -> None:
    number, on_grid = window_numbers(window_start, manifest)
    if not on_grid.all():
        row = _first(~on_grid)
        raise FtplanError(
            f"{name}: column 'window_start': row {row}: {_time(window_start[row])} "
            f"is not on the grid of {manifest.window_s:g} s windows"
        )
    outside = (number < 0) | (number >= manifest.windows)
    if outside.any():
        row = _first(outside)
        raise FtplanError(
            f"{name}: column 'window_start': row {row}: {_time(window_start[row])} is outside the "
            f"manifest's range {manifest.start:%Y-%m-%dT%H:%M:%SZ} to {manifest.end:%Y-%m-%dT%H:%M:%SZ}"
        )


def _check_among(values: Any, column: str, known: list[str], what: str, name: str) -> None:
    for value in pc.unique(values).to_pylist():
        if value not in known:
            row = pc.index(values, value).as_py()
            where = "; manifest.json does not list it" if what == "operator" else f"; one of {', '.join(known)}"
            near = suggestion(value, known)
            raise FtplanError(f"{name}: column {column!r}: row {row}: unknown {what} {value!r}{near}{where}")


def _check_key_groups(table: Any, manifest: Manifest, name: str) -> None:
    largest = table.select(["operator", "key_group"]).group_by("operator").aggregate([("key_group", "max")])
    for operator, group in zip(largest["operator"].to_pylist(), largest["key_group_max"].to_pylist(), strict=True):
        count = manifest.operators[operator].key_groups
        if count is not None and group >= count:
            raise FtplanError(
                f"{name}: column 'key_group': {group} is out of range: {operator!r} has {count} key groups "
                f"(0 to {count - 1}) in manifest.json"
            )
