"""Tables of numbers, CSV or Parquet, whose columns people call as they like: recoveries, curves, rates over time.

And what any source of recoveries holds, and how it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import display_name
from ftplan.model.plan import InputFile, Warn
from ftplan.model.ranges import Range
from ftplan.model.recovery_costs import Curve, MeasuredRecovery
from ftplan.model.topology import FloatArray


class ReadingOptions(NamedTuple):
    """How recoveries are read."""

    columns: Mapping[str, str] = {}  # role of a column, such as ``recovery`` or ``lag``, and what it is called
    interval_s: float | None = None  # seconds between checkpoints where a source does not say


class RecoveryReading(NamedTuple):
    """What a source holds: recoveries, or curves in which they are to be found; and what was left out."""

    recoveries: tuple[MeasuredRecovery, ...] = ()
    curves: tuple[Curve, ...] = ()
    warnings: tuple[Warn, ...] = ()
    inputs: tuple[InputFile, ...] = ()


def joined(readings: Iterable[RecoveryReading]) -> RecoveryReading:
    """Return several readings as one."""
    listed = list(readings)
    return RecoveryReading(
        tuple(item for one in listed for item in one.recoveries),
        tuple(item for one in listed for item in one.curves),
        tuple(item for one in listed for item in one.warnings),
        tuple(item for one in listed for item in one.inputs),
    )


#: What the names of files with tables end in.
ENDINGS = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
#: Role of a column, and what it is called where nobody says; the first that is there counts. Names that end in _ms
#: are in milliseconds.
NAMES: Mapping[str, tuple[str, ...]] = {
    "recovery": ("recovery_s", "recovery_time_s", "recovery_ms", "recovery_time_ms", "recovery", "recovery_time"),
    "rate": ("records_s", "records_per_s", "records_per_second", "rate", "input_rate"),
    "interval": ("checkpoint_interval_s", "checkpoint_interval_ms", "interval_s", "interval_ms", "checkpoint_interval"),
    "bytes": ("state_bytes", "restored_bytes", "restored_state_bytes", "state_size_bytes"),
    "detection": ("detection_s", "detection_ms"),
    "restart": ("restart_s", "restart_ms"),
    "transfer": ("transfer_s", "transfer_ms", "download_s", "download_ms"),
    "stopped": ("stopped_s", "stopped_ms", "down_s", "down_ms", "downtime_s", "downtime_ms"),
    "replayed": ("replayed_s", "replayed_ms", "since_checkpoint_s", "since_checkpoint_ms"),
    "capacity": ("capacity_records_s", "capacity"),
    "time": ("time", "timestamp", "second", "time_s", "timestamp_ms", "ts"),
    "throughput": ("throughput_records_s", "throughput", "records_s", "records_per_s", "records_per_second"),
    "lag": ("consumer_lag_records", "consumer_lag", "lag_records", "lag", "records_lag_max"),
    "latency": ("latency_ms", "latency_s", "latency"),
}


def load_rates(path: str) -> tuple[str, dict[str, FloatArray]]:
    """Read the columns ``time_s`` and ``rate`` of a table, CSV or Parquet; return them with the name of the file.

    Raises
    ------
    FtplanError
        If it cannot be read, or lacks one of them.
    """
    import pandas as pd

    name, frame = display_name(path), read_table(Path(path))
    for column in ("time_s", "rate"):
        if column not in frame:
            raise FtplanError(f"{name}: there is no column {column!r}; there are {', '.join(frame.columns)}")
    values = {column: pd.to_numeric(frame[column], errors="coerce") for column in ("time_s", "rate")}
    return name, {column: value.to_numpy(dtype="float64") for column, value in values.items()}


def is_table(path: Path) -> bool:
    """Return whether the name of a file ends as that of a table does."""
    return path.name.lower().endswith(ENDINGS)


def header(path: Path) -> list[str]:
    """Return the names of a table's columns.

    Raises
    ------
    FtplanError
        If it cannot be read.
    """
    return [str(name) for name in _frame(path, rows=0).columns]


def read_table(path: Path) -> Any:
    """Return a table as a data frame of at least one row.

    Raises
    ------
    FtplanError
        If it cannot be read, or is empty.
    """
    frame = _frame(path)
    frame.columns = [str(name) for name in frame.columns]
    if frame.empty:
        raise FtplanError(f"{display_name(path)}: holds no rows")
    return frame


def _frame(path: Path, rows: int | None = None) -> Any:
    import pandas as pd

    name = display_name(path)
    try:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            return pq.read_schema(path).empty_table().to_pandas() if rows == 0 else pq.read_table(path).to_pandas()
        separator = "\t" if ".tsv" in path.name.lower() else ","
        frame = pd.read_csv(path, sep=separator, skipinitialspace=True, nrows=rows, index_col=False)
    except (OSError, ValueError, ImportError, EOFError, OverflowError) as error:  # those of the parsers are among them
        raise FtplanError(f"{name}: cannot be read as a table: {(str(error).splitlines() or [''])[0]}") from None
    return frame


def column_of(role: str, known: Sequence[str], options: ReadingOptions, name: str) -> str | None:
    """Return what the column of a role is called in a table, None where it has none.

    Raises
    ------
    FtplanError
        If an option names one that is not there.
    """
    if role in options.columns:
        asked = options.columns[role]
        if asked not in known:
            listed = ", ".join(known)
            raise FtplanError(f"{name}: there is no column {asked!r}{suggestion(asked, known)}; there are {listed}")
        return asked
    return next((column for column in NAMES[role] if column in known), None)


def numbers(frame: Any, column: str, allowed: Range, name: str) -> FloatArray:
    """Return a column as numbers, NaN where it is empty; milliseconds become seconds.

    Raises
    ------
    FtplanError
        For the first value that is no number, or outside the range.
    """
    import pandas as pd

    values = pd.to_numeric(frame[column], errors="coerce")
    wrong = np.flatnonzero(values.isna() & frame[column].notna())
    wrong = wrong[[str(frame[column].iloc[row]).strip() != "" for row in wrong.tolist()]] if len(wrong) else wrong
    if len(wrong):
        row = int(wrong[0])
        raise FtplanError(f"{name}: column {column!r}: row {row}: {str(frame[column].iloc[row])!r} is no number")
    taken: FloatArray = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.lower().endswith("_ms") and not column.lower().startswith("latency"):
        taken = taken / 1000.0
    known = np.isfinite(taken)
    held = (taken >= allowed.low) & (taken <= allowed.high) | (allowed.zero & (taken == 0.0))
    bad = (known & ~held) | np.isinf(taken)
    if bad.any():
        row = int(np.argmax(bad))
        raise FtplanError(f"{name}: column {column!r}: row {row}: must be {allowed}, got {taken[row]:g}")
    return taken
