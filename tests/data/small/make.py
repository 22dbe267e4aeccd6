"""Makes the small statistics beside this file: two days of hours, two operators, loads in step and against it.

Run it again after a change of the table schemas: ``python tests/data/small/make.py``.
"""

from __future__ import annotations

import hashlib
import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

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
    folder = HERE / "stats"
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / "key_groups.parquet")
    digest = hashlib.sha256((folder / "key_groups.parquet").read_bytes()).hexdigest()
    manifest = {
        "format": "ftplan/stats",
        "format_version": "1.0",
        "tool_version": "0.1.0",
        "window_s": 3600,
        "start": "2026-03-02T00:00:00Z",
        "end": "2026-03-04T00:00:00Z",
        "windows": WINDOWS,
        "rows_read": int(sum(r[3] for r in rows)),
        "rows_rejected": 0,
        "coverage": 1.0,
        "engine": "sail",
        "measures": ["records"],
        "inputs": [],
        "operators": {
            name: {"key_groups": n, "key_hash": "flink", "resolution": "key_group", "estimated": False, "coverage": 1.0}
            for name, n in sorted(GROUPS.items())
        },
        "tables": {"key_groups": {"rows": count, "sha256": digest}},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
