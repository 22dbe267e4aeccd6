"""A real Structured Streaming query: killed, started again on its checkpoint, and read from its event logs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftplan.costs.recoveries import read_recoveries
from ftplan.costs.recoveries.tables import ReadingOptions
from ftplan.errors import FtplanError
from ftplan.model.recovery_costs import MeasuredRecovery
from ftplan.spark_stats.choice import LEAST_JAVA, java_version
from tests.spark_stats import streaming_query
from tests.spark_stats.conftest import Run
from tests.spark_stats.event_logs import events, progress


def run_until(folder: Path, enough: Callable[[], bool], end: Callable[[int], object]) -> None:
    """Run the query until its log says *enough*, then *end* its process group."""
    command = [sys.executable, streaming_query.__file__, str(folder)]
    others = [name for name in os.environ if name.startswith(("SPARK_", "PYSPARK_")) and name != "SPARK_SUBMIT_OPTS"]
    own = {name: value for name, value in os.environ.items() if name not in others}
    with (folder / "output.txt").open("ab") as output:
        query = subprocess.Popen(command, env=own, stdout=output, stderr=output, start_new_session=True)
        try:
            while not enough():
                assert query.poll() is None, (folder / "output.txt").read_text()[-2000:]
                time.sleep(0.1)
            end(query.pid)
            query.wait()
        finally:
            if query.poll() is None:
                os.killpg(query.pid, signal.SIGKILL)
                query.wait()


def batches(logs: Path) -> dict[int, Any]:
    """What Spark reports of the batches in the logs so far."""
    try:
        return progress(events(logs))
    except FtplanError:
        return {}


def recoveries(logs: Path) -> tuple[MeasuredRecovery, ...]:
    """The recoveries in the logs so far."""
    try:
        return read_recoveries([logs], "spark", ReadingOptions()).recoveries
    except FtplanError:
        return ()


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("session", ["sail"], indirect=True)
def test_a_killed_query(run: Run, tmp_path: Path) -> None:
    """The sums are Spark's own, over the kill too, and the time it cost shows. Spark starts twice."""
    if (java_version() or 0) < LEAST_JAVA:
        pytest.skip("no Java")
    logs = tmp_path / "logs"
    run_until(tmp_path, lambda: len(batches(logs)) >= 3, lambda group: os.killpg(group, signal.SIGKILL))
    before = batches(logs)
    assert recoveries(logs) == ()
    run_until(tmp_path, lambda: bool(recoveries(logs)), lambda _: (tmp_path / "stop").touch())
    said = batches(logs)
    assert len(said) > len(before)
    assert {records for records, _, _ in said.values()} == {1000.0}
    stats = run(logs, input_format="spark-eventlog")
    assert set(stats.manifest["operators"]) == {"counts.MicroBatchScan", "counts.StateStoreSave"}
    assert stats.manifest["operators"]["counts.StateStoreSave"]["key_groups"] == 3
    ours: dict[int, list[float]] = {}
    for batch, operator, records, rows, size in stats.rows(
        "batches", "batch", "operator", "records", "state_rows", "state_bytes"
    ):
        total = ours.setdefault(batch, [0.0, 0.0, 0.0])
        total[0] += records if operator == "counts.MicroBatchScan" else 0.0
        total[1] += rows or 0.0
        total[2] += size or 0.0
    assert {batch: tuple(ours[batch]) for batch in said} == said
    assert {rows for _, rows, _ in said.values()} == {50.0}
    (recovery,) = recoveries(logs)
    assert recovery.recovery_s is not None
    assert recovery.recovery_s > 0
