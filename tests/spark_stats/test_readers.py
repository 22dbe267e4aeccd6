"""Odd columns and files, on both engines."""

from __future__ import annotations

import csv
import random
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ftplan.errors import FtplanError
from ftplan.model.topology import Topology
from ftplan.spark_stats.inputs import LogFile, inspect_files
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.readers import read_log
from tests.spark_stats.cases import topology
from tests.spark_stats.conftest import Run, write_csv

pytestmark = pytest.mark.spark

SIMPLE: dict[str, Any] = {"time_columns": ("t",), "operator": "op", "key_columns": ("k",), "key_groups": 4}


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_types_of_parquet(session: Any, run: Run, tmp_path: Path) -> None:
    """Naive timestamps, dates with times of day, decimals, whole measures; what holds nothing of use is refused."""
    at = pa.array([datetime(2024, 1, 1, 10)], pa.timestamp("us"))
    log = parquet(tmp_path / "a.parquet", t=at, k=["a"], b=pa.array([7], pa.int32()), c=[Decimal("2.5")])
    rows = run(log, **SIMPLE, bytes_column="b", cpu_column="c").rows("key_groups", "window_start", "bytes", "cpu_ms")
    assert rows == [(datetime(2024, 1, 1, 10, tzinfo=UTC), 7.0, 2.5)]
    days = pa.array([date(2024, 1, 1)] * 2, pa.date32())
    log = parquet(tmp_path / "b.parquet", d=days, h=[1352, 5], k=["a"] * 2)
    found = run(log, **{**SIMPLE, "time_columns": ("d", "h")}).rows("key_groups", "window_start")
    assert sorted(row[0].hour * 100 + row[0].minute for row in found) == [5, 1352]
    log = parquet(tmp_path / "c.parquet", t=pa.array([1, 2**40], pa.int64()), k=pa.array([3, 2**40], pa.int64()))
    with pytest.raises(FtplanError, match="1 × key column k no whole number"):
        run(log, **SIMPLE, key_type="int", max_rejects=0.0)
    log = parquet(tmp_path / "d.parquet", t=[1], k=[[1]], flag=[True])
    for options, message in (
        (SIMPLE, "column 'k' is of type list.* which holds no key, time or measure"),
        ({**SIMPLE, "key_columns": ("q",)}, "no column 'q'; it has t, k, flag"),
        ({**SIMPLE, "time_columns": ("flag",), "key_columns": ("t",)}, "column 'flag' holds no time"),
    ):
        with pytest.raises(FtplanError, match=message):
            run(log, **options)
    other = parquet(tmp_path / "e.parquet", t=[1.5], k=["a"])
    with pytest.raises(FtplanError, match=r"column 't' is double, but timestamp_ntz in .*; compute them apart"):
        run([tmp_path / "a.parquet", other], **SIMPLE)
    log = parquet(tmp_path / "f.parquet", t=[1], k=pa.array(["a"]).dictionary_encode())
    if session.kind == "sail":
        with pytest.raises(FtplanError, match="is a categorical, which Sail cannot read"):
            run(log, **SIMPLE)
    else:
        assert run(log, **SIMPLE).manifest["rows_read"] == 1


def test_headers(run: Run, tmp_path: Path) -> None:
    for text, message in (
        ('t,"k\n1,a\n', "the header line is no CSV"),
        ("t,k,k\n1,a,b\n", "column 'k' stands twice in the header"),
        ("t" * (1 << 20) + "tt,k\n1,a\n", "the file has no header line"),
    ):
        (tmp_path / "x.csv").write_text(text)
        with pytest.raises(FtplanError, match=message):
            run(tmp_path / "x.csv", **SIMPLE)


def test_many_files_are_read_in_one_go(run: Run, tmp_path: Path) -> None:
    """Their rejects do not say which file they come from."""
    for i in range(33):
        write_csv(tmp_path / f"{i}.csv", [["t", "k"], [i, "a"]])
    write_csv(tmp_path / "33.csv", [["t", "k"], ["soon", "a"]])
    found = run(tmp_path, **SIMPLE, max_rejects=1.0)
    assert (found.manifest["rows_read"], found.manifest["rows_rejected"]) == (34, 1)
    assert [(r["file"], r["row"]) for r in found.rejects()] == [(None, "soon,a")]


def test_remote_files(session: Any, tmp_path: Path) -> None:
    """Nothing but the path of a remote file is known before the engine looks at it."""
    path = write_csv(tmp_path / "x.csv", [["t", "k"], [1, "a"]])
    log = read_log(session, [LogFile(f"file://{path}", "csv", remote=True)], LogMapping(**SIMPLE))
    assert [(row["f0"], row["f1"]) for row in log.frame.collect()] == [("1", "a")]
    path = parquet(tmp_path / "x.parquet", t=[1], k=["a"])
    file = LogFile(f"file://{path}", "parquet", remote=True)
    log = read_log(session, [file], LogMapping(**SIMPLE))
    assert [(row["f0"], row["f1"]) for row in log.frame.collect()] == [(1, "a")]
    assert {name: field.kind for name, field in log.fields.items()} == {"t": "long", "k": "text"}
    with pytest.raises(FtplanError, match="no column 'key'"):
        read_log(session, [file], LogMapping(**{**SIMPLE, "key_columns": ("key",)}))


def test_upstream_operators_by_column(run: Run, tmp_path: Path) -> None:
    rows = [[1, "a", 0, 1, "x y", "n1"], [2, "b", 1, 0, "src", ""], [3, "b", 1, 0, "", "n2"]]
    log = write_csv(tmp_path / "x.csv", [["t", "k", "task", "up", "from", "node"], *rows])
    found = run(
        log, **SIMPLE, task_column="task", upstream_task_column="up", upstream_operator_column="from",
        node_column="node",
    )  # fmt: skip
    assert found.rows("substreams", "from_operator", "from_task", "to_operator", "to_task", "records") == [
        ("src", 0, "op", 1, 1.0),
        ("x-y", 1, "op", 0, 1.0),
    ]


def test_rows_of_other_operators_and_without_anything_to_count_by(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "o", "k"], [1, "op", "a"], [2, "else", "a"], ["", "op", "a"]])
    job: Topology = topology("src")
    options = {"time_columns": ("t",), "operator_column": "o", "key_columns": ("k",)}
    found = run(log, topology=job, **options, max_rejects=1.0)
    assert sorted(r["reason"] for r in found.rejects()) == ["operator not in the topology", "time column t empty"]
    with pytest.raises(FtplanError, match="nothing to count by"):
        run(log, time_columns=("t",), operator="op")


def test_more_reasons_than_are_told(run: Run, tmp_path: Path) -> None:
    rows = [["", "a", 1], ["x", "a", 1], [1, "", 1], [1, "a", "x"], [1, "a"]]
    log = write_csv(tmp_path / "x.csv", [["t", "k", "b"], *rows])
    with pytest.raises(FtplanError, match="; 2 more reasons"):
        run(log, **SIMPLE, bytes_column="b")


def test_rows_outside_are_not_kept(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "k"], [1, "a"], ["", "a"], [100, "a"]])
    found = run(log, **SIMPLE, max_rejects=1.0, time_to=datetime(1970, 1, 1, 0, 1, tzinfo=UTC))
    assert [(Path(r["file"]).name, r["reason"]) for r in found.rejects()] == [("x.csv", "time column t empty")]


@pytest.mark.parametrize("delimiter", [",", "|", "\t", "§"])
def test_lines_of_csv_are_taken_apart_as_python_does(session: Any, tmp_path: Path, delimiter: str) -> None:
    rng = random.Random(1)
    lines = ["".join(rng.choices(f'ab"{delimiter}', (3, 1, 4, 3), k=rng.randrange(1, 12))) for _ in range(2000)]
    path = tmp_path / "x.csv"
    path.write_text(delimiter.join(("t", "k", "x")) + "\n" + "\n".join(lines) + "\n", newline="")
    log = read_log(session, inspect_files([(str(path), False)]), LogMapping(**SIMPLE, delimiter=delimiter))
    found = {row["value"]: (row["broken"], row["f0"], row["f1"]) for row in log.frame.collect()}
    for line in lines:
        try:
            fields = next(csv.reader([line], delimiter=delimiter, strict=True))
        except csv.Error:
            assert found[line][0] == 1, line
            continue
        broken, *first = found[line]
        assert broken == (None if len(fields) == 3 else 0), line
        assert first == [*(field or None for field in fields[:2]), None][:2], line
