"""Restarts of Flink in logs and in collected answers: a real job's, and what else logs may look like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ftplan.costs.recoveries import read_recoveries
from ftplan.costs.recoveries.tables import ReadingOptions, RecoveryReading
from ftplan.errors import FtplanError
from tests.places import ROOT

EXAMPLE = ROOT / "examples" / "flink"
JOB = "737965e6c216f032021d23704ae28244"


def read(*paths: Path) -> RecoveryReading:
    return read_recoveries(paths, "auto", ReadingOptions())


def span(attributes: str, start: int = 1000, end: int = 5000, children: str = ", children=[]") -> str:
    scope = "org.apache.flink.runtime.checkpoint.CheckpointStatsTracker"
    told = f"name=JobInitialization, startTsMillis={start}, endTsMillis={end}, attributes={{{attributes}}}"
    return f"Reported span: SimpleSpan{{scope={scope}, {told}{children}}}\n"


def test_a_real_log() -> None:
    """The first kill was noticed at 08:10:40.373, an attempt failed, all tasks were initialised at 08:10:46.741."""
    reading = read(EXAMPLE / "jobmanager.log")
    first, second = reading.recoveries
    assert first.restart_s == pytest.approx(46.741 - 40.373 - 0.231)
    assert (first.transfer_s, first.state_bytes) == (0.231, 2610396.0)
    assert second.restart_s == pytest.approx(35.849 - 31.765 - 0.067)
    assert [item.message for item in reading.warnings] == [
        f"{first.where.partition(':')[0]}: 1 start is left out: from nothing, not from a checkpoint"
    ]


def test_a_restart_in_collected_answers() -> None:
    """Noticed at 08:40:50.783; the last subtask began at 52.423, was deployed in 1.253 s and initialised in 1.161 s."""
    (one,) = read(EXAMPLE / "collected").recoveries
    assert one.restart_s == pytest.approx(52.423 + 1.253 + 1.161 - 50.783)
    assert one.transfer_s is None


@pytest.mark.parametrize("children", [", children=[]", ""])  # since 2.0, and before
def test_spans_of_versions(tmp_path: Path, children: str) -> None:
    log = tmp_path / "jm.log"
    remote = "maxRestoredStateSizeBytes.REMOTE=2097152, MaxRestoredStateSizeBytes.LOCAL_DISK=5, job_name={odd}, "
    log.write_text(
        "something else\n"
        + span(f"{remote}maxDownloadStateDurationMs=1500, checkpointId=3, jobId={JOB}", children=children)
        + span("checkpointId=3, initializationStatus=FAILED", children=children)
        + span("checkpointId=4, sumDownloadStateDurationMs=7", children=children)
    )
    first, second = read(log).recoveries
    assert (first.restart_s, first.transfer_s, first.state_bytes, first.local_bytes) == (2.5, 1.5, 2097152.0, 5.0)
    assert (second.restart_s, second.transfer_s) == (4.0, None)
    assert first.where.endswith("jm.log: line 2")


def test_spans_in_json_lines(tmp_path: Path) -> None:
    log = tmp_path / "jm.json"
    log.write_text(json.dumps({"message": span("checkpointId=3").strip()}) + "\n")
    assert [one.restart_s for one in read(log).recoveries] == [4.0]


def test_logs_without_what_is_needed(tmp_path: Path) -> None:
    log = tmp_path / "jm.log"
    log.write_text("nothing\n")
    with pytest.raises(FtplanError, match="holds no JobInitialization span: Flink writes them where"):
        read(log)
    log.write_text(span("sumX=1"))
    with pytest.raises(FtplanError, match=r"no recovery that can be used: .*from nothing"):
        read(log)


def test_collected_answers_without_a_restart(tmp_path: Path) -> None:
    head = json.loads((EXAMPLE / "collected" / "collection.json").read_text())
    (tmp_path / "collection.json").write_text(json.dumps(head))
    (tmp_path / "answers").mkdir()
    answer = {"latest": {"restored": {"restore_timestamp": 5000}}}
    line = {"at": "2026-11-22T08:00:00Z", "path": f"/jobs/{JOB}/checkpoints", "status": 200, "answer": answer}
    (tmp_path / "answers" / "2026-11-22T08.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(FtplanError, match="1 restarts are left out: their end was not collected"):
        read(tmp_path)
    (tmp_path / "collection.json").write_text(json.dumps({**head, "from": "storm"}))
    with pytest.raises(FtplanError, match="holds answers of storm: restarts are read from those of flink"):
        read(tmp_path)
