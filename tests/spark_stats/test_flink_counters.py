"""Increases of counters, divided among windows: no record is lost or counted twice."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.engines.flink.counter_rows import COUNTED, MOST_WINDOWS, increases

SECOND = 1_000_000


def readings(rows: list[dict[str, Any]]) -> pa.Table:
    """A table of readings: seconds as ``at`` and ``began``, the same count for everything."""
    columns: dict[str, Any] = {
        "operator": pa.array([row.get("operator", "o") for row in rows]),
        "task": pa.array([row.get("task", 0) for row in rows], pa.int32()),
        "owner": pa.array(["job"] * len(rows)),
        "attempt": pa.array([str(row.get("attempt", 0)) for row in rows]),
        "time_us": pa.array([row["at"] * SECOND for row in rows], pa.int64()),
        "began_us": pa.array([None if row.get("began") is None else row["began"] * SECOND for row in rows], pa.int64()),
        **{name: pa.array([float(row["count"]) for row in rows]) for name in COUNTED},
        "node": pa.array(["h"] * len(rows)),
    }
    columns["busy"] = pa.array([row.get("busy") for row in rows], pa.float64())
    return pa.table(columns)


def counted(rows: list[dict[str, Any]], window_s: int = 60) -> dict[tuple[int, int], float]:
    """Records by (task, window)."""
    table, _ = increases(readings(rows), window_s * SECOND)
    total: dict[tuple[int, int], float] = defaultdict(float)
    for row in table.to_pylist():
        total[row["task"], row["time_us"] // (window_s * SECOND)] += row["records"]
    return {key: pytest.approx(value) for key, value in total.items() if value}


def test_between_two_readings() -> None:
    assert counted([{"at": 30, "count": 100}, {"at": 90, "count": 160}]) == {(0, 0): 30.0, (0, 1): 30.0}


def test_a_single_set_counts_since_the_attempt_began() -> None:
    rows = [{"at": 120, "began": 60, "count": 6, "task": task} for task in (0, 1)]
    assert counted(rows) == {(0, 1): 6.0, (1, 1): 6.0}


def test_the_first_of_several_sets_is_where_counting_begins() -> None:
    assert counted([{"at": 120, "began": 0, "count": 600}, {"at": 180, "began": 0, "count": 660}]) == {(0, 2): 60.0}


def test_a_new_attempt_counts_since_it_began() -> None:
    rows = [{"at": 60, "began": 0, "count": 600}, {"at": 180, "began": 150, "count": 30, "attempt": 1}]
    assert counted(rows) == {(0, 2): 30.0}
    # A reporter does not say when: after what was last heard of the one before.
    rows = [{"at": 60, "count": 600}, {"at": 180, "count": 30, "attempt": 1}]
    assert counted(rows) == {(0, 1): 15.0, (0, 2): 15.0}


def test_a_task_that_moved_counts_on() -> None:
    rows = [{"at": 60, "began": 0, "count": 5}, {"at": 120, "began": 0, "count": 5}]
    rows += [{"at": 120, "began": 90, "count": 7, "attempt": 1, "task": 2}]
    assert counted(rows) == {(2, 1): 7.0}


def test_busy_time_that_is_not_known() -> None:
    table, _ = increases(readings([{"at": 0, "count": 1, "busy": 5.0}, {"at": 60, "count": 2}]), 60 * SECOND)
    assert table["busy"].to_pylist() == [None]


def test_a_long_time_is_written_into_the_last_windows() -> None:
    table, warnings = increases(readings([{"at": 10**7, "began": 0, "count": 10**7}]), 60 * SECOND)
    assert [warning.code for warning in warnings] == ["MEAN_OF_LONG_TIME"]
    assert table.num_rows <= MOST_WINDOWS + 1
    assert sum(table["records"].to_pylist()) == pytest.approx(MOST_WINDOWS * 60.0)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 400), st.integers(0, 9)), min_size=2, max_size=30))
def test_no_record_is_lost_or_counted_twice(steps: list[tuple[int, int, int]]) -> None:
    """Held to a loop over the readings of each task: counters grow, and begin again where an attempt does."""
    state: dict[int, tuple[int, int, int]] = {}
    rows, expected = [], 0
    clock = 0
    for task, seconds, more in steps:
        clock += seconds
        _, count, attempt = state.get(task, (0, 0, 0))
        if more == 9:
            attempt, count = attempt + 1, 4
            expected += 4 * (task in state)
        else:
            count += more
            expected += more * (task in state)
        state[task] = (clock, count, attempt)
        rows.append({"at": clock, "count": count, "attempt": attempt, "task": task})
    if len({row["task"] for row in rows}) == len(rows):
        return
    table, _ = increases(readings(rows), 60 * SECOND)
    assert sum(table["records"].to_pylist()) == pytest.approx(expected)
    assert sum(table["records_out"].to_pylist()) == pytest.approx(expected)
