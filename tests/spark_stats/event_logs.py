"""The event log of examples/spark as lines, and what is done to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ftplan.engines.spark.log_files import event_lines, find_event_logs
from tests.places import ROOT

SAMPLE = ROOT / "examples" / "spark" / "eventlog"
SOURCE, STATE = "ftplan-sample.MicroBatchScan", "ftplan-sample.StateStoreSave"


def events(folder: Path = SAMPLE) -> list[dict[str, Any]]:
    """The events of all logs in a folder but for those that are not written whole yet."""
    lines = (line for log in find_event_logs([str(folder)]) for line in event_lines(log))
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def is_a(event: dict[str, Any], name: str) -> bool:
    return str(event["Event"]).endswith(name)


def written(path: Path, given: Iterable[dict[str, Any]]) -> Path:
    """Write events as Spark does."""
    path.write_text("".join(json.dumps(e, separators=(",", ":")) + "\n" for e in given), encoding="utf-8")
    return path


def progress(given: Iterable[dict[str, Any]]) -> dict[int, tuple[float, float, float]]:
    """What Spark itself says of each batch: records read, rows and bytes of state."""
    said = {}
    for event in given:
        if is_a(event, "QueryProgressEvent"):
            of = event["progress"]
            state = [(s["numRowsTotal"], s["memoryUsedBytes"]) for s in of["stateOperators"]]
            said[of["batchId"]] = (sum(s["numInputRows"] for s in of["sources"]), *map(sum, zip(*state, strict=True)))
    return said  # type: ignore[return-value]


def renumbered(given: Iterable[dict[str, Any]], by: int, run: str) -> list[dict[str, Any]]:
    """The same events as of another run, *by* hours later."""
    text = "\n".join(json.dumps(event) for event in given)
    text = re.sub(r"(?<=Time\": )\d{13}", lambda m: str(int(m[0]) + by * 3_600_000), text)
    return [json.loads(line) for line in text.replace("06741ed7", run).splitlines()]
