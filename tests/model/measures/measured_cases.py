"""Statistics of tasks and substreams: as a mapping, as a folder, and those that a topology implies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from ftplan.io.stats_store import load_stats
from ftplan.model.problem import StatsTables
from ftplan.model.rates import PairStream, rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology

START = pd.Timestamp("2026-01-01T00:00:00Z")
WINDOW_S = 60
KEY_GROUPS = ("operator", "key_group", "window_start", "records", "cpu_ms", "state_bytes", "resolution", "estimated")
TASKS = (
    "operator", "task", "window_start",
    "records_in", "records_out", "cpu_ms", "memory_bytes", "busy_ms", "queue_length",
)  # fmt: skip
SUBSTREAMS = ("from_operator", "from_task", "to_operator", "to_task", "window_start", "records")

Row = tuple[Any, ...]


def measured(
    operators: Sequence[str],
    *,
    tasks: Sequence[Row] = (),
    substreams: Sequence[Row] = (),
    key_groups: Sequence[Row] = (),
    windows: int = 2,
) -> dict[str, Any]:
    """Return statistics of windows of 60 s.

    Rows of *tasks* are (operator, task, window, records_in[, records_out[, cpu_ms[, memory_bytes[, busy_ms[,
    queue_length]]]]]), those of *substreams* (from operator, from task, to operator, to task, window, records), those
    of *key_groups* (operator, key group, window, records[, cpu_ms[, state_bytes]]).
    """
    end = START + pd.Timedelta(seconds=WINDOW_S * windows)
    manifest = {
        "format": "ftplan/stats",
        "format_version": "1.0",
        "window_s": WINDOW_S,
        "windows": windows,
        "start": START.isoformat(),
        "end": end.isoformat(),
        "measures": ["records"],
        "operators": {name: {} for name in sorted(operators)},
    }
    found: dict[str, Any] = {"manifest": manifest, "key_groups": pd.DataFrame([], columns=list(KEY_GROUPS))}
    if tasks:
        rows = [(*row[:2], _time(row[2]), *map(_number, row[3:])) for row in tasks]
        padded = [row + (None,) * (len(TASKS) - len(row)) for row in rows]
        found["tasks"] = pd.DataFrame(padded, columns=list(TASKS)).astype(dict.fromkeys(TASKS[3:], "float64"))
    if key_groups:
        rows = [(*row[:2], _time(row[2]), *map(_number, row[3:])) for row in key_groups]
        padded = [(*row, *(None,) * (6 - len(row)), "key_group", False) for row in rows]
        numbers = dict.fromkeys(KEY_GROUPS[3:6], "float64")
        found["key_groups"] = pd.DataFrame(padded, columns=list(KEY_GROUPS)).astype(numbers)
    if substreams:
        rows = [(*row[:4], _time(row[4]), float(row[5])) for row in substreams]
        found["substreams"] = pd.DataFrame(rows, columns=list(SUBSTREAMS))
    return found


def _time(window: int) -> pd.Timestamp:
    return START + pd.Timedelta(seconds=WINDOW_S * window)


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def tables(statistics: Mapping[str, Any]) -> StatsTables:
    """Read statistics that :func:`measured` made."""
    return load_stats(statistics).value


def folder(path: Path, statistics: Mapping[str, Any]) -> Path:
    """Write statistics as a folder of Parquet files, whose hashes the manifest holds."""
    path.mkdir()
    listed = {}
    for name, table in tables(statistics).tables.items():
        file = path / f"{name}.parquet"
        pq.write_table(table, file)
        listed[name] = {"rows": table.num_rows, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    (path / "manifest.json").write_text(json.dumps({**statistics["manifest"], "tables": listed}))
    return path


def implied(topology: Topology) -> dict[str, Any]:
    """Return the statistics of one window in which a topology works without failure at the rates that it states."""
    graph = TaskGraph(topology)
    derived = rates(graph)
    by_task = [
        (*graph.name(task), 0, WINDOW_S * into, WINDOW_S * out)
        for task, (into, out) in enumerate(zip(derived.into.tolist(), derived.out.tolist(), strict=True))
    ]
    pairs = [
        (topology.operators[source].id, i, topology.operators[target].id, j, 0, WINDOW_S * rate)
        for (source, i, target, j), rate in substreams_of(topology).items()
        if rate > 0.0
    ]
    return measured([o.id for o in topology.operators], tasks=by_task, substreams=pairs, windows=1)


def substreams_of(topology: Topology) -> dict[tuple[int, int, int, int], float]:
    """Return records/s by (source, from index, target, to index), every stream written out."""
    found: dict[tuple[int, int, int, int], float] = {}
    for stream in rates(TaskGraph(topology)).streams:
        if isinstance(stream, PairStream):
            pairs = zip(stream.sender.tolist(), stream.receiver.tolist(), stream.rate.tolist(), strict=True)
        else:
            pairs = (
                (i, j, sent * part)
                for i, sent in enumerate(stream.sent.tolist())
                for j, part in enumerate(stream.share.tolist())
            )  # type: ignore[assignment]
        for i, j, rate in pairs:
            key = (stream.source, i, stream.target, j)
            found[key] = found.get(key, 0.0) + rate
    return found
