"""Restarts of a Structured Streaming query, from the event logs of both applications."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ftplan.costs.recoveries import read_recoveries
from ftplan.costs.recoveries.tables import ReadingOptions, RecoveryReading
from ftplan.errors import FtplanError
from tests.costs.recoveries.cases import LISTENER, batch, killed_and_restarted, started, written


def read(*paths: Path) -> RecoveryReading:
    return read_recoveries(paths, "auto", ReadingOptions())


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
