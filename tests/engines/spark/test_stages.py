"""Stages of Spark as operators, and the files of its event logs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import lz4.block
import pytest
import zstandard

from ftplan.engines.spark.log_files import SparkLog, event_lines, find_event_logs, is_compressed
from ftplan.engines.spark.stages import StageOperator, job_of_event, run_of, stage_operators
from ftplan.errors import FtplanError
from tests.places import ROOT

SAMPLE = ROOT / "examples" / "spark" / "eventlog"
NAME = "local-1795215910150"


def lines_of(log: SparkLog) -> list[bytes]:
    return list(event_lines(log))


def jobs_of(lines: list[bytes]) -> list[Any]:
    events = [json.loads(line) for line in lines if b"SparkListenerJobStart" in line[:60]]
    return [job for event in events if (job := job_of_event(event, 0)) is not None]


def lz4_framed(data: bytes, size: int = 1 << 16) -> bytes:
    """Frame as Spark does (``net.jpountz.lz4.LZ4BlockOutputStream``); the checksum is not looked at."""
    out = b""
    for start in range(0, len(data), size):
        block = data[start : start + size]
        packed = lz4.block.compress(block, store_size=False)
        method, packed = (0x20, packed) if len(packed) < len(block) else (0x10, block)
        out += b"LZ4Block" + bytes([method | 6]) + len(packed).to_bytes(4, "little")
        out += len(block).to_bytes(4, "little") + b"\0\0\0\0" + packed
    return out + b"LZ4Block" + bytes([0x16]) + bytes(12)


def test_the_sample() -> None:
    (log,) = find_event_logs([str(SAMPLE)])
    assert [Path(f).name for f in log.files] == [f"events_{n}_{NAME}.zstd" for n in (1, 2)]
    lines = lines_of(log)
    assert (len(lines), sum(map(len, lines))) == (448, 2_077_783)
    jobs = jobs_of(lines)
    known = stage_operators(jobs)
    source, state = "ftplan-sample.MicroBatchScan", "ftplan-sample.StateStoreSave"
    assert list(known.operators.values()) == [
        StageOperator(source, "MicroBatchScan", "ftplan-sample", 2, None, False, ()),
        StageOperator(state, "StateStoreSave", "ftplan-sample", 8, 8, True, (source,)),
    ]
    # Batch 0 had no data: its source, stage 0, has no tasks, and its stateful stage is not the first for that.
    assert known.of_stage == {(0, n): (source, state)[n % 2] for n in range(24)}
    assert run_of(jobs[0]) == ("ftplan-sample", "06741ed7-d8a7-490b-baf4-5903ccd0df99")


def test_two_sources_keep_their_places_whatever_their_numbers() -> None:
    def stage(number: int, tasks: int, rdd: int, node: str, *parents: int) -> dict[str, Any]:
        kind = "StateStoreAwareZipPartitionsRDD" if parents else "DataSourceRDD"
        scope = json.dumps({"id": "1", "name": node})
        info = {"RDD ID": rdd, "Name": kind, "Scope": scope, "Parent IDs": [rdd - 1] if parents else []}
        return {"Stage ID": number, "Number of Tasks": tasks, "RDD Info": [info], "Parent IDs": list(parents)}

    def job(batch: int, *stages: dict[str, Any]) -> dict[str, Any]:
        properties = {"streaming.sql.batchId": str(batch), "sql.streaming.queryId": "abcdefgh-1"}
        return {"Job ID": batch, "Submission Time": batch, "Stage Infos": list(stages), "Properties": properties}

    join = "StreamingSymmetricHashJoin"
    events = [
        job(0, stage(0, 3, 1, "Scan"), stage(1, 5, 4, "Scan"), stage(2, 8, 7, join, 0, 1)),
        job(1, stage(4, 0, 11, "LocalTableScan"), stage(3, 5, 14, "Scan"), stage(5, 8, 17, join, 3, 4)),
    ]
    known = stage_operators(job_of_event(event, 0) for event in events)  # type: ignore[misc]
    assert {s: known.of_stage[0, s] for s in range(6)} == {
        0: "abcdefgh.Scan", 4: "abcdefgh.Scan", 1: "abcdefgh.Scan-2", 3: "abcdefgh.Scan-2",
        2: f"abcdefgh.{join}", 5: f"abcdefgh.{join}",
    }  # fmt: skip
    assert known.operators[f"abcdefgh.{join}"].inputs == ("abcdefgh.Scan", "abcdefgh.Scan-2")
    assert [known.operators[o].tasks for o in ("abcdefgh.Scan", "abcdefgh.Scan-2")] == [3, 5]


def test_adaptive_execution_announces_a_stage_twice() -> None:
    """A real batch without state on Spark 4: job 0 runs stage 0, job 1 skips it as stage 1."""

    def stage(number: int, tasks: int, rdds: tuple[int, ...], *parents: int) -> dict[str, Any]:
        nodes = ("Exchange", "AQEShuffleRead") if parents else ("MicroBatchScan", "Exchange")
        infos = [
            {"RDD ID": r, "Name": "RDD", "Scope": json.dumps({"name": n}), "Parent IDs": [r - 1][: r % 4]}
            for r, n in zip(rdds, nodes, strict=True)
        ]
        return {"Stage ID": number, "Number of Tasks": tasks, "RDD Info": infos, "Parent IDs": list(parents)}

    properties = {"streaming.sql.batchId": "0", "spark.job.description": "flat\nid = q\nrunId = r\nbatch = 0"}
    events = [
        {"Job ID": job, "Submission Time": 5, "Stage Infos": stages, "Properties": properties}
        for job, stages in enumerate([[stage(0, 2, (0, 1))], [stage(1, 2, (0, 1)), stage(2, 3, (2, 3), 1)]])
    ]
    known = stage_operators(job_of_event(event, 0) for event in events)  # type: ignore[misc]
    assert known.of_stage == {(0, 0): "flat.MicroBatchScan", (0, 1): "flat.MicroBatchScan", (0, 2): "flat.Exchange"}
    assert known.operators["flat.Exchange"].inputs == ("flat.MicroBatchScan",)
    assert known.operators["flat.Exchange"].key_groups is None


@pytest.mark.parametrize("codec", ["plain", "zstd", "zstd frames", "lz4", "gzip"])
def test_codecs_whole_and_cut(tmp_path: Path, codec: str) -> None:
    (log,) = find_event_logs([str(SAMPLE)])
    lines = lines_of(log)[:60]
    data = b"".join(lines)
    compressed = {
        "plain": lambda: data,
        "zstd": lambda: zstandard.ZstdCompressor().compress(data),
        "zstd frames": lambda: b"".join(zstandard.ZstdCompressor().compress(line) for line in lines),
        "lz4": lambda: lz4_framed(data),
        "gzip": lambda: gzip.compress(data),
    }[codec]()
    path = tmp_path / "app-1.inprogress"
    path.write_bytes(compressed)
    assert is_compressed(str(path)) == (codec != "plain")
    (found,) = find_event_logs([str(path)])
    assert lines_of(found) == lines
    path.write_bytes(compressed[: len(compressed) * 2 // 3])
    cut = lines_of(found)
    assert data.startswith(b"".join(cut))
    assert codec == "gzip" or len(cut) > 20  # gzip gives out what it has in large pieces


def test_folders(tmp_path: Path) -> None:
    event = b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.1"}\n'
    rolled = tmp_path / "eventlog_v2_app-2"
    rolled.mkdir()
    for name in ("events_1_app-2", "events_2_app-2", "events_2_app-2.compact", "events_10_app-2", "events_9_app-2"):
        (rolled / name).write_bytes(event)
    (rolled / "appstatus_app-2.inprogress").write_bytes(b"")
    (tmp_path / "app-1").write_bytes(event)
    (tmp_path / "notes.txt").write_text("no log")
    (tmp_path / ".app-1.crc").write_bytes(b"\0")
    logs = find_event_logs([str(tmp_path)])
    assert [(log.name, [Path(f).name for f in log.files]) for log in logs] == [
        ("app-1", ["app-1"]),
        ("eventlog_v2_app-2", ["events_2_app-2.compact", "events_9_app-2", "events_10_app-2"]),
    ]
    assert find_event_logs([str(rolled), str(tmp_path)]) == logs[::-1]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"time,key\n", "no Spark event log: its first line"),
        (b"", "no Spark event log: its first line"),
        (b"\x82SNAPPY\0 and so on", "compressed with snappy"),
        (b"\x28\xb5\x2f\xfd and then no zstd", "damaged"),
        (b"LZ4Block" + bytes([0x26]) + b"\xff" * 12, "damaged"),
    ],
)
def test_no_event_log(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(FtplanError, match=told):
        find_event_logs([str(path)])
    with pytest.raises(FtplanError, match="no such file"):
        find_event_logs([str(tmp_path / "none")])
