"""Statistics from Flink's REST answers and from logs of its Slf4jReporter, on both engines."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.errors import FtplanError
from tests.engines.flink.cases import job, vertex
from tests.places import ROOT
from tests.spark_stats.conftest import Run, Statistics

DATA = ROOT / "tests" / "data" / "flink"
ANSWERS = DATA / "answers"


def answer(name: str) -> Any:
    return json.loads((ANSWERS / f"{name}.json").read_text())


def sums(stats: Statistics, table: str, key: str, value: str) -> dict[tuple[str, int], float]:
    total: dict[tuple[str, int], float] = defaultdict(float)
    for operator, index, amount in stats.rows(table, "operator", key, value):
        total[operator, index] += amount or 0.0
    return total


def test_a_folder_of_saved_answers(run: Run, tmp_path: Path) -> None:
    """Every counter of every subtask comes back as the sum over the windows; state by key group as it was measured.

    A flame graph beside them is not read, and a page that is no JSON is left out with a warning.
    """
    folder = shutil.copytree(ANSWERS, tmp_path / "answers")
    (folder / "v3_flamegraph.json").write_text('{"endTimestamp": 1700000000000, "data": {"children": [')
    (folder / "v1_backpressure.json").write_text('{"status": ')
    stats = run([str(folder)], input_format="flink-rest")
    assert [w["code"] for w in stats.manifest["warnings"]].count("UNREADABLE") == 1
    imported = ftplan.import_topology(ANSWERS, "flink").topology["operators"]
    assert set(stats.manifest["operators"]) == {operator["id"] for operator in imported}
    groups = {o["id"]: o["key_groups"] for o in imported if "key_groups" in o}
    assert {k: o["key_groups"] for k, o in stats.manifest["operators"].items() if o["key_groups"]} == groups
    ids = {o["labels"]["engine_id"]: o["id"] for o in imported}
    for name, figure in (("records_in", "read-records"), ("records_out", "write-records")):
        measured = sums(stats, "tasks", "task", name)
        for number in range(5):
            page = answer(f"v{number}_vertex")
            for subtask in page["subtasks"]:
                value = subtask["metrics"][figure]
                assert measured[ids[page["id"]], subtask["subtask"]] == pytest.approx(value, abs=1e-3)
    spread = sums(stats, "key_groups", "key_group", "records")
    join = ids["802aacd9238bef235b088545a27b7eb5"]
    assert sum(spread[join, g] for g in range(32)) == pytest.approx(231989, abs=1e-2)
    state = {(o, g): s for o, g, s in stats.rows("key_groups", "operator", "key_group", "state_bytes") if s is not None}
    expected = {
        (ids[one["operator"]], int(group)): float(size)
        for one in answer("keygroup_state_bytes_from_checkpoint")
        for group, size in one["key_group_bytes"].items()
    }
    assert state == expected
    assert set(stats.rows("key_groups", "resolution", "estimated")) == {("task", True)}


def collected(folder: Path, sets: list[list[tuple[str, Any]]]) -> Path:
    """Write a collected folder; the hour of the first answers is over, and packed."""
    (folder / "answers").mkdir(parents=True)
    (folder / "collection.json").write_text("{}")
    first, *others = (
        "".join(json.dumps({"at": "x", "path": path, "status": 200, "answer": value}) + "\n" for path, value in one)
        for one in sets
    )
    (folder / "answers" / "2026-11-22T06.jsonl.gz").write_bytes(gzip.compress(first.encode()))
    (folder / "answers" / "2026-11-22T07.jsonl").write_text("".join(others) + '{"at": "2026-11-22T07:')
    return folder


def pages(now: int, counted: dict[str, list[tuple[int, int]]], **more: Any) -> list[tuple[str, Any]]:
    described = job({key: len(values) for key, values in counted.items()}, [("a", "b", "HASH")])
    return [("/jobs/overview", {"jobs": []}), ("/jobs/j", described)] + [
        (f"/jobs/j/vertices/{key}", vertex(key, now, values, **more)) for key, values in counted.items()
    ]


def test_collected_sets(run: Run, tmp_path: Path) -> None:
    """A restart, a task manager out of reach, an answer that is cut off, and state of the checkpoint."""
    state = {"latest_ack_timestamp": 150_000, "subtasks": [{"index": i, "state_size": 640 * (i + 1)} for i in (0, 1)]}
    folder = collected(
        tmp_path / "collected",
        [
            [*pages(120_000, {"a": [(0, 100)], "b": [(50, 0), (50, 0)]}),
             ("/jobs/j/checkpoints/details/7/subtasks/b", state)],
            pages(180_000, {"a": [(0, 160)], "b": [(80, 0), (80, 0)]}),
            pages(240_000, {"a": [(0, 0)], "b": [(0, 0), (0, 0)]}, complete=False),
            pages(300_000, {"a": [(0, 30)], "b": [(15, 0), (15, 0)]}, attempt=1, since=270_000),
        ],
    )  # fmt: skip
    stats = run([str(folder)], input_format="flink-rest")
    windows = [row for row in stats.rows("tasks", "operator", "task", "window_start", "records_out") if row[0] == "a"]
    assert [(row[2], row[3]) for row in windows] == [
        (datetime(1970, 1, 1, 0, 2, tzinfo=UTC), 60.0), (datetime(1970, 1, 1, 0, 4, tzinfo=UTC), 30.0),
    ]  # fmt: skip
    assert stats.manifest["operators"]["b"]["key_groups"] == 128
    measured = stats.rows("key_groups", "key_group", "state_bytes")
    assert {(g < 64, s) for g, s in measured if s is not None} == {(True, 10.0), (False, 20.0)}
    (told,) = stats.manifest["warnings"]
    assert told["code"] == "INCOMPLETE_LEFT_OUT"
    assert told["message"].startswith("figures of subtasks in 3 of 12 answers")
    assert stats.manifest["rows_rejected"] == 0


def test_lines_that_are_no_answers(run: Run, tmp_path: Path) -> None:
    sets = [pages(60_000 * (i + 1), {"a": [(0, 100 * i)], "b": [(50 * i, 0)] * 2}) for i in range(3)]
    folder = collected(tmp_path / "collected", sets)
    (folder / "answers" / "2026-11-22T08.jsonl").write_text('garbage\n{"at": 1}\n')
    with pytest.raises(FtplanError, match=r"2 × a line that is no answer, first: \"garbage\""):
        run([str(folder)], input_format="flink-rest")
    stats = run([str(folder)], input_format="flink-rest", max_rejects=0.5)
    assert sorted(row["row"] for row in stats.rejects()) == ["garbage", '{"at": 1}']


def test_only_what_follows_the_last_change_of_parallelism(run: Run, tmp_path: Path) -> None:
    folder = collected(
        tmp_path / "collected",
        [
            pages(60_000, {"a": [(0, 100)], "b": [(50, 0), (50, 0)]}),
            pages(120_000, {"a": [(0, 900)], "b": [(450, 0), (450, 0)]}),
            pages(180_000, {"a": [(0, 30)], "b": [(10, 0)] * 3}, attempt=1, since=150_000),
        ],
    )
    stats = run([str(folder)], input_format="flink-rest")
    assert sums(stats, "tasks", "task", "records_in") == {("a", 0): 0.0, **{("b", i): 10.0 for i in range(3)}}
    assert [warning["code"] for warning in stats.manifest["warnings"]] == ["RESCALED"]


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        ({"job.json": "[]"}, "no answer has the figures of a vertex"),
        ({"job.json": "{"}, "job.json: not JSON"),
        ({"readme.txt": "x"}, "holds no answers of Flink"),
        ({"state.json": '[{"key_group_bytes": {}}]'}, r"state.json: \[0\]: expected operator"),
    ],
)
def test_answers_that_tell_nothing(run: Run, tmp_path: Path, answers: dict[str, str], text: str) -> None:
    for name, content in answers.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(FtplanError, match=text):
        run([str(tmp_path)], input_format="flink-rest")


def test_one_report_of_a_real_log(run: Run) -> None:
    """One report tells the means of the last minute; tasks are told from operators, as the importer calls them."""
    stats = run([str(DATA / "slf4jreporter_tm0.log")], input_format="flink-slf4j")
    imported = {o["id"] for o in ftplan.import_topology(ANSWERS, "flink").topology["operators"]}
    assert set(stats.manifest["operators"]) == imported
    lines = (DATA / "slf4jreporter_tm0.log").read_text().splitlines()
    head = "localhost.taskmanager.localhost:41235-40489b.ftplan-sample.IntervalJoin[16] -> Calc[17]."
    rate = {i: float(line.split()[-1]) for i in (1, 3) for line in lines if f"{head}{i}.numRecordsInPerSecond" in line}
    measured = sums(stats, "tasks", "task", "records_in")
    for i, value in rate.items():
        assert measured["IntervalJoin-16-Calc-17", i] == pytest.approx(60 * value, abs=1e-3)
    assert [warning["code"] for warning in stats.manifest["warnings"]] == ["ONE_REPORT", "TIMES_AS_UTC"]


def report(at: str, counted: dict[str, float], manager: str = "h.x.taskmanager.container_01.2") -> str:
    """A report as Flink writes it, with other lines of the log around it."""
    lines = "\n".join(f"{manager}.{name}: {value}" for name, value in counted.items())
    return (
        f"{at},116 INFO  org.apache.flink.metrics.slf4j.Slf4jReporter [] - \n"
        f"{'=' * 27} Starting metrics report {'=' * 27}\n\n-- Counters ---\n{lines}\n\n-- Gauges ---\n"
        f"{manager}.Status.JVM.CPU.Load: 0.5\n\n\n{'=' * 27} Finished metrics report {'=' * 27}\n"
        f"{at},200 WARN  some.other.Class [] - nothing: 7\n"
    )


def test_reports_over_time(run: Run, tmp_path: Path) -> None:
    """Increases between reports, names with dots, arrows and colons, a restart, and the state of a chained operator."""
    task, window = "my.job v1.2.Window(10 s, a.b) -> Sink: out", "my.job v1.2.Window(10 s, a.b)"

    def counted(records: int, state: int, **more: float) -> dict[str, float]:
        return {
            f"{task}.0.numRecordsIn": records, f"{task}.0.numRecordsOut": records // 2, f"{task}.0.numBytesIn": 9,
            f"{task}.0.accumulateBusyTimeMs": records * 2, f"{task}.0.numBuffersOut": 1,
            "my.job v1.2.Sink: out.0.numRecordsIn": 10**9, f"{window}.0.numRecordsIn": 10**9,
            f"{window}.0.window-contents.rocksdb.estimate-live-data-size": state,
            f"{window}.0.timers.rocksdb.estimate-live-data-size": 11, **more,
        }  # fmt: skip

    text = "2026-11-22 07:00:00 INFO starting\n" + "".join(
        report(f"2026-11-22 07:0{i}:00", counted(records, state))
        for i, (records, state) in enumerate([(100, 500), (160, 900), (10, 100)])
    )
    (tmp_path / "taskmanager.log").write_text(text)
    stats = run([str(tmp_path / "taskmanager.log")], input_format="flink-slf4j", key_groups=4)
    ((operator, _),) = stats.manifest["operators"].items()
    assert operator == "Window-10-s-a.b-Sink-out"
    assert sum(sums(stats, "tasks", "task", "records_in").values()) == pytest.approx(70.0, abs=1e-3)
    assert sum(sums(stats, "tasks", "task", "busy_ms").values()) == pytest.approx(140.0, abs=1e-3)
    state = {s for (s,) in stats.rows("key_groups", "state_bytes") if s is not None}
    assert max(state) == pytest.approx((900 + 11) / 4)
    placed = (stats.folder / "placement.yaml").read_text()
    assert "h.x" in placed


def test_a_log_without_reports(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("2026-11-22 07:00:00 INFO nothing\n")
    with pytest.raises(FtplanError, match="no report of Flink's Slf4jReporter"):
        run([str(tmp_path / "a.log")], input_format="flink-slf4j")
    (tmp_path / "a.log").write_text(report("2026-11-22 07:00:00", {"what: ever": 1.0}))
    with pytest.raises(FtplanError, match="no metric of a task"):
        run([str(tmp_path / "a.log")], input_format="flink-slf4j")
