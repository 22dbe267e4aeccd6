"""Statistics of whole logs, on both engines, against DuckDB and Polars and by hand."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from ftplan.errors import FtplanError
from ftplan.model.topology import Edge, Operator, Topology
from ftplan.spark_stats import hashing
from ftplan.spark_stats.inputs import find_files, inspect_files
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.operators import known_operators
from ftplan.spark_stats.readers import read_log
from ftplan.spark_stats.records import to_records
from ftplan.spark_stats.session import Session
from ftplan.spark_stats.windows import Grouping, _Codes, _grouped, aggregate
from tests.cli.in_process import environment, run_here
from tests.logs import thin
from tests.spark_stats.conftest import HOUSTON, WIKITICKER, Run, write_csv

pytestmark = pytest.mark.spark

HOUSTON_OPTIONS: dict[str, Any] = {
    "time_columns": ("Year", "Month", "DayofMonth", "DepTime"),
    "window_s": 3600.0,
    "max_rejects": 0.02,
    "key_groups": 64,
}
SIMPLE: dict[str, Any] = {"time_columns": ("t",), "operator": "op", "key_columns": ("k",), "key_groups": 4}


def ftplan(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a command, on the session that is open, which must answer."""
    done = run_here(args, cwd=folder, env=environment())
    assert done.returncode == 0, f"{' '.join(args)}\n{done.stderr}"
    return done


def operator(name: str, parallelism: int, key_groups: int | None = None) -> Operator:
    zeros = np.zeros(parallelism)
    return Operator(name, parallelism, zeros, zeros, zeros + 1, key_groups=key_groups)


def test_houston_equals_duckdb(run: Run) -> None:
    duckdb = pytest.importorskip("duckdb")
    keys = (("by-plane", ("TailNum",)), ("by-destination", ("Dest",)))
    found = run(HOUSTON, keys=keys, key_hash="flink", **HOUSTON_OPTIONS)
    assert (found.manifest["rows_read"], found.manifest["rows_rejected"]) == (227_496, 2_905)
    assert len(found.rejects()) == 2_905
    assert (found.manifest["start"], found.manifest["end"]) == ("2011-01-01T00:00:00Z", "2012-01-01T00:00:00Z")
    counted = duckdb.sql(
        f"""SELECT TailNum, Dest, make_timestamp(Year, Month, DayofMonth, 0, 0, 0)
                   + INTERVAL 1 HOUR * (DepTime::INT // 100) AS w, count(*)
            FROM read_csv('{HOUSTON}', all_varchar=false) WHERE DepTime IS NOT NULL GROUP BY ALL"""
    ).fetchall()
    expected: dict[tuple[str, int, datetime], float] = {}
    for name, column in (("by-plane", 0), ("by-destination", 1)):
        texts = sorted({row[column] for row in counted})
        hashes = (h % 64 for h in hashing.flink(pa.array(texts)).to_pylist())
        group_of = dict(zip(texts, hashes, strict=True))
        for row in counted:
            cell = (name, group_of[row[column]], row[2].replace(tzinfo=UTC))
            expected[cell] = expected.get(cell, 0) + row[3]
    rows = found.rows("key_groups", "operator", "key_group", "window_start", "records")
    assert {row[:3]: row[3] for row in rows} == expected
    assert rows == sorted(rows)


def test_wikiticker_equals_polars(run: Run) -> None:
    pl = pytest.importorskip("polars")
    found = run(
        WIKITICKER, time_columns=("time",), operator="by-channel", key_columns=("channel",), key_groups=16,
        key_hash="crc32", bytes_column="added", window_s=900.0,
    )  # fmt: skip
    import zlib

    frame = pl.read_ndjson(gzip.decompress(WIKITICKER.read_bytes()), infer_schema_length=None)
    sums = (
        frame.with_columns(
            pl.col("channel").map_elements(lambda c: zlib.crc32(c.encode()) % 16, return_dtype=pl.Int64).alias("g"),
            pl.col("time").str.to_datetime(time_zone="UTC").dt.truncate("15m").alias("w"),
        )
        .group_by("g", "w")
        .agg(pl.len().alias("n"), pl.col("added").sum().alias("b"))
        .sort("g", "w")
    )
    assert found.rows("key_groups", "key_group", "window_start", "records", "bytes") == sums.rows()
    assert found.manifest["rows_read"] == 39_244
    assert found.manifest["rows_rejected"] == 0
    assert not (found.folder / "rejects").exists()


def test_too_many_rejects_name_the_reasons(run: Run, tmp_path: Path) -> None:
    log = thin(HOUSTON, tmp_path / "flights.csv.gz", 10)
    with pytest.raises(FtplanError) as caught:
        run(log, operator="planes", key_columns=("TailNum",), **{**HOUSTON_OPTIONS, "max_rejects": 0.01})
    assert str(caught.value).startswith(
        "flights.csv.gz: 284 of 22,750 rows (1.25 %) rejected, more than --max-rejects 0.01: "
        '284 × time columns empty, first: "2011,1,'
    )


def test_each_reason(run: Run, tmp_path: Path) -> None:
    log = write_csv(
        tmp_path / "x.csv",
        [["t", "k", "b"], [100, "a", 1], [101, "a", ""], ["", "a", 1], ["soon", "a", 1], [102, "", 1], [103, "a", -1],
         [104, "a", "x"], [105, "a", "NaN"], [106, "a", 1, 2]],
    )  # fmt: skip
    found = run(log, **SIMPLE, bytes_column="b", max_rejects=1.0)
    assert found.rows("key_groups", "records", "bytes") == [(2.0, 1.0)]
    assert sorted((r["reason"], r["row"]) for r in found.rejects()) == [
        ("b no number from 0 up", "103,a,-1"),
        ("b no number from 0 up", "104,a,x"),
        ("b no number from 0 up", "105,a,NaN"),
        ("key column k empty", "102,,1"),
        ("not 3 fields", "106,a,1,2"),
        ("time column t empty", ",a,1"),
        ("time column t unreadable", "soon,a,1"),
    ]
    summary = json.loads((found.folder / "rejects" / "summary.json").read_text())
    assert (summary["rows_read"], summary["rows_rejected"], summary["rows_kept"]) == (9, 7, 7)
    found = run(log, **SIMPLE, bytes_column="b", max_rejects=1.0, max_kept_rejects=2)
    assert (found.manifest["rows_rejected"], len(found.rejects())) == (7, 2)


def test_large_logs_keep_a_sample_of_their_rejects(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts that share a bucket give two of them, whatever the order of rows; the counts stay exact."""
    monkeypatch.setattr("ftplan.spark_stats.passes._buckets", lambda files, kept: 4)
    rows = [[f"soon {i}" if i % 3 else i + 1, "a"] for i in range(60)] + [["", "b"]] * 5
    kept = []
    for _ in range(2):
        found = run(write_csv(tmp_path / "x.csv", [["t", "k"], *rows]), **SIMPLE, max_rejects=1.0)
        assert (found.manifest["rows_read"], found.manifest["rows_rejected"]) == (65, 45)
        kept.append(found.rejects())
        rows.reverse()
    assert kept[0] == kept[1]
    texts = [r["row"] for r in kept[0] if r["reason"] == "time column t unreadable"]
    assert len(texts) == len(set(texts)) == 8
    assert set(texts) < {f"soon {i},a" for i in range(60) if i % 3}
    assert [r["row"] for r in kept[0] if r["reason"] == "time column t empty"] == [",b"] * 5


def test_each_reason_has_its_share_of_the_kept_rows(run: Run, tmp_path: Path) -> None:
    rows = [["", f"k{i}"] for i in range(30)] + [["soon", "a"], [1, "a", 2], [1, "a"]]
    found = run(write_csv(tmp_path / "x.csv", [["t", "k"], *rows]), **SIMPLE, max_rejects=1.0, max_kept_rejects=5)
    assert [r["row"] for r in found.rejects()] == ["1,a,2", ",k0", ",k1", ",k10", "soon,a"]


def test_shuffled_rows_give_the_same_bytes(run: Run, tmp_path: Path) -> None:
    rng = random.Random(1)
    rows = [[rng.randrange(10**6) / 1000, f"k{rng.randrange(50)}", rng.random() * 100] for _ in range(500)]
    hashes = []
    for i in range(3):
        rng.shuffle(rows)
        log = write_csv(tmp_path / f"{i}.csv", [["t", "k", "c"], *rows])
        found = run(log, **SIMPLE, cpu_column="c", window_s=0.25)
        hashes.append(found.manifest["tables"])
    assert hashes[0] == hashes[1] == hashes[2]


def test_quoted_csv(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "k, quoted"], [1, 'a,b "c"'], [2, 'a,b "c"'], [3, "plain"]])
    found = run(log, **{**SIMPLE, "key_columns": ("k, quoted",), "key_groups": 1000, "key_hash": "java"})
    expected = hashing.java(pa.array(['a,b "c"', "plain"])).to_pylist()
    rows = found.rows("key_groups", "key_group", "records")
    assert rows == sorted([(expected[0] % 1000, 2.0), (expected[1] % 1000, 1.0)])
    log.write_text('t,k\n1,a\n2,"open\n3,b\n')
    found = run(log, **SIMPLE, max_rejects=1.0)
    assert [(r["reason"], r["row"]) for r in found.rejects()] == [("quotes not closed", '2,"open')]


def test_marks_line_ends_and_blank_lines(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbft;k\r\n1;a\r\n\r\n2;a\r\n")
    found = run(path, **SIMPLE, delimiter=";")
    assert (found.manifest["rows_read"], found.manifest["rows_rejected"]) == (2, 0)
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"t": 1, "k": "a"}\r\n\r\n{"t": 2, "k": "a"}')
    assert run(path, **SIMPLE).rows("key_groups", "records") == [(2.0,)]
    path = tmp_path / "odd name [1] %20.csv"
    path.write_text("1|a\n2|a\n")
    found = run(path, **SIMPLE, delimiter="|", csv_columns=("t", "k"))
    assert found.rows("key_groups", "records") == [(2.0,)]


def test_json_lines(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = ['{"t": 1, "k": ""}', '{"t": 2, "k": 7}', '{"t": 3', "[1]", '{"t": 4, "k": null}', '{"x": 1}', "junk"]
    path.write_text("\n".join(lines) + "\n")
    found = run(path, **{**SIMPLE, "key_hash": "java", "key_groups": 100}, max_rejects=1.0)
    assert found.rows("key_groups", "key_group", "records") == [(0, 1.0), (ord("7"), 1.0)]
    assert sorted(r["reason"] for r in found.rejects()) == [
        "key column k empty", "not JSON, or without any mapped column", "not JSON, or without any mapped column",
        "not a JSON object", "not a JSON object",
    ]  # fmt: skip


@pytest.mark.parametrize("key_hash", ["xxhash64", "murmur3", "java", "flink", "kafka", "crc32", "identity"])
def test_parquet_key_types(run: Run, tmp_path: Path, key_hash: str) -> None:
    """A number is a long by itself, and text where that is asked for."""
    values = [1, 2, 3, 2]
    path = tmp_path / "x.parquet"
    at = [datetime(2024, 1, 1, 0, 0, i, tzinfo=UTC) for i in range(4)]
    pq.write_table(pa.table({"t": pa.array(at, pa.timestamp("ns", "UTC")), "k": pa.array(values, pa.int64())}), path)
    found = run(path, **{**SIMPLE, "key_hash": key_hash})
    groups = dict(found.rows("key_groups", "key_group", "records"))
    assert sum(groups.values()) == 4
    reference = {
        "java": hashing.java, "flink": hashing.flink, "kafka": hashing.kafka, "identity": lambda k, _: k,
    }  # fmt: skip
    if key_hash in reference:
        expected = [h % 4 for h in reference[key_hash](pa.array(values), "long").to_pylist()]
        assert groups == {g: float(expected.count(g)) for g in expected}
    text = run(path, **{**SIMPLE, "key_hash": key_hash, "key_type": "string"})
    if key_hash in ("java", "flink", "kafka"):
        of_text = getattr(hashing, key_hash)(pa.array([str(v) for v in values])).to_pylist()
        expected = [h % 4 for h in of_text]
        assert dict(text.rows("key_groups", "key_group", "records")) == {g: float(expected.count(g)) for g in expected}


def test_murmur3_is_the_shuffle_partition(session: Any, run: Run, tmp_path: Path) -> None:
    if session.kind != "spark":
        pytest.skip("a promise about Spark's own shuffle")
    from pyspark.sql import functions as F

    keys = [f"user-{i}" for i in range(200)]
    frame = session.spark.createDataFrame([(k,) for k in keys], "k string")
    counted = frame.repartition(7, "k").groupBy(F.spark_partition_id().alias("p")).count().collect()
    log = write_csv(tmp_path / "x.csv", [["t", "k"], *[[1, k] for k in keys]])
    found = run(log, **{**SIMPLE, "key_groups": 7, "key_hash": "murmur3"})
    assert dict(found.rows("key_groups", "key_group", "records")) == {r["p"]: float(r["count"]) for r in counted}


def test_identity_and_numbers_reject_what_is_none(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "k"], [1, 0], [2, 3], [3, 4], [4, -1], [5, "x"], [6, "1.5"]])
    found = run(log, **{**SIMPLE, "key_hash": "identity"}, max_rejects=1.0)
    assert found.rows("key_groups", "key_group", "records") == [(0, 1.0), (3, 1.0)]
    assert sorted(r["reason"].removeprefix("key column k ") for r in found.rejects()) == [
        "no key group", "no key group", "no whole number", "no whole number",
    ]  # fmt: skip
    found = run(log, **{**SIMPLE, "key_hash": "kafka", "key_type": "long"}, max_rejects=1.0)
    assert found.manifest["rows_rejected"] == 2


def test_operator_column_and_joined_keys(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "o", "a", "b"], [1, "Map -> Sink", "x", "y"], [2, "join", "x", "y"]])
    options: dict[str, Any] = {
        "time_columns": ("t",), "operator_column": "o", "key_columns": ("a", "b"), "key_groups": 1000,
        "key_hash": "java", "operator_key_groups": (("join", 10),), "keys": (("extra", ("a",)),),
    }  # fmt: skip
    found = run(log, **options)
    joined, single = hashing.java(pa.array(["x|y", "x"])).to_pylist()
    assert found.rows("key_groups", "operator", "key_group", "records") == [
        ("Map---Sink", joined % 1000, 1.0),
        ("extra", single % 1000, 2.0),
        ("join", joined % 10, 1.0),
    ]
    assert found.manifest["rows_read"] == 2


def test_tasks_substreams_placement(run: Run, tmp_path: Path) -> None:
    header = ["t", "k", "task", "up", "node", "cpu", "mem"]
    rows = [[1, "a", 0, 1, "n1", 0.5, 10], [2, "b", 1, 1, "n2:80", 1.5, 30], [3, "b", 1, 0, "n2:80", 1, 20],
            [61, "b", 1, "", "n1", 1, 5], [62, "b", 2, 0, "n3", 1, 5]]  # fmt: skip
    log = write_csv(tmp_path / "x.csv", [header, *rows])
    graph = Topology((operator("src", 2), operator("op", 2, 4)), (Edge(0, 1, "full"),))
    found = run(
        log, topology=graph, **{**SIMPLE, "key_groups": None}, task_column="task", upstream_task_column="up",
        node_column="node", cpu_column="cpu", memory_column="mem", max_rejects=1.0,
    )  # fmt: skip
    assert [(r["reason"]) for r in found.rejects()] == ["task not in the topology"]
    minute = [datetime(1970, 1, 1, 0, m, tzinfo=UTC) for m in range(2)]
    columns = ("operator", "task", "window_start", "records_in", "records_out", "cpu_ms", "memory_bytes")
    assert found.rows("tasks", *columns) == [
        ("op", 0, minute[0], 1.0, None, 0.5, 10.0),
        ("op", 1, minute[0], 2.0, None, 2.5, 30.0),
        ("op", 1, minute[1], 1.0, None, 1.0, 5.0),
        ("src", 0, minute[0], 0.0, 1.0, None, None),
        ("src", 1, minute[0], 0.0, 2.0, None, None),
    ]
    assert found.rows("substreams") == [
        ("src", 0, "op", 1, minute[0], 1.0),
        ("src", 1, "op", 0, minute[0], 1.0),
        ("src", 1, "op", 1, minute[0], 1.0),
    ]
    placement = yaml.safe_load((found.folder / "placement.yaml").read_text())["placement"]
    assert placement["tasks"] == {"op": ["n1", "n2-80"]}
    assert len(placement["key_groups"]["op"]) == 4


def test_without_keys_the_load_is_spread(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "task", "b"], [1, 0, 30], [2, 1, 8], [3, 1, 8]])
    graph = Topology((operator("op", 2, 5),), ())
    options = {"time_columns": ("t",), "operator": "op", "bytes_column": "b"}
    found = run(log, topology=graph, task_column="task", **options)
    columns = ("key_group", "records", "bytes", "resolution", "estimated")
    assert found.rows("key_groups", *columns) == [
        (0, 1 / 3, 10.0, "task", True), (1, 1 / 3, 10.0, "task", True), (2, 1 / 3, 10.0, "task", True),
        (3, 1.0, 8.0, "task", True), (4, 1.0, 8.0, "task", True),
    ]  # fmt: skip
    assert found.manifest["operators"]["op"]["estimated"] is True
    assert found.manifest["operators"]["op"]["key_hash"] is None
    found = run(log, topology=graph, **options)
    assert found.rows("key_groups", *columns)[0] == (0, 0.6, 46 / 5, "operator", True)


def test_an_operator_that_only_sends_has_no_key_groups(session: Session, tmp_path: Path) -> None:
    """``--key-groups N`` is of operators with keys: none are made up for the sender, and none are planned."""
    log = [["t", "k", "task", "up"], *[[i, f"k{i % 50}", i % 4, i % 2] for i in range(200)]]
    write_csv(tmp_path / "log.csv", log)
    ftplan(
        tmp_path, "compute-stats", "log.csv", "-o", "stats", "--time-column", "t", "--operator", "op",
        "--key-column", "k", "--key-groups", "16", "--task-column", "task", "--upstream-task-column", "up",
        "--upstream-operator", "src", "-q",
    )  # fmt: skip
    operators = json.loads((tmp_path / "stats" / "manifest.json").read_text())["operators"]
    assert {name: item["key_groups"] for name, item in operators.items()} == {"op": 16, "src": None}
    ftplan(tmp_path, "init", "--stats", "stats", "-o", "job", "-q")
    job = yaml.safe_load((tmp_path / "job" / "topology.yaml").read_text())["operators"]
    assert {item["id"]: item.get("key_groups") for item in job} == {"op": 16, "src": None}
    inputs = ("-t", "job/topology.yaml", "-c", "job/cluster.yaml", "-s", "stats")
    ftplan(tmp_path, "allocate-checkpoints", *inputs, "-o", "plan.json", "-q")
    planned = json.loads((tmp_path / "plan.json").read_text())["plan"]["assignments"]
    assert sorted((item["operator"], item["key_group"]) for item in planned) == [("op", g) for g in range(16)]


def test_a_number_of_its_own_makes_a_sender_keyed(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "k", "task", "up"], [1, "a", 0, 1]])
    found = run(
        log, **SIMPLE, task_column="task", upstream_task_column="up", upstream_operator="src",
        operator_key_groups=(("src", 8),),
    )  # fmt: skip
    assert {name: item["key_groups"] for name, item in found.manifest["operators"].items()} == {"op": 4, "src": 8}


def test_tasks_alone_are_of_use(session: Session, tmp_path: Path) -> None:
    """Without keys and topology every command takes the folder, and says what it does not hold."""
    write_csv(tmp_path / "log.csv", [["t", "task", "cpu"], *[[i, i % 4, 2.5 * (i % 4)] for i in range(200)]])
    reading = ("compute-stats", "log.csv", "--time-column", "t", "--operator", "op", "--task-column", "task")
    said = ftplan(tmp_path, *reading, "--cpu-column", "cpu", "-o", "stats").stderr
    assert "op (no key groups)" in said
    assert "warning: no key groups" in said
    assert ftplan(tmp_path, "check", "stats").returncode == 0
    ftplan(tmp_path, "init", "--stats", "stats", "-o", ".", "-q")
    assert "NO_KEY_GROUPS" in ftplan(tmp_path, "stats-summary").stderr
    assert "NO_KEY_GROUPS" in ftplan(tmp_path, "allocate-checkpoints", "-o", "none.json").stderr
    assert json.loads((tmp_path / "none.json").read_text())["plan"]["assignments"] == []
    replicas = json.loads(ftplan(tmp_path, "replicate-tasks", "--budget", "1").stdout)["plan"]["replicas"]
    assert [item["operator"] for item in replicas] == ["op"]
    steps = json.loads(ftplan(tmp_path, "recovery-schedule", "--fail", "node:n4").stdout)["plan"]["steps"]
    (task,) = (task for step in steps for task in step["recover"])
    assert (task["operator"], task["index"]) == ("op", 3)
    assert task["cpu"] == pytest.approx(50 * 7.5 / 1000 / 240, rel=1e-9)  # as measured, not one core by default


def test_key_groups_by_number_are_spread_over_the_tasks_that_the_log_shows(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "task", "b"], [1, 0, 30], [2, 1, 8], [3, 1, 8]])
    options: dict[str, Any] = {"time_columns": ("t",), "operator": "op", "task_column": "task", "bytes_column": "b"}
    found = run(log, **options, key_groups=5)
    assert found.rows("key_groups", "key_group", "bytes", "resolution", "estimated") == [
        (0, 10.0, "task", True), (1, 10.0, "task", True), (2, 10.0, "task", True), (3, 8.0, "task", True),
        (4, 8.0, "task", True),
    ]  # fmt: skip
    assert found.manifest["operators"]["op"]["key_groups"] == 5
    with pytest.raises(FtplanError, match="the log has task 1 of operator 'op'; 2 tasks need at least as many"):
        run(log, **options, key_groups=1)


def test_time_range(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "k"], *[[i * 60, "a"] for i in range(10)]])
    at = [datetime(1970, 1, 1, 0, m, tzinfo=UTC) for m in (2, 8)]
    found = run(log, **SIMPLE, time_from=at[0], time_to=at[1])
    assert found.manifest["rows_rejected"] == 4
    assert found.rejects() == []
    assert (found.manifest["windows"], found.manifest["coverage"]) == (6, 1.0)
    with pytest.raises(FtplanError, match="none accepted"):
        run(log, **SIMPLE, time_from=datetime(2020, 1, 1, tzinfo=UTC))


def test_what_does_not_fit_is_one_sentence(run: Run, tmp_path: Path) -> None:
    log = write_csv(tmp_path / "x.csv", [["t", "key"], [1, "a"]])
    other = write_csv(tmp_path / "y.csv", [["key", "t"], ["a", 1]])
    graph = Topology((operator("op", 2, 8), operator("map", 1)), ())
    good = {**SIMPLE, "key_columns": ("key",)}
    for paths, options, topology, message in (
        (log, SIMPLE, None, r"x.csv: no column 'k'; it has t, key"),
        (log, {**SIMPLE, "key_columns": ("keyy",)}, None, "did you mean 'key'"),
        ([log, other], good, None, "y.csv: its header differs"),
        (log, good, graph, "--key-groups 4: operator 'op' has 8 key groups"),
        (log, {**good, "operator": "opp"}, graph, "unknown operator 'opp' .did you mean 'op'"),
        (log, {**good, "key_groups": None}, None, "no number of key groups"),
        (log, {**good, "operator": "map", "key_groups": None}, graph, "no key_groups in the topology"),
        (log, {**good, "time_format": "qqq bbb"}, None, "failed: .*pattern"),
    ):
        with pytest.raises(FtplanError, match=message):
            run(paths, topology=topology, **options)


def test_a_log_without_rows(run: Run, tmp_path: Path) -> None:
    with pytest.raises(FtplanError, match="0 rows read, none accepted"):
        run(write_csv(tmp_path / "x.csv", [["t", "k"]]), **SIMPLE)
    pq.write_table(pa.table({"t": pa.array([], pa.int64()), "k": pa.array([], pa.string())}), tmp_path / "x.parquet")
    with pytest.raises(FtplanError, match="0 rows read, none accepted"):
        run(tmp_path / "x.parquet", **SIMPLE)


def test_text_that_is_not_utf8(session: Any, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"t,k\n1,a\n2,\xff\xfe\n")
    if session.kind == "sail":
        with pytest.raises(FtplanError, match="not UTF-8"):
            run(path, **SIMPLE)
    else:
        assert [r["reason"] for r in run(path, **SIMPLE, max_rejects=1.0).rejects()] == ["not UTF-8"]


def test_the_plan_names_each_expression_a_few_times(session: Any) -> None:
    """A filter that is pushed down below them would repeat them hundreds of times."""
    mapping = LogMapping(**HOUSTON_OPTIONS, keys=(("a", ("TailNum",)), ("b", ("Dest",))))
    operators = known_operators(mapping, None)
    records = to_records(read_log(session, inspect_files(find_files([str(HOUSTON)])), mapping), mapping, operators)
    groupings = {"key_groups": Grouping(("group_0", "group_1"), 64)}
    grouped = _grouped(records, _Codes(records, groupings), 100, session.kind != "sail")
    with contextlib.redirect_stdout(io.StringIO()) as plan:
        grouped.explain(True)
    assert plan.getvalue().lower().count("2400") < 30


def test_rows_outside_are_one_group(session: Any, tmp_path: Path) -> None:
    """However many a log has: their texts are not looked at."""
    log = write_csv(tmp_path / "x.csv", [["t", "k"], [1, "a"], *([100 + i, f"k{i}"] for i in range(50))])
    mapping = LogMapping(**SIMPLE, time_to=datetime(1970, 1, 1, 0, 1, tzinfo=UTC))
    operators = known_operators(mapping, None)
    records = to_records(read_log(session, inspect_files([(str(log), False)]), mapping), mapping, operators)
    sums = aggregate(records, {"key_groups": Grouping(("group_0",), 4)}, 100, session.kind != "sail")
    assert sums.rejected.select(["rows", "first"]).to_pylist() == [{"rows": 50, "first": None}]
