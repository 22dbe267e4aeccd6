"""From readings of Flink's counters to what was counted in each window: alike for REST answers and reporter logs.

A counter begins at 0 with each attempt of a subtask. What was counted between two readings of one attempt is their
difference; of an attempt's first reading, all of it, if the attempt began within the log. What an attempt counted after
its last reading is lost. An increase over several windows is divided among them by time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ftplan.model.plan import Warn

#: Windows that the mean since a job began is written into at most, the last ones: a day of minutes.
MOST_WINDOWS = 1440

COUNTED = ("records", "records_out", "bytes", "busy")

_Floats = npt.NDArray[np.float64]


def increases(readings: pa.Table, window_us: int) -> tuple[pa.Table, list[Warn]]:
    """Return rows of :data:`~ftplan.engines.log_rows.COLUMNS`, and what to know about them.

    *readings*: ``operator`` (text), ``task`` (int32), ``owner`` (text, tells jobs or processes with the same tasks
    apart), ``attempt`` (text), ``time_us`` (int64), ``began_us`` (int64, when the attempt did, null where unknown),
    :data:`COUNTED` (double, null where unknown; ``records`` and ``records_out`` are known), ``node`` (text).
    """
    keys = [_codes(readings[name]) for name in ("operator", "task", "owner")]
    time = readings["time_us"].to_numpy()
    order = np.lexsort((time, *keys))
    readings, time = readings.take(pa.array(order)), time[order]
    again = np.zeros(time.size, np.bool_)
    again[1:] = np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0)
    attempt = _codes(readings["attempt"])
    began = readings["began_us"].fill_null(-1).to_numpy()
    values: dict[str, _Floats] = {n: readings[n].fill_null(np.nan).to_numpy(zero_copy_only=False) for n in COUNTED}
    goes_on = again.copy()
    goes_on[1:] &= attempt[1:] == attempt[:-1]
    for name in ("records", "records_out"):
        goes_on[1:] &= values[name][1:] >= values[name][:-1]
    # Of a new attempt without a beginning (a reporter's log), it lies after the last reading of the one before.
    since = np.where(goes_on | (again & (began < 0)), _before(time), began)
    since = np.where(again & ~goes_on, np.maximum(since, _before(time)), since)
    single_set = not again.any()
    within = began >= (0 if single_set else time.min())
    counts = (again | within) & (since >= 0) & (since < time)
    rows = np.flatnonzero(counts)
    base = {name: np.where(goes_on, _before(value), 0.0) for name, value in values.items()}
    grown = {name: (value - base[name])[rows] for name, value in values.items()}
    grown["busy"] = np.where(grown["busy"] < 0, np.nan, grown["busy"])
    return _by_window(readings.take(pa.array(rows)), since[rows], time[rows], grown, window_us)


def _by_window(
    readings: pa.Table,
    since: npt.NDArray[np.int64],
    until: npt.NDArray[np.int64],
    grown: dict[str, _Floats],
    window_us: int,
) -> tuple[pa.Table, list[Warn]]:
    """Return a row for each window that an increase touches, with its part by time."""
    warnings = []
    longest = MOST_WINDOWS * window_us
    start = np.maximum(since, until - longest)
    if np.any(start > since):
        days = (until - since).max() / 86_400e6
        text = f"counters since up to {days:.1f} days ago: their mean is written into the last {MOST_WINDOWS:,} windows"
        warnings.append(Warn("MEAN_OF_LONG_TIME", text))
    first, last = start // window_us, (until - 1) // window_us
    count = last - first + 1
    row = np.repeat(np.arange(start.size), count)
    within = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    window = first[row] + within
    begin = np.maximum(start[row], window * window_us)
    end = np.minimum(until[row], (window + 1) * window_us)
    share = (end - begin) / (until - since)[row]
    columns: dict[str, Any] = {
        "time_us": pa.array(begin),
        "operator": readings["operator"].take(pa.array(row)),
        "task": readings["task"].take(pa.array(row)),
        **{name: pa.array(value[row] * share, pa.float64(), from_pandas=True) for name, value in grown.items()},
        "state": pa.nulls(row.size, pa.float64()),
        "node": readings["node"].take(pa.array(row)),
    }
    return pa.table(columns), warnings


def state_rows(states: pa.Table) -> pa.Table:
    """Return rows for bytes of state: ``operator``, ``task``, ``time_us`` and ``state``, each as in the table given."""
    size = states.num_rows
    counted = {name: pa.nulls(size, pa.float64()) for name in COUNTED if name != "records"}
    columns: dict[str, Any] = {name: states[name] for name in ("time_us", "operator", "task")}
    columns |= {"records": pa.array(np.zeros(size)), **counted, "state": states["state"]}
    return pa.table(columns | {"node": pa.nulls(size, pa.string())})


def _before(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return each row's value in the row before, its own in the first."""
    return np.concatenate((values[:1], values[:-1]))


def _codes(column: Any) -> npt.NDArray[np.int64]:
    """Return numbers that are equal where the column is."""
    return column.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
