"""Failure logs: which node failed when, one failure a row."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import display_name
from ftplan.io.fingerprint import sha256_of_file
from ftplan.model.topology import FloatArray


@dataclass(frozen=True, eq=False)
class FailureLog:
    """Failures in the order of the log: seconds since the epoch (or since whatever the log counts from), and names.

    ``zone`` is what nodes share that fail together; the empty text where the log does not say.
    """

    time_s: FloatArray
    node: Sequence[str]
    zone: Sequence[str]
    sha256: str


def read_failure_log(path: str | os.PathLike[str], *, time: str, node: str, zone: str | None = None) -> FailureLog:
    """Read a failure log, Parquet where its name ends so, else CSV (also compressed, as its name says).

    Parameters
    ----------
    time, node, zone
        What the columns are called. Times are ISO 8601 (UTC where they do not say) or seconds.

    Raises
    ------
    FtplanError
        If the file cannot be read, a column is missing, a value is empty or no time, or there are no rows.
    """
    import pandas as pd

    name = display_name(path)
    if not os.path.isfile(path):
        known = [entry.name for entry in Path(path).parent.iterdir()] if os.path.isdir(Path(path).parent) else []
        raise FtplanError(f"{name}: no such failure log{suggestion(Path(path).name, known)}")
    wanted = [column for column in (time, node, zone) if column is not None]
    texts = {column: str for column in wanted if column != time}
    try:
        if Path(path).suffix == ".parquet":
            frame = pd.read_parquet(path)
        else:
            frame = pd.read_csv(path, dtype=texts, skipinitialspace=True)
    except (OSError, ValueError, ImportError) as error:  # those of the parsers are among them
        raise FtplanError(f"{name}: cannot be read as a failure log: {(str(error).splitlines() or [''])[0]}") from None
    for column in wanted:
        if column not in frame.columns:
            known = [str(item) for item in frame.columns]
            near = suggestion(column, known)
            raise FtplanError(f"{name}: there is no column {column!r}{near}; there are {', '.join(known)}")
        if frame[column].isna().any():
            raise FtplanError(f"{name}: column {column!r}: row {int(frame[column].isna().argmax())}: is empty")
    if frame.empty:
        raise FtplanError(f"{name}: holds no failure")
    return FailureLog(
        _seconds(frame[time], name),
        [str(value) for value in frame[node]],
        [""] * len(frame) if zone is None else [str(value) for value in frame[zone]],
        sha256_of_file(Path(path)),
    )


def _seconds(values: Any, name: str) -> FloatArray:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(values):
        seconds = np.asarray(values, dtype=np.float64)
    else:
        times = pd.to_datetime(values, utc=True, errors="coerce", format="ISO8601")
        if times.isna().any():
            row = int(times.isna().argmax())
            raise FtplanError(f"{name}: column {values.name!r}: row {row}: {values.iloc[row]!r} is no time")
        seconds = np.asarray((times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1), dtype=np.float64)
    if not np.isfinite(seconds).all():
        raise FtplanError(f"{name}: column {values.name!r}: holds a time that is not finite")
    return seconds
