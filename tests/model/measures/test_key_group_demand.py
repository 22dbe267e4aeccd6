"""Loads by demand, and what a record takes and weighs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.model.measures.key_group_demand import demand, queue_lengths, record_bytes, record_times
from ftplan.model.measures.key_group_series import of_operators
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import EPOCH, KeyGroupSeries, Manifest
from tests.topologies import operator

ROWS = st.integers(1, 4).flatmap(
    lambda groups: st.lists(st.lists(st.floats(0, 1e6), min_size=groups, max_size=groups), max_size=6).map(
        lambda rows: np.array(rows, dtype=np.float64).reshape(len(rows), groups)
    )
)


def series(loads: Any, sizes: tuple[int, ...] | None = None) -> KeyGroupSeries:
    """Return a series of operators a, b, … with so many groups each, in windows of 10 s."""
    loads = np.array(loads, dtype=np.float64)
    sizes = (loads.shape[1],) if sizes is None else sizes
    return KeyGroupSeries(
        operators=tuple("abc"[: len(sizes)]),
        operator=np.repeat(np.arange(len(sizes)), sizes),
        key_group=np.concatenate([np.arange(size) for size in sizes]),
        loads=loads,
        measure="records",
        window_s=10.0,
        state_bytes=np.arange(float(sum(sizes))),
        estimated=np.zeros(sum(sizes), dtype=np.bool_),
    )


def stats(key_groups: list[dict[str, Any]], tasks: list[dict[str, Any]] | None = None) -> StatsTables:
    """Return statistics of these rows."""

    def table(rows: list[dict[str, Any]], *columns: str) -> pa.Table:
        names = pa.array([row["operator"] for row in rows], pa.string())
        numbers = {column: pa.array([row.get(column) for row in rows], pa.float64()) for column in columns}
        return pa.table({"operator": names, **numbers})

    tables = {"key_groups": table(key_groups, "records", "bytes", "cpu_ms")}
    if tasks is not None:
        tables["tasks"] = table(tasks, "records_in", "cpu_ms", "queue_length")
    return StatsTables(Manifest(10.0, EPOCH, EPOCH, {}), tables)


@given(ROWS, st.integers(0, 100), st.integers(1, 6))
def test_demand_is_a_mean_or_a_percentile_of_the_windows(loads: Any, percentile: int, last: int) -> None:
    some = series(loads)
    windows, groups = loads.shape
    for k in range(groups):
        column = sorted(loads[:, k].tolist())
        if windows:
            assert demand(some, "mean")[k] == pytest.approx(sum(column) / windows)
            at = percentile / 100 * (windows - 1)
            low, high = column[int(at)], column[min(int(at) + 1, windows - 1)]
            assert demand(some, f"p{percentile}")[k] == pytest.approx(low + (at - int(at)) * (high - low))
        else:
            assert demand(some, "mean")[k] == demand(some, f"p{percentile}")[k] == 0.0
    if last > windows:
        with pytest.raises(FtplanError, match=f"--demand: last:{last}: the statistics have {windows} windows"):
            demand(some, f"last:{last}")
    else:
        assert demand(some, f"last:{last}") == pytest.approx(np.array(loads[windows - last :]).mean(axis=0))


def test_measured_times_win_over_stated_ones_and_those_over_the_cpu() -> None:
    operators = [operator("a", 2, record_time_s=9.0), operator("b", 2, record_time_s=0.25), operator("c", 2, cpu=3.0)]
    records = series([[10, 30, 10, 30, 10, 30]], (2, 2, 2))
    rate = records.mean_load / 10
    nothing = [{"operator": name, "records": 40.0} for name in "abc"]
    bare = record_times(stats(nothing), operators, records, rate)
    # c has 6 cores for 4 records/s: 1.5 s, but of 3 a second none takes more than 0.85
    assert bare.seconds.tolist() == pytest.approx([9.0, 0.25, 0.85 / 3])
    assert bare.assumed.tolist() == [False, False, True]
    groups = [{"operator": "a", "records": 10.0, "cpu_ms": 500.0}, *nothing]
    tasks = [
        {"operator": "a", "records_in": 1.0, "cpu_ms": 7.0},
        {"operator": "b", "records_in": 4.0, "cpu_ms": 6.0},
        {"operator": "b", "records_in": 1.0, "cpu_ms": None},
    ]
    measured = record_times(stats(groups, tasks), operators, records, rate)
    assert measured.seconds.tolist() == pytest.approx([0.05, 0.0015, 0.85 / 3])
    idle = record_times(stats([], []), operators, series(np.zeros((0, 6)), (2, 2, 2)), 0 * rate)
    assert idle.seconds.tolist() == [9.0, 0.25, 0.0]
    assert not idle.assumed.any()


def test_bytes_and_queues_are_those_of_the_rows_that_have_them() -> None:
    groups = [
        {"operator": "a", "records": 10.0, "bytes": 500.0},
        {"operator": "a", "records": 30.0, "bytes": 300.0},
        {"operator": "a", "records": 60.0},
        {"operator": "b", "records": 0.0, "bytes": 0.0},
    ]
    assert record_bytes(stats(groups), "abc").tolist() == pytest.approx([20.0, np.nan, np.nan], nan_ok=True)
    tasks = [{"operator": "a", "queue_length": length} for length in (1.0, None, 5.0)]
    assert queue_lengths(stats(groups, tasks), "ab").tolist() == pytest.approx([3.0, np.nan], nan_ok=True)
    assert np.isnan(queue_lengths(stats(groups), "ab")).all()


def test_series_of_operators_have_all_their_groups_and_no_others() -> None:
    some = series([[1, 2, 3, 4], [5, 6, 7, 8]], (1, 2, 1))
    wanted = of_operators(
        some, [operator("a", 1, key_groups=2), operator("c", 1, key_groups=1), operator("d", 1, key_groups=1)]
    )
    assert wanted.names == (("a", 0), ("a", 1), ("c", 0), ("d", 0))
    assert wanted.loads.tolist() == [[1, 0, 4, 0], [5, 0, 8, 0]]
    assert wanted.state_bytes.tolist() == pytest.approx([0, np.nan, 3, np.nan], nan_ok=True)
    with pytest.raises(
        FtplanError, match="operator 'b': the statistics have key group 1, the topology only 1 key groups"
    ):
        of_operators(some, [operator("b", 1, key_groups=1)])
