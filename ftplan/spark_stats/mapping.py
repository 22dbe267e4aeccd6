"""How the columns of a log become operators, keys, windows and measures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

from ftplan.errors import FtplanError, suggestion
from ftplan.model.names import is_id
from ftplan.model.statistics import EPOCH, KEY_HASHES
from ftplan.spark_stats.log_formats import NAMED_COLUMNS, engine_formats, input_formats
from ftplan.spark_stats.patterns import log_pattern
from ftplan.spark_stats.time_formats import is_strptime, strptime_format

KeyType = Literal["auto", "string", "long", "int"]

#: Fields of the mapping that an engine's log leaves to the user.
FREE_WITH_ENGINES = (
    "time_from", "time_to", "window_s", "key_groups", "operator_key_groups", "input_format", "max_rejects",
    "max_kept_rejects", "snapshot_time", "application_id", "stores",
)  # fmt: skip
#: Fields that belong to single formats of engines, as these say.
_OF_FORMATS = ("snapshot_time", "application_id")
KEY_TYPES: tuple[str, ...] = get_args(KeyType)
EPOCH_UNITS_US = {"epoch-s": 1_000_000.0, "epoch-ms": 1_000.0, "epoch-us": 1.0}
#: Time columns without a format: date and time of day; year, month, day, and more down to the second.
MOST_TIME_COLUMNS = 6
#: Largest number of key groups of one operator: what a 32-bit engine can name.
MOST_KEY_GROUPS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class LogMapping:
    """What each column of the log means.

    A record counts for ``operator`` (a constant) or for the operator that ``operator_column`` names, keyed by
    ``key_columns``, and once more for each operator in ``keys``, keyed by the columns given there. Several columns of
    one key are joined. Units: ``cpu`` and ``busy`` columns hold milliseconds, ``bytes``, ``memory`` and ``state``
    columns bytes, ``queue`` records. ``max_rejects`` is a share of the rows read. ``pattern`` is a regular expression
    of Python whose named groups are the columns of a text log; ``year`` that of times without one. Of kafka-log-dirs
    ``snapshot_time`` is when it ran, ``application_id`` whose changelogs count, ``stores`` the operator of each store.

    Raises
    ------
    FtplanError
        If the mapping contradicts itself or lacks a part; the message names the option.
    """

    time_columns: tuple[str, ...] = ()
    time_format: str | None = None
    time_from: datetime | None = None
    time_to: datetime | None = None
    year: int | None = None
    snapshot_time: datetime | None = None
    application_id: str | None = None
    stores: tuple[tuple[str, str], ...] = ()
    window_s: float = 60.0
    operator: str | None = None
    operator_column: str | None = None
    key_columns: tuple[str, ...] = ()
    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    key_groups: int | None = None
    operator_key_groups: tuple[tuple[str, int], ...] = ()
    key_hash: str = "xxhash64"
    key_type: KeyType = "auto"
    records_column: str | None = None
    records_out_column: str | None = None
    bytes_column: str | None = None
    cpu_column: str | None = None
    busy_column: str | None = None
    memory_column: str | None = None
    queue_column: str | None = None
    state_column: str | None = None
    node_column: str | None = None
    task_column: str | None = None
    upstream_task_column: str | None = None
    upstream_operator: str | None = None
    upstream_operator_column: str | None = None
    input_format: str = "auto"
    pattern: str | None = None
    delimiter: str = ","
    csv_columns: tuple[str, ...] = ()
    max_rejects: float = 0.01
    max_kept_rejects: int = 10_000

    def __post_init__(self) -> None:
        for check in (_check_time, _check_operators, _check_keys, _check_tasks, _check_reading):
            check(self)

    @property
    def window_us(self) -> int:
        """Length of a window in microseconds."""
        return round(self.window_s * 1_000_000)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of the log that is needed, each once, in a fixed order."""
        named = [*self.time_columns, *self.key_columns, *(c for _, columns in self.keys for c in columns)]
        single = (getattr(self, f.name) for f in fields(self) if f.name.endswith("_column"))
        return tuple(dict.fromkeys([*named, *(c for c in single if c is not None)]))

    @property
    def from_engine(self) -> bool:
        """Whether the log is an engine's own, whose columns its reader fills in."""
        return self.input_format not in NAMED_COLUMNS

    @property
    def has_main(self) -> bool:
        """Whether a record counts for an operator beside those in ``keys``."""
        return self.operator is not None or self.operator_column is not None


def _check_time(m: LogMapping) -> None:
    if not m.time_columns and not m.from_engine:
        raise FtplanError("--time-column is missing: name the column (or, repeated, the columns) that hold the time")
    if not math.isfinite(m.window_s) or m.window_s < 0.001:
        raise FtplanError(f"--window: {m.window_s:g} s is too short; windows last at least one millisecond")
    if abs(m.window_s * 1000 - round(m.window_s * 1000)) > 1e-6:
        raise FtplanError(f"--window: {m.window_s!r} s is not a whole number of milliseconds")
    if len(m.time_columns) > 1 and (m.time_format in EPOCH_UNITS_US):
        raise FtplanError(f"--time-format {m.time_format} takes one --time-column, not {len(m.time_columns)}")
    if len(m.time_columns) > MOST_TIME_COLUMNS and m.time_format in (None, "iso"):
        raise FtplanError(f"--time-column: {len(m.time_columns)} columns have no known shape; give a --time-format")
    if m.time_format is not None and m.time_format.startswith("epoch") and m.time_format not in EPOCH_UNITS_US:
        raise FtplanError(f"--time-format: unknown unit {m.time_format!r}{suggestion(m.time_format, EPOCH_UNITS_US)}")
    if m.time_format is not None and is_strptime(m.time_format):
        strptime_format(m.time_format)
    if m.year is not None and not 1 <= m.year <= 9999:
        raise FtplanError(f"--year: {m.year} is not between 1 and 9999")
    for option, value in (("--from", m.time_from), ("--to", m.time_to), ("--snapshot-time", m.snapshot_time)):
        if value is not None and value.tzinfo is None:
            raise FtplanError(f"{option}: {value.isoformat()} has no time zone; append Z for UTC")
    if m.time_from is not None and m.time_to is not None and m.time_from >= m.time_to:
        raise FtplanError(f"--to: {iso(m.time_to)} is not after --from {iso(m.time_from)}")


def _check_operators(m: LogMapping) -> None:
    if m.operator is not None and m.operator_column is not None:
        raise FtplanError("--operator and --operator-column exclude each other: give the constant or the column")
    if not m.has_main and not m.keys and not m.from_engine:
        raise FtplanError("no operator: give --operator NAME, --operator-column COLUMN or --key OPERATOR=COLUMN")
    if m.key_columns and not m.has_main:
        raise FtplanError("--key-column needs --operator or --operator-column; or use --key OPERATOR=COLUMN")
    named = [o for o in (m.operator, *(o for o, _ in m.keys)) if o is not None]
    for operator in (*named, *([m.upstream_operator] if m.upstream_operator is not None else [])):
        if not is_id(operator):
            raise FtplanError(f"operator {operator!r} is no identifier (letters, digits, '.', '_', '-')")
    for operator in _repeated(named):
        raise FtplanError(f"--key: operator {operator!r} is named twice; join its columns as {operator}=A,B")


def _check_keys(m: LogMapping) -> None:
    for operator, columns in m.keys:
        if not columns:
            raise FtplanError(f"--key {operator}=: no column is named")
    if m.key_hash not in KEY_HASHES:
        raise FtplanError(f"--key-hash: unknown hash {m.key_hash!r}{suggestion(m.key_hash, KEY_HASHES)}")
    if m.key_type not in KEY_TYPES:
        raise FtplanError(f"--key-type: unknown type {m.key_type!r}; use one of {', '.join(KEY_TYPES)}")
    several = any(len(columns) > 1 for columns in (m.key_columns, *(c for _, c in m.keys)))
    if several and (m.key_hash == "identity" or m.key_type in ("long", "int")):
        option = "--key-hash identity" if m.key_hash == "identity" else f"--key-type {m.key_type}"
        raise FtplanError(f"--key-column: {option} takes one key column, several are joined as text")
    for operator, count in (("", m.key_groups), *m.operator_key_groups):
        if count is not None and not 1 <= count <= MOST_KEY_GROUPS:
            of = f" of {operator}" if operator else ""
            raise FtplanError(f"--key-groups{of}: {count} is not between 1 and {MOST_KEY_GROUPS}")
    for operator in _repeated(o for o, _ in m.operator_key_groups):
        raise FtplanError(f"--key-groups: operator {operator!r} is given twice")


def _check_tasks(m: LogMapping) -> None:
    for name in ("busy", "memory", "queue", "records_out"):
        if getattr(m, f"{name}_column") is not None and m.task_column is None:
            raise FtplanError(f"--{name.replace('_', '-')}-column is a measure of tasks: it needs --task-column")
    for option, value in (("--task-column", m.task_column), ("--node-column", m.node_column)):
        if value is not None and not m.has_main:
            raise FtplanError(f"{option} needs --operator or --operator-column, to know whose it is")
    if m.upstream_task_column is not None and m.task_column is None:
        raise FtplanError("--upstream-task-column needs --task-column: a substream has a task at each end")
    if m.upstream_operator is not None and m.upstream_operator_column is not None:
        raise FtplanError("--upstream-operator and --upstream-operator-column exclude each other")
    if m.upstream_task_column is None and (m.upstream_operator or m.upstream_operator_column):
        raise FtplanError("--upstream-operator needs --upstream-task-column")


def _check_reading(m: LogMapping) -> None:
    if m.from_engine and m.input_format not in engine_formats():
        raise FtplanError(
            f"--input-format: unknown format {m.input_format!r}{suggestion(m.input_format, input_formats())}"
        )
    for name in _OF_FORMATS:
        if getattr(m, name) is not None:
            able = [row.name for row in engine_formats().values() if name in row.options]
            if m.input_format not in able:
                raise FtplanError(f"--{name.replace('_', '-')} is for --input-format {' and '.join(able)}")
    if (m.input_format == "regex") != (m.pattern is not None):
        problem = (
            "--input-format regex needs --pattern" if m.pattern is None else "--pattern is for --input-format regex"
        )
        raise FtplanError(f"{problem}: a regular expression with a named group for each column, such as (?P<host>\\S+)")
    if m.pattern is not None:
        groups = log_pattern(m.pattern).names
        for column in m.columns:
            if column not in groups:
                near = suggestion(column, groups) or f"; it has {', '.join(groups)}"
                raise FtplanError(f"--pattern: no group {column!r}{near}")
    if len(m.delimiter) != 1 or m.delimiter in '"\r\n':
        raise FtplanError(f"--delimiter: {m.delimiter!r} is not one character that can part fields")
    if not 0 <= m.max_rejects <= 1:
        raise FtplanError(f"--max-rejects: {m.max_rejects!r} is no share between 0 and 1")
    if m.max_kept_rejects < 0:
        raise FtplanError(f"--max-kept-rejects: {m.max_kept_rejects} is negative")


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [n for n in names if n in seen or seen.add(n)]  # type: ignore[func-returns-value]


def iso(moment: datetime) -> str:
    """Return the moment as ISO text in UTC, ``2011-01-01T00:00:00Z``."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def micros(moment: datetime) -> int:
    """Return microseconds since the epoch."""
    return (moment - EPOCH) // timedelta(microseconds=1)
