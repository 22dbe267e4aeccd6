"""Restarts of a Structured Streaming query, from the event logs of both applications."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ftplan.errors import FtplanError
from ftplan.io.recoveries import Reading, ReadingOptions, read_recoveries

LISTENER = "org.apache.spark.sql.streaming.StreamingQueryListener$"


def read(*paths: Path) -> Reading:
    return read_recoveries(paths, "auto", ReadingOptions())


def at(second: float) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="milliseconds")


def batch(run: str, begin: float, took: float, rows: int) -> dict[str, Any]:
    progress = {"id": "q", "runId": run, "timestamp": at(begin), "durationMs": {"triggerExecution": took * 1000}}
    return {"Event": f"{LISTENER}QueryProgressEvent", "progress": {**progress, "sources": [{"numInputRows": rows}]}}


def started(run: str, second: float) -> dict[str, Any]:
    return {"Event": f"{LISTENER}QueryStartedEvent", "id": "q", "runId": run, "timestamp": at(second)}


def written(path: Path, *events: dict[str, Any], cut: bool = False) -> Path:
    log = [{"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"}, *events]
    text = "".join(json.dumps(event) + "\n" for event in log)
    path.write_text(text + '{"Event":"org.apache.spark.sql.str' * cut)
    return path


def killed_and_restarted(folder: Path) -> tuple[Path, Path]:
    """Batches of 5,000 rows every 5 s until 1000.5 s; the query starts again at 1020 s and is behind until 1033 s."""
    task = {"Event": "SparkListenerTaskEnd", "Task Info": {"Finish Time": 1_000_500}}
    before = [batch("a", 960.0 + 5 * i, 1.0, 5000) for i in range(9)]
    after = [batch("b", 1021.0, 9.0, 20_000), batch("b", 1030.0, 3.0, 9000), batch("b", 1033.0, 1.2, 5100)]
    return (
        written(folder / "app-1", started("a", 950.0), batch("a", 952.0, 6.0, 0), *before, task, cut=True),
        written(folder / "app-2", started("b", 1020.0), *after),
    )


def test_a_query_that_was_killed(tmp_path: Path) -> None:
    (one,) = read(*killed_and_restarted(tmp_path)).recoveries
    # the progress of a batch is told when it has ended: the last begins at 1000 s and takes 1 s
    assert one.recovery_s == pytest.approx(1034.2 - 1001.0)
    assert one.interval_s == pytest.approx(5.0)
    assert one.rate == pytest.approx(1000.0)
    assert "app-2" in one.where
    folder = read(tmp_path)
    assert [r.recovery_s for r in folder.recoveries] == [one.recovery_s]


def test_what_is_no_failure_or_has_no_end(tmp_path: Path) -> None:
    before, after = killed_and_restarted(tmp_path)
    with pytest.raises(FtplanError, match="no query was started again: give the logs of both applications"):
        read(before)
    stopped = {"Event": f"{LISTENER}QueryTerminatedEvent", "id": "q", "runId": "a", "exception": None}
    text = before.read_text().rpartition("\n")[0]
    before.write_text(f"{text}\n{json.dumps(stopped)}\n")
    with pytest.raises(FtplanError, match="1 restart is left out: the query was stopped on purpose"):
        read(before, after)
    before.write_text(f"{text}\n")
    written(after, started("b", 1020.0), batch("b", 1021.0, 9.0, 20_000))
    with pytest.raises(FtplanError, match="had not caught up when the log ends"):
        read(before, after)


def test_a_folder_that_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(FtplanError, match="holds no Spark event log"):
        read(tmp_path)
