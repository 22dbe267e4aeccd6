"""Makes the small statistics beside this file.

``stats``: two days of hours, two operators, loads in step and against it. ``stats-tasks``: three hours of what each
task took and sent, most of it on one way from clicks/1 by sessions/2 to alerts/0.

Run it again after a change of the table schemas: ``python tests/data/small/make.py``.
"""

from __future__ import annotations

import hashlib
import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
START = datetime(2026, 3, 2, tzinfo=UTC)
WINDOWS = 48
GROUPS = {"sessions": 8, "alerts": 4}


def records(operator: str, group: int, window: int) -> int:
    """Return the load: day-shaped for even groups, night-shaped for odd ones, nearly constant for the last alert."""
    if (operator, group) == ("alerts", 3):
        return 40
    phase = math.pi * (group % 2) + 0.4 * group
    size = 100 + 25 * group if operator == "sessions" else 60 + 10 * group
    return round(size * (1.2 + math.sin(2 * math.pi * window / 24 + phase)))


def main() -> None:
    rows = [
        (operator, group, START + timedelta(hours=window), float(count))
        for operator, groups in sorted(GROUPS.items())
        for group in range(groups)
        for window in range(WINDOWS)
        if (count := records(operator, group, window))
    ]
    count = len(rows)
    table = pa.table(
        {
            "operator": pa.array([r[0] for r in rows], pa.string()),
            "key_group": pa.array([r[1] for r in rows], pa.int32()),
            "window_start": pa.array([r[2] for r in rows], pa.timestamp("us", tz="UTC")),
            "records": pa.array([r[3] for r in rows], pa.float64()),
            "bytes": pa.nulls(count, pa.float64()),
            "cpu_ms": pa.nulls(count, pa.float64()),
            "state_bytes": pa.nulls(count, pa.float64()),
            "resolution": pa.array(["key_group"] * count, pa.string()),
            "estimated": pa.array([False] * count, pa.bool_()),
        }
    )
    facts = {"key_hash": "flink", "resolution": "key_group", "estimated": False, "coverage": 1.0}
    operators = {name: {"key_groups": n, **facts} for name, n in sorted(GROUPS.items())}
    write("stats", WINDOWS, operators, key_groups=table)
    write("stats-tasks", 3, {"alerts": {}, "clicks": {}, "sessions": {}}, key_groups=table.slice(0, 0), **by_task())


def by_task() -> dict[str, pa.Table]:
    """Return the tables of tasks and of substreams; sessions/3 hears from clicks/0 only, and in the first hour."""
    sent = {("clicks", i, "sessions", j): 900 if (i, j) == (1, 2) else 30 * (j + 1) for i in range(2) for j in range(3)}
    sent |= {("sessions", j, "alerts", k): 450 if (j, k) == (2, 0) else 15 for j in range(4) for k in range(2)}
    rows = [(*pair, hour, float(count * (hour + 1))) for pair, count in sorted(sent.items()) for hour in range(3)]
    rows = sorted([*rows, ("clicks", 0, "sessions", 3, 0, 60.0)])
    tasks = sorted({row[:2] for row in rows} | {row[2:4] for row in rows})
    taken = [
        (
            *task,
            hour,
            sum(row[5] for row in rows if (row[2:4], row[4]) == (task, hour)),
            sum(row[5] for row in rows if (row[:2], row[4]) == (task, hour)),
        )
        for task in tasks
        for hour in range(3)
    ]
    hours = [START + timedelta(hours=hour) for hour in range(3)]
    names, starts = pa.string(), pa.timestamp("us", tz="UTC")
    substreams = {
        "from_operator": pa.array([r[0] for r in rows], names),
        "from_task": pa.array([r[1] for r in rows], pa.int32()),
        "to_operator": pa.array([r[2] for r in rows], names),
        "to_task": pa.array([r[3] for r in rows], pa.int32()),
        "window_start": pa.array([hours[r[4]] for r in rows], starts),
        "records": pa.array([r[5] for r in rows], pa.float64()),
    }
    tasks_table = {
        "operator": pa.array([r[0] for r in taken], names),
        "task": pa.array([r[1] for r in taken], pa.int32()),
        "window_start": pa.array([hours[r[2]] for r in taken], starts),
        "records_in": pa.array([r[3] for r in taken], pa.float64()),
        "records_out": pa.array([None if r[0] == "alerts" else r[4] for r in taken], pa.float64()),
        "cpu_ms": pa.array([400.0 * (r[3] + r[4]) for r in taken], pa.float64()),
        "busy_ms": pa.nulls(len(taken), pa.float64()),
        "memory_bytes": pa.nulls(len(taken), pa.float64()),
        "queue_length": pa.nulls(len(taken), pa.float64()),
    }
    return {"tasks": pa.table(tasks_table), "substreams": pa.table(substreams)}


def write(name: str, windows: int, operators: dict[str, dict[str, Any]], **tables: pa.Table) -> None:
    """Write a statistics folder of hours from the start."""
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    listed = {}
    for kind, table in tables.items():
        pq.write_table(table, folder / f"{kind}.parquet")
        digest = hashlib.sha256((folder / f"{kind}.parquet").read_bytes()).hexdigest()
        listed[kind] = {"rows": table.num_rows, "sha256": digest}
    counted = tables["key_groups"] if tables["key_groups"].num_rows else tables["substreams"]
    end = START + timedelta(hours=windows)
    manifest = {
        "format": "ftplan/stats",
        "format_version": "1.0",
        "tool_version": "0.1.0",
        "window_s": 3600,
        "start": "2026-03-02T00:00:00Z",
        "end": f"{end:%Y-%m-%dT%H:%M:%SZ}",
        "windows": windows,
        "rows_read": int(sum(counted["records"].to_pylist())),
        "rows_rejected": 0,
        "coverage": 1.0,
        "engine": "sail",
        "measures": ["records"],
        "inputs": [],
        "operators": operators,
        "tables": listed,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
