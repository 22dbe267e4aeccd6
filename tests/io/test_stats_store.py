"""Statistics folders: every way in which one can be wrong, and what is read from good ones."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ftplan
from ftplan.io.stats_store import load_stats
from tests.io.examples import key_group_row, manifest, said, write


def table(*rows: dict[str, Any]) -> pa.Table:
    read = pa.Table.from_pylist(list(rows or (key_group_row(),)))
    at = read.column_names.index("window_start")
    times = pa.array(pd.to_datetime(read["window_start"].to_pylist(), utc=True), pa.timestamp("us", tz="UTC"))
    return read.set_column(at, "window_start", times)


def folder(path: Path, tables: pa.Table | None = None, **changes: Any) -> Path:
    stats = path / "stats"
    stats.mkdir()
    pq.write_table(table() if tables is None else tables, stats / "key_groups.parquet")
    (stats / "manifest.json").write_text(json.dumps(manifest(**changes)))
    return stats


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_folder(tmp_path: Path) -> None:
    stats = folder(tmp_path)
    loaded = load_stats(stats)
    assert (loaded.input.role, loaded.input.path) == ("stats", "stats")
    assert loaded.input.sha256 == hashlib.sha256((stats / "manifest.json").read_bytes()).hexdigest()
    assert loaded.value.manifest.windows == 4
    assert loaded.value.manifest.measures == ("records", "bytes")
    assert loaded.value.tables["key_groups"].to_pylist()[0]["records"] == 5.0
    assert loaded.value.placement is None


def test_a_job_without_keys_needs_no_table_of_key_groups(tmp_path: Path) -> None:
    """Where tasks were measured; a job with keys, or a folder without any table, lacks it."""
    task = {"operator": "join", "task": 0, "window_start": key_group_row()["window_start"], "records_in": 5.0}
    keyed = manifest()["operators"]
    plain = {name: {**facts, "key_groups": None} for name, facts in keyed.items()}
    stats = folder(tmp_path, operators=plain)
    (stats / "key_groups.parquet").unlink()
    assert said(load_stats, stats) == "stats/key_groups.parquet: is missing"
    pq.write_table(table(task), stats / "tasks.parquet")
    loaded = load_stats(stats).value
    assert loaded.tables["key_groups"].num_rows == 0
    assert loaded.tables["tasks"].to_pylist()[0]["records_in"] == 5.0
    given = load_stats({"manifest": manifest(operators=plain), "tasks": table(task)}).value
    assert given.tables["key_groups"] == loaded.tables["key_groups"]
    (stats / "manifest.json").write_text(json.dumps(manifest(operators=keyed)))
    assert said(load_stats, stats) == "stats/key_groups.parquet: is missing"


def test_placement(tmp_path: Path) -> None:
    """With or without envelope, with or without the level `placement`."""
    stats = folder(tmp_path)
    expected = {"tasks": {"join": ["n1", "n2"]}}
    for text in (
        "tasks: {join: [n1, n2]}",
        "placement: {tasks: {join: [n1, n2]}}",
        'format: ftplan/placement\nformat_version: "1.0"\nplacement: {tasks: {join: [n1, n2]}}',
    ):
        write(stats, "placement.yaml", text)
        assert load_stats(stats).value.placement == expected
    write(stats, "placement.yaml", "tasks: {join: [1]}")
    assert said(load_stats, stats) == (
        "stats/placement.yaml: tasks.join[0]: is read as the number 1, not as text: quote it"
    )
    write(stats, "placement.yaml", "[]")
    assert said(load_stats, stats) == "stats/placement.yaml: expected a mapping with 'tasks' or 'key_groups'"
    write(stats, "placement.yaml", "format: ftplan/plan")
    assert said(load_stats, stats) == (
        "stats/placement.yaml: format: this is a file of kind plan; expected 'ftplan/placement'"
    )
    given = {"manifest": manifest(), "key_groups": table(), "placement": {"tasks": {"join": ("n1", "n2")}}}
    assert load_stats(given).value.placement == expected


@pytest.mark.parametrize(
    "given",
    [
        [key_group_row()],
        table(),
        table().to_pandas(),
        pl.DataFrame(table().to_pylist(), schema_overrides={"cpu_ms": pl.Float64}),
    ],
    ids=["rows", "arrow", "pandas", "polars"],
)
def test_mapping(given: Any) -> None:
    """Lists of rows, Arrow tables, pandas and polars frames read alike, with one fingerprint."""
    loaded = load_stats({"manifest": manifest(), "key_groups": given})
    assert loaded.input.path is None
    assert loaded.value.tables["key_groups"].to_pylist() == [
        {**key_group_row(), "window_start": pd.Timestamp("2024-01-01T00:01Z").to_pydatetime()}
    ]
    assert loaded.input.sha256 == load_stats({"manifest": manifest(), "key_groups": table()}).input.sha256


def test_measures_are_those_with_values() -> None:
    document = manifest()
    del document["measures"]
    assert load_stats({"manifest": document, "key_groups": [key_group_row()]}).value.manifest.measures == (
        "records",
        "bytes",
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"records": -1.0}, "column 'records': row 1: must be at least 0, got -1"),
        ({"records": float("nan")}, "column 'records': row 1: must be a finite number, got NaN"),
        ({"bytes": float("inf")}, "column 'bytes': row 1: must be a finite number, got inf"),
        ({"key_group": -1}, "column 'key_group': row 1: must be at least 0, got -1"),
        ({"key_group": 3},
         "column 'key_group': 3 is out of range: 'join' has 3 key groups (0 to 2) in manifest.json"),
        ({"operator": "joins"}, "column 'operator': row 1: unknown operator 'joins' (did you mean 'join'?); "
         "manifest.json does not list it"),
        ({"operator": None}, "column 'operator': row 1: is empty"),
        ({"resolution": "groups"},
         "column 'resolution': row 1: unknown resolution 'groups' (did you mean 'key_group'?); one of key_group, task, "
         "operator"),
        ({"window_start": "2024-01-01T00:00:30Z"}, "column 'window_start': row 1: 2024-01-01T00:00:30Z is not "
         "on the grid of 60 s windows"),
        ({"window_start": "2024-01-01T00:04:00Z"}, "column 'window_start': row 1: 2024-01-01T00:04:00Z is outside the "
         "manifest's range 2024-01-01T00:00:00Z to 2024-01-01T00:04:00Z"),
    ],
)  # fmt: skip
def test_wrong_values(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    folder(tmp_path, table(key_group_row(), key_group_row(**changes)))
    assert said(load_stats, "stats") == f"stats/key_groups.parquet: {message}"


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("records", None, "column 'records' is missing (records in the window; a fraction where it was spread over key "
         "groups)"),
        ("records", pa.array(["5"]), "column 'records': expected numbers, got string"),
        ("key_group", pa.array([1.5]), "column 'key_group': expected whole numbers, got double"),
        ("key_group", pa.array([2**40]), "column 'key_group': expected whole numbers: Integer value 1099511627776 not "
         "in range: -2147483648 to 2147483647"),
        ("window_start", pa.array([17]), "column 'window_start': expected UTC timestamps, got int64"),
        ("window_start", pa.array([2**62], pa.timestamp("us", tz="UTC")), "column 'window_start': row 0: "
         "4611686018427387904 microseconds after 1970 is not on the grid of 60 s windows"),
        ("estimated", pa.array([1]), "column 'estimated': expected true or false, got int64"),
        ("operator", pa.array([1]), "column 'operator': expected text, got int64"),
    ],
)  # fmt: skip
def test_wrong_columns(tmp_path: Path, column: str, values: Any, message: str) -> None:
    read = table()
    at = read.column_names.index(column)
    bent = read.remove_column(at) if values is None else read.set_column(at, column, values)
    folder(tmp_path, bent)
    assert said(load_stats, "stats") == f"stats/key_groups.parquet: {message}"


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    read = table()
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
    )
    folder(tmp_path, read.set_column(0, "operator", text))
    assert said(load_stats, "stats").startswith("stats/key_groups.parquet: holds text that is not UTF-8: ")


def test_other_types_that_fit(tmp_path: Path) -> None:
    """Dictionaries, wide integers, nanoseconds without zone; columns that may be empty may be missing."""
    read = table().drop_columns(["cpu_ms", "state_bytes"])
    read = read.set_column(0, "operator", read["operator"].dictionary_encode())
    read = read.set_column(2, "window_start", pa.array([pd.Timestamp("2024-01-01T00:01").value], pa.timestamp("ns")))
    folder(tmp_path, read.set_column(3, "records", pa.array([5])))
    found = load_stats("stats").value.tables["key_groups"]
    assert found["records"].to_pylist() == [5.0]
    assert found["state_bytes"].null_count == 1
    assert found["window_start"].type == pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"end": "2024-01-01T00:00:00Z"}, "end: must be after start 2024-01-01T00:00:00Z"),
        ({"start": "2024-01-01T00:00:30Z"}, "start: is not on the grid of 60 s windows since 1970-01-01"),
        ({"start": "2024-01-01T00:00:00"}, "start: '2024-01-01T00:00:00' has no time zone; expected UTC, such as "
         "'2011-01-01T00:00:00Z'"),
        ({"start": "yesterday"}, "start: 'yesterday' is no time; expected one such as '2011-01-01T00:00:00Z'"),
        ({"start": "0001-01-01T00:00:00+23:00"}, "start: '0001-01-01T00:00:00+23:00' is out of range"),
        ({"window_s": 1e9 + 1}, "window_s: must be from 1e-06 to 1e+09, got 1e+09"),
        ({"windows": 5}, "windows: got 5, expected 4 = (end - start) / window_s"),
        ({"window_s": 0}, "window_s: must be more than 0, got 0"),
        ({"measures": ["records", "cpu"]},
         "measures[1]: expected 'records', 'bytes' or 'cpu_ms', got 'cpu' (did you mean 'cpu_ms'?)"),
        ({"operators": {"join": {"key_groups": 0}}}, "operators.join.key_groups: must be at least 1, got 0"),
        ({"format_version": "3.0"}, "format_version: 3.0 is newer than this ftplan reads (1.x); upgrade ftplan"),
    ],
)  # fmt: skip
def test_wrong_manifest(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    folder(tmp_path, **changes)
    text = said(load_stats, "stats")
    assert text == f"stats/manifest.json: {message}"


def test_files_that_do_not_fit_the_manifest(tmp_path: Path) -> None:
    stats = folder(tmp_path)
    digest = hashlib.sha256((stats / "key_groups.parquet").read_bytes()).hexdigest()

    def listed(**tables: Any) -> str:
        (stats / "manifest.json").write_text(json.dumps(manifest(tables=tables)))
        return said(load_stats, "stats")

    assert listed(key_groups={"rows": 2, "sha256": digest}) == (
        "stats/key_groups.parquet: has 1 rows, but manifest.json says 2"
    )
    assert listed(key_groups={"rows": 1, "sha256": "0" * 64}) == (
        f"stats/key_groups.parquet: was changed or cut short: its sha256 is {digest[:12]}…, but manifest.json says "
        "000000000000…"
    )
    assert listed(tasks={"rows": 1}) == "stats/tasks.parquet: is missing, but manifest.json lists it"
    data = (stats / "key_groups.parquet").read_bytes()
    (stats / "key_groups.parquet").write_bytes(data[:-9])
    assert listed().startswith("stats/key_groups.parquet: is no readable Parquet file (cut short?): ")
    (stats / "key_groups.parquet").unlink()
    assert listed() == "stats/key_groups.parquet: is missing"


def test_no_folder(tmp_path: Path) -> None:
    folder(tmp_path)
    assert said(load_stats, "stat") == "stat: no such folder (did you mean 'stats'?)"
    assert said(load_stats, "stats/manifest.json") == (
        "stats/manifest.json: is the manifest; give the folder 'stats' instead"
    )
    (tmp_path / "empty").mkdir()
    assert said(load_stats, "empty") == "empty: is no statistics folder: manifest.json is missing"
    write(tmp_path, "file.txt", "x")
    assert said(load_stats, "file.txt") == "file.txt: is a file; expected a statistics folder (with manifest.json)"


def test_other_tables(tmp_path: Path) -> None:
    rows = [{"operator": "join", "task": 1, "window_start": "2024-01-01T00:00:00Z", "records_in": 3}]
    found = load_stats({"manifest": manifest(), "key_groups": [], "tasks": rows}).value.tables
    assert found["key_groups"].num_rows == 0
    assert found["tasks"]["records_out"].null_count == 1
    assert said(load_stats, {"manifest": manifest()}) == (
        "statistics: key_groups: is missing; expected an Arrow table, a frame or a list of rows"
    )
    assert said(load_stats, {"key_groups": []}) == (
        "statistics: manifest: is missing; expected a mapping with 'manifest' and 'key_groups'"
    )


def test_statistics_from_the_future_have_no_age() -> None:
    """A clock that went backwards, or a time zone that was not said, would make any statistics fresh."""
    times = {"start": "2999-01-01T00:00:00+00:00", "end": "2999-01-01T00:01:00+00:00"}
    manifest = {
        **{"format": "ftplan/stats", "format_version": "1.0", "window_s": 60, "windows": 1, "measures": ["records"]},
        **{"operators": {"a": {"key_groups": 4}}, **times},
    }
    stats = {"manifest": manifest, "key_groups": []}
    with pytest.raises(ftplan.FtplanError, match=r"hours from now, so that --max-stats-age cannot tell their age"):
        ftplan.load(stats=stats, max_stats_age_s=3600.0)
    assert ftplan.load(stats=stats).stats is not None
