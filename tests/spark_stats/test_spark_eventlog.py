"""Statistics from Spark event logs, against what Spark reports of each batch, a table made by hand, and DuckDB."""

from __future__ import annotations

import copy
import csv
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import zstandard

from ftplan.errors import LONGEST_MESSAGE, FtplanError
from ftplan.model.topology import Edge, Operator, Topology
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.pipeline import compute
from ftplan.spark_stats.session import Session
from tests.fuzz.mutations import mutated
from tests.places import ROOT
from tests.spark_stats.conftest import Run, Statistics
from tests.spark_stats.event_logs import SAMPLE, SOURCE, STATE, events, is_a, progress, renumbered, written

DATA = ROOT / "tests" / "data" / "spark"
LOAD, JOIN = DATA / "partition_load.csv", DATA / "join.zstd"
FORMAT = {"input_format": "spark-eventlog"}


@pytest.fixture(scope="module")
def clean(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Statistics:
    """The sample in windows of a second."""
    folder = tmp_path_factory.mktemp("sample")
    compute(LogMapping(window_s=1.0, input_format="spark-eventlog"), [str(SAMPLE)], folder=folder)
    return Statistics(folder)


def sums(stats: Statistics) -> dict[int, tuple[float, ...]]:
    """Records of the source, rows and bytes of state by batch."""
    of: dict[int, list[float]] = {}
    for operator, batch, records, rows, size in stats.rows(
        "batches", "operator", "batch", "records", "state_rows", "state_bytes"
    ):
        total = of.setdefault(batch, [0.0, 0.0, 0.0])
        total[0] += records if operator == SOURCE else 0.0
        total[1] += rows or 0.0
        total[2] += size or 0.0
    return {batch: tuple(total) for batch, total in of.items()}


def test_sums_are_those_of_streaming_query_progress(clean: Statistics) -> None:
    stats = clean
    said = progress(events())
    assert sums(stats) == said
    assert said[11] == (25_000.0, 14_636.0, 5_043_240.0)
    # All of a batch counts in one window, so that with short windows the tables of windows say the same.
    by_window: dict[Any, float] = {}
    for window, size in stats.rows("key_groups", "window_start", "state_bytes"):
        by_window[window] = by_window.get(window, 0.0) + size
    assert list(by_window.values()) == [said[batch][2] for batch in sorted(said)]
    operators = stats.manifest["operators"]
    assert {n: (o["key_groups"], o["resolution"], o["estimated"]) for n, o in operators.items()} == {
        SOURCE: (None, "task", False),
        STATE: (8, "key_group", False),
    }
    assert (stats.manifest["rows_read"], stats.manifest["rows_rejected"]) == (118, 0)
    placement = (stats.folder / "placement.yaml").read_text()
    assert "192.0.2.2" in placement


def test_partitions_are_those_of_the_table_made_by_hand(clean: Statistics) -> None:
    with LOAD.open(newline="") as file:
        said = {
            (int(r["batch"]), int(r["partition"])): tuple(
                float(r[c]) for c in ("shuf_rec", "shuf_bytes", "cpu_ns", "state_rows", "state_mem")
            )
            for r in csv.DictReader(file)
        }
    rows = clean.rows("batches", "operator", "batch", "task", "records", "bytes", "cpu_ms", "state_rows", "state_bytes")
    ours = {(b, t): (r, s, c * 1e6, *state) for o, b, t, r, s, c, *state in rows if o == STATE and b > 0}
    assert ours.keys() == said.keys()
    for key, values in said.items():
        assert ours[key] == pytest.approx(values, rel=1e-12)


def test_duckdb_finds_the_same(run: Run, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    plain = written(tmp_path / "app", events())
    query = f"""
        WITH lines AS (SELECT json FROM read_ndjson_objects('{plain}')),
        stages AS (SELECT (json->>'$."Stage Info"."Stage ID"')::INT AS stage,
                          (json->>'$.Properties."streaming.sql.batchId"')::INT AS batch
                   FROM lines WHERE json->>'$.Event' = 'SparkListenerStageSubmitted'),
        tasks AS (SELECT (json->>'$."Stage ID"')::INT AS stage, json->'$."Task Metrics"' AS m,
                         json->'$."Task Info"' AS i FROM lines WHERE json->>'$.Event' = 'SparkListenerTaskEnd')
        SELECT batch, (i->>'$."Partition ID"')::INT, (m->>'$."Executor CPU Time"')::DOUBLE / 1e6,
               (m->>'$."Executor Run Time"')::DOUBLE,
               (m->>'$."Input Metrics"."Records Read"')::DOUBLE
               + (m->>'$."Shuffle Read Metrics"."Total Records Read"')::DOUBLE,
               (m->>'$."Shuffle Write Metrics"."Shuffle Records Written"')::DOUBLE
        FROM tasks JOIN stages USING (stage)"""
    said = sorted(duckdb.sql(query).fetchall())
    stats = run(plain, window_s=0.001, **FORMAT)
    batch_of = {(o, t, at): b for o, t, at, b in stats.rows("batches", "operator", "task", "batch_start", "batch")}
    tasks = stats.rows("tasks", "operator", "task", "window_start", "cpu_ms", "busy_ms", "records_in", "records_out")
    ours = sorted((batch_of[o, t, at], t, *values) for o, t, at, *values in tasks)
    assert [row[:2] for row in ours] == [row[:2] for row in said]
    for mine, theirs in zip(ours, said, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9)


def damaged(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add what real logs have and what must not count."""
    end = next(e for e in given if is_a(e, "TaskEnd") and e["Stage ID"] == 3)
    failed, late, retried = (copy.deepcopy(end) for _ in range(3))
    failed["Task End Reason"] = {"Reason": "ExceptionFailure", "Class Name": "java.lang.Error"}
    failed["Task Info"] |= {"Task ID": 900, "Failed": True, "Finish Time": end["Task Info"]["Finish Time"] - 5}
    failed["Task Metrics"]["Executor CPU Time"] = 10**12
    late["Task Info"] |= {"Task ID": 901, "Attempt": 1, "Speculative": True}
    retried["Task Info"] |= {"Task ID": 902, "Index": 0, "Finish Time": end["Task Info"]["Finish Time"] + 9000}
    retried["Stage Attempt ID"] = 1
    for again in (late, retried):
        again["Task Metrics"]["Executor CPU Time"] = 10**11
    lost = {k: v for k, v in failed.items() if k != "Task Metrics"} | {"Task End Reason": {"Reason": "TaskKilled"}}
    idle = copy.deepcopy([e for e in given if is_a(e, "QueryProgressEvent")][-1])
    idle["progress"]["sources"][0]["numInputRows"] = 0
    other = copy.deepcopy(next(e for e in given if is_a(e, "JobStart")))
    other["Job ID"], other["Stage Infos"] = 77, [other["Stage Infos"][1] | {"Stage ID": 99}]
    del other["Properties"]["streaming.sql.batchId"]
    return [*given, failed, late, retried, lost, idle, idle, other, end | {"Stage ID": 99}]


def as_spark_3(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what Spark did not write before 3.3 and 4."""
    given = copy.deepcopy(given)
    for event in given:
        if is_a(event, "TaskEnd"):
            event["Task Info"].pop("Partition ID", None)
            for name in ("Peak On Heap Execution Memory", "Peak Off Heap Execution Memory"):
                event.get("Task Metrics", {}).pop(name, None)
        if is_a(event, "JobStart"):
            for stage in event["Stage Infos"]:
                del stage["Shuffle Push Enabled"], stage["Shuffle Push Mergers Count"], stage["Resource Profile Id"]
    return given


def test_attempts_count_once_and_triggers_without_data_never(run: Run, clean: Statistics, tmp_path: Path) -> None:
    for log in (damaged(events()), as_spark_3(events())):
        stats = run(written(tmp_path / "app", log), window_s=1.0, **FORMAT)
        assert stats.manifest["rows_rejected"] == 0
        for table in ("batches", "key_groups", "tasks"):
            assert stats.rows(table) == clean.rows(table)


def test_a_log_that_was_cut_off(run: Run, clean: Statistics, tmp_path: Path) -> None:
    given = events()
    last = max(i for i, e in enumerate(given) if is_a(e, "TaskEnd"))
    path = written(tmp_path / "app.inprogress", given[: last + 1])
    path.write_bytes(path.read_bytes()[:-4000])
    plain = run(path, **FORMAT)
    assert plain.manifest["rows_rejected"] == 0
    whole = clean.rows("batches")
    rows = plain.rows("batches")
    assert len(rows) == len(whole) - 1
    assert set(rows) < set(whole)
    packed = tmp_path / "app-1.zstd"
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    assert run(packed, **FORMAT).rows("batches") == rows


def test_damaged_lines_are_rejected(run: Run, tmp_path: Path) -> None:
    given = events()
    stray = copy.deepcopy(next(e for e in given if is_a(e, "TaskEnd")))
    path = written(tmp_path / "app", [*given[:200], stray | {"Stage ID": 4711}, *given[200:]])
    lines = path.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if "SparkListenerTaskEnd" in line[:60])
    lines[at] = lines[at][:3000]
    path.write_text("\n".join(lines) + "\n")
    stats = run(path, max_rejects=0.02, **FORMAT)
    assert sorted(r["reason"] for r in stats.rejects()) == [
        "a line of the event log that is no JSON",
        "a task of a stage that no job announced",
    ]
    assert [r["row"] for r in stats.rejects() if "stage" in r["reason"]] == ["stage 4711, partition 0"]
    assert (stats.manifest["rows_read"], stats.manifest["rows_rejected"]) == (119, 2)
    with pytest.raises(FtplanError, match="more than --max-rejects"):
        run(path, **FORMAT)


def test_a_restarted_query_runs_its_last_batch_again(run: Run, tmp_path: Path) -> None:
    given = events()
    last = [i for i, e in enumerate(given) if is_a(e, "SQLExecutionStart")][-2]
    before = given[: last + 25]  # batch 11 has begun, and some of its tasks have ended
    assert 0 < sum(is_a(e, "TaskEnd") for e in before[last:]) < 10
    folder = tmp_path / "logs"
    folder.mkdir()
    written(folder / "app-1", before)
    written(folder / "app-2", renumbered(given[last:], 1, "aaaaaaaa"))
    stats = run(folder, **FORMAT)
    assert sums(stats) == progress(given)
    starts = dict(stats.rows("batches", "batch", "batch_start"))
    assert (starts[11] - starts[10]).total_seconds() > 3600
    assert set(stats.manifest["operators"]) == {SOURCE, STATE}


def test_times_and_topology(run: Run) -> None:
    begin, end = (datetime(2026, 11, 20, 23, 5, s, tzinfo=UTC) for s in (38, 50))
    stats = run(SAMPLE, window_s=1.0, time_from=begin, time_to=end, key_groups=8, **FORMAT)
    assert sorted(sums(stats)) == [2, 3, 4]
    assert stats.manifest["start"] == "2026-11-20T23:05:38Z"
    assert stats.manifest["operators"][SOURCE]["key_groups"] is None


def test_a_topology_names_the_operators(run: Run) -> None:
    operators = (
        Operator("in", 2, *np.ones((3, 2)), name=SOURCE),
        Operator("out", 8, *np.ones((3, 8)), name=STATE, key_groups=8),
    )
    stats = run(SAMPLE, topology=Topology(operators, (Edge(0, 1, "full"),)), **FORMAT)
    assert set(stats.manifest["operators"]) == {"in", "out"}
    assert {o for (o,) in stats.rows("batches", "operator")} == {"in", "out"}
    wrong = Topology((operators[0], replace(operators[1], key_groups=9)), (Edge(0, 1, "full"),))
    with pytest.raises(FtplanError, match="operator 'out' has 9 key groups in the topology"):
        run(SAMPLE, topology=wrong, **FORMAT)


def test_a_join_with_state_after_it_beside_a_query_without(run: Run) -> None:
    stats = run(JOIN, **FORMAT)
    of = {"symmetricHashJoin": "0474fc9e.StreamingSymmetricHashJoin", "stateStoreSave": "0474fc9e.StateStoreSave"}
    said: dict[tuple[str, int], tuple[float, float]] = {}
    rows: dict[int, int] = {}
    for event in events(JOIN):
        if is_a(event, "QueryProgressEvent"):
            entry = event["progress"]
            for state in entry["stateOperators"]:
                said[of[state["operatorName"]], entry["batchId"]] = (state["numRowsTotal"], state["memoryUsedBytes"])
            if entry["name"] == "flat":
                rows[entry["batchId"]] = entry["sources"][0]["numInputRows"]
    ours: dict[tuple[str, int], tuple[float, float]] = {}
    read: dict[int, float] = {}
    for operator, batch, records, count, size in stats.rows(
        "batches", "operator", "batch", "records", "state_rows", "state_bytes"
    ):
        if count is not None:
            before = ours.get((operator, batch), (0.0, 0.0))
            ours[operator, batch] = (before[0] + count, before[1] + size)
        elif operator == "flat.MicroBatchScan":
            read[batch] = read.get(batch, 0.0) + records
    assert ours == said
    assert read == rows
    assert {n: o["key_groups"] for n, o in stats.manifest["operators"].items()} == {
        "0474fc9e.MicroBatchScan": None, "0474fc9e.MicroBatchScan-2": None, "0474fc9e.StateStoreSave": 2,
        "0474fc9e.StreamingSymmetricHashJoin": 2, "flat.Exchange": 3, "flat.MicroBatchScan": None,
    }  # fmt: skip


@pytest.mark.parametrize("session", ["sail"], indirect=True)
def test_damaged_events_give_statistics_or_one_line(run: Run, tmp_path: Path) -> None:
    random = Random(13)
    given = events()[:70]
    used = [i for i, e in enumerate(given) if is_a(e, "TaskEnd") or is_a(e, "JobStart")]
    refused: list[str] = []
    for _ in range(12):
        log = list(given)
        for at in random.sample(used, 3):
            log[at], _ = mutated(log[at], random)
        try:
            path = written(tmp_path / "app", (e for e in log if isinstance(e, dict)))
            run(path, max_rejects=0.5, **FORMAT)
        except FtplanError as error:
            refused.append(str(error))
    assert len(refused) < 12
    assert max(map(len, refused), default=0) <= LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([{"Event": "SparkListenerLogStart", "Spark Version": "3.5.0"}], "no task of a micro-batch"),
        (
            [{"Event": "SparkListenerJobStart", "Job ID": 3, "Properties": {"streaming.sql.batchId": "1"}}],
            "job 3 has not",
        ),
    ],
)
def test_logs_without_batches(run: Run, tmp_path: Path, lines: list[Any], told: str) -> None:
    with pytest.raises(FtplanError, match=told):
        run(written(tmp_path / "app", lines), **FORMAT)
    (tmp_path / "other").write_text(json.dumps(lines[0])[2:])
    with pytest.raises(FtplanError, match="no Spark event log"):
        run(tmp_path / "other", **FORMAT)
