"""Event logs of a query that was killed and started again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LISTENER = "org.apache.spark.sql.streaming.StreamingQueryListener$"


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
