"""Imports of Structured Streaming queries from event logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan.engines.spark.log_files import event_lines, find_event_logs
from ftplan.errors import FtplanError
from tests.engines.importing.cases import SPARK, codes, imported

SOURCE, STATE = "ftplan-sample.MicroBatchScan", "ftplan-sample.StateStoreSave"


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    (log,) = find_event_logs([str(SPARK)])
    return list(event_lines(log))


def plain(folder: Path, lines: list[bytes], name: str = "log") -> Path:
    path = folder / name
    path.write_bytes(b"".join(lines))
    return path


def test_the_sample_recounted(lines: list[bytes]) -> None:
    done = imported(SPARK, "spark")
    source, state = done.topology["operators"]
    assert (source["id"], state["id"]) == (SOURCE, STATE)
    assert (source["parallelism"], state["parallelism"], state["key_groups"]) == (2, 8, 8)
    assert done.topology["edges"] == [{"from": SOURCE, "to": STATE, "partitioning": "full"}]
    assert sum(state["state_bytes"]) == 5_043_240  # StreamingQueryProgress of the last batch says so
    ends = [e for line in lines if b"SparkListenerTaskEnd" in line[:40] for e in [json.loads(line)]]
    starts = [json.loads(line)["Submission Time"] for line in lines if b"SparkListenerJobStart" in line[:40]]
    seconds = (max(e["Task Info"]["Finish Time"] for e in ends) - min(starts)) / 1000
    cpu = sum(e["Task Metrics"]["Executor CPU Time"] for e in ends) / 1e9
    assert sum(source["cpu"]) + sum(state["cpu"]) == pytest.approx(cpu / seconds)
    written = sum(e["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Records Written"] for e in ends)
    assert sum(source["rate_out"]) == pytest.approx(written / seconds) == pytest.approx(sum(state["input_share"]))
    assert state["checkpoint"]["interval_s"] == pytest.approx((max(starts) - min(starts)) / 11e3)
    assert done.cluster is not None
    assert done.cluster["nodes"] == [{"id": "192.0.2.2", "cpu": 2.0}]
    assert {len(hosts) for hosts in done.cluster["placement"]["tasks"].values()} == {2, 8}
    assert codes(done) == ["PLACEMENT_LAST", "ZONE_UNKNOWN"]


def test_one_file_says_the_same_cut_last_lines_too(lines: list[bytes], tmp_path: Path) -> None:
    whole = imported(SPARK, "spark")
    assert imported(plain(tmp_path, lines), "spark").topology == whole.topology
    extra = b'{"Event":"SparkListenerTaskEnd","Stage ID":3,"Stage At'
    assert imported(plain(tmp_path, [*lines, extra]), "spark").topology == whole.topology


def test_failed_and_repeated_attempts_count_once(lines: list[bytes], tmp_path: Path) -> None:
    whole = imported(SPARK, "spark")
    more = []
    for line in lines:
        more.append(line)
        if b'"SparkListenerTaskEnd"' in line[:40]:
            more += [line, line.replace(b'{"Reason":"Success"}', b'{"Reason":"ExceptionFailure"}')]
    assert imported(plain(tmp_path, more), "spark").topology == whole.topology


def test_processes_as_nodes_and_executors_that_left(lines: list[bytes], tmp_path: Path) -> None:
    added = next(line for line in lines if b'"SparkListenerExecutorAdded"' in line[:40])
    other = added.replace(b'"driver"', b'"7"').replace(b"192.0.2.2", b"192.0.2.9")
    gone = b'{"Event":"SparkListenerExecutorRemoved","Timestamp":1,"Executor ID":"7","Removed Reason":"x"}\n'
    done = imported(plain(tmp_path, [*lines, other]), "spark", node_by="process")
    assert done.cluster is not None
    assert [n["id"] for n in done.cluster["nodes"]] == ["192.0.2.2-driver", "192.0.2.9-7"]
    done = imported(plain(tmp_path, [*lines, other, gone]), "spark")
    assert done.cluster is not None
    assert [n["id"] for n in done.cluster["nodes"]] == ["192.0.2.2"]


def _job(number: int, *stages: dict[str, Any]) -> dict[str, Any]:
    properties = {"streaming.sql.batchId": str(number), "sql.streaming.queryId": "abcdefgh-1"}
    return {
        "Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": 1000 * number,
        "Stage Infos": list(stages), "Properties": properties,
    }  # fmt: skip


def _stage(number: int, tasks: int, rdd: int, node: str, *parents: int) -> dict[str, Any]:
    kind = "StateStoreAwareZipPartitionsRDD" if parents else "DataSourceRDD"
    info = {"RDD ID": rdd, "Name": kind, "Scope": json.dumps({"id": "1", "name": node}), "Parent IDs": []}
    return {"Stage ID": number, "Number of Tasks": tasks, "RDD Info": [info], "Parent IDs": list(parents)}


def test_joins_by_the_names_of_plan_nodes(tmp_path: Path) -> None:
    def read(node: str, **options: Any) -> Any:
        events = [
            _job(b, _stage(3 * b, 2, 9 * b + 1, "Scan"), _stage(3 * b + 1, 2, 9 * b + 4, "Scan"),
                 _stage(3 * b + 2, 4 + b, 9 * b + 7, node, 3 * b, 3 * b + 1))
            for b in range(2)
        ]  # fmt: skip
        text = [json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events]
        return imported(plain(tmp_path, text), "spark", **options)

    done = read("StreamingSymmetricHashJoin")
    assert done.topology["operators"][2]["inputs"] == "correlated"
    assert {"JOIN_BY_NAME", "PARTITIONS_VARY"} <= {*codes(done)}
    assert "INPUTS_UNKNOWN" in codes(read("Union"))
    assert "INPUTS_UNKNOWN" not in codes(read("Union", independent=["abcdefgh.Union"]))
    assert read("Union", correlated=["abcdefgh.Union"]).topology["operators"][2]["inputs"] == "correlated"


def test_logs_that_are_none(lines: list[bytes], tmp_path: Path) -> None:
    with pytest.raises(FtplanError, match=r"has no query 'x': one of ftplan-sample"):
        ftplan.import_topology(SPARK, "spark", query=["x"])
    with pytest.raises(FtplanError, match="the log holds no micro-batch"):
        ftplan.import_topology(plain(tmp_path, lines[:3]), "spark")
    broken = [line.replace(b'"Stage ID":3,', b"") for line in lines]
    with pytest.raises(FtplanError, match=r"line \d+: is no event of Spark \(KeyError\)"):
        ftplan.import_topology(plain(tmp_path, broken), "spark")
    with pytest.raises(FtplanError, match="give Spark's event log, a file or a folder"):
        ftplan.import_topology("http://127.0.0.1:1", "spark")
