"""Tables of rates over time."""

from __future__ import annotations

from pathlib import Path

from ftplan.costs.recoveries.tables import read_table
from ftplan.errors import FtplanError
from ftplan.io.documents import display_name
from ftplan.model.topology import FloatArray


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
