"""Rows of statistics: series over windows as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ftplan.errors import FtplanError
from ftplan.generators.knobs import StatsKnobs
from ftplan.model.ranges import MEASURED
from ftplan.model.statistics import TABLES
from ftplan.model.topology import FloatArray, IntArray

#: The first window begins here, or just before, where windows do not divide the time since 1970: 2026-01-01.
START_S = 1_767_225_600


def rows_of(
    knobs: StatsKnobs, kind: str, names: Mapping[str, str], numbers: Mapping[str, IntArray],
    columns: Mapping[str, FloatArray],
) -> Any:  # fmt: skip
    """Return the rows of one operator (or pair of operators): series by series, windows without any record left out.

    *columns* have shape (windows, series).
    """
    window_us, start_us = grid(knobs)
    values = {name: _held(name, column.T.ravel()) for name, column in columns.items()}
    records = [values[name] for name in ("records", "records_in", "records_out") if name in values]
    kept = np.flatnonzero(np.any(records, axis=0))
    filled: dict[str, Any] = {}
    for name, text in names.items():
        filled[name] = pa.array([text]).take(pa.array(np.zeros(len(kept), dtype=np.int32)))
    for name, number in numbers.items():
        filled[name] = pa.array(number[kept // knobs.windows].astype(np.int32))
    starts = start_us + window_us * (kept % knobs.windows)
    filled["window_start"] = pa.array(starts, pa.timestamp("us", tz="UTC"))
    filled |= {name: pa.array(column[kept]) for name, column in values.items()}
    if kind == "key_groups":
        filled["resolution"] = pa.array(["key_group"]).take(pa.array(np.zeros(len(kept), dtype=np.int32)))
        filled["estimated"] = pa.array(np.zeros(len(kept), dtype=np.bool_))
    return pa.table({c.name: filled.get(c.name, pa.nulls(len(kept), c.arrow)) for c in TABLES[kind]})


def _held(name: str, values: FloatArray) -> FloatArray:
    """Return values that files may hold; what is smaller is 0, what is larger refused."""
    most = float(values.max(initial=0.0))
    if most > MEASURED.high:
        raise FtplanError(
            f"{name}: {most:g} in a window is more than {MEASURED.high:g}: shorten --window, or less of it"
        )
    return np.where(values >= MEASURED.low, values, 0.0)


def joined(kind: str, parts: list[Any]) -> Any:
    """Return the table of a kind whose rows come in parts."""
    empty = pa.table({column.name: pa.nulls(0, column.arrow) for column in TABLES[kind]})
    return pa.concat_tables([empty, *parts]).combine_chunks()


def grid(knobs: StatsKnobs) -> tuple[int, int]:
    """Return the length of a window and the start of the first, in microseconds."""
    window_us = round(knobs.window_s * 1e6)
    return window_us, START_S * 1_000_000 // window_us * window_us
