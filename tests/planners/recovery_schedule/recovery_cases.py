"""Small jobs for recovery schedules, as documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import ftplan
from tests.places import ROOT

EXAMPLES = ROOT / "examples"

TOPOLOGY: Mapping[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "source", "parallelism": 2, "cpu": 0.5},
        {"id": "join", "parallelism": 4, "cpu": 1.0, "key_groups": 8, "state_bytes": 8 * 2**20},
        {"id": "sink", "parallelism": 4, "cpu": 0.25, "priority": [1, 2, 3, 4]},
    ],
    "edges": [
        {"from": "source", "to": "join", "partitioning": "split"},
        {"from": "join", "to": "sink", "partitioning": "one-to-one"},
    ],
}
PLACEMENT = {
    "source": ["n1", "n2"],
    "join": ["n1", "n1", "n2", "n10"],
    "sink": ["n3", "n3", "n3", "n3"],
}
CLUSTER: Mapping[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "nodes": [
        {"id": "n10", "cpu": 4, "zone": "b"},
        {"id": "n1", "cpu": 4, "zone": "a"},
        {"id": "n2", "cpu": 3, "zone": "a"},
        {"id": "n3", "cpu": 4, "zone": "b", "used_cpu": 1.0},
    ],
    "network": {"bandwidth_mb_s": 1},
    "placement": {"tasks": PLACEMENT},
}


def loaded(
    failure: Mapping[str, Any] | None = None,
    placement: Mapping[str, Any] | None = None,
    stats: Mapping[str, Any] | None = None,
    **changes: Any,
) -> ftplan.Problem:
    """Return the case with another placement, or other parts of the cluster; a failure without its envelope."""
    given = None if failure is None else {"format": "ftplan/failure", "format_version": "1.0", **failure}
    cluster = {**CLUSTER, "placement": {"tasks": PLACEMENT, **(placement or {})}, **changes}
    return ftplan.load(topology=TOPOLOGY, cluster=cluster, failure=given, stats=stats)


def example(name: str) -> ftplan.Problem:
    """Return the inputs of one of the examples."""
    folder = EXAMPLES / name
    return ftplan.load(**{kind: folder / f"{kind}.yaml" for kind in ("topology", "cluster", "failure")})


def statistics(tasks: list[tuple[Any, ...]] = [], key_groups: list[tuple[Any, ...]] = []) -> dict[str, Any]:  # noqa: B006
    """Return statistics of two windows of 60 s; rows are (operator, number, window, records, cpu_ms[, state])."""
    start = pd.Timestamp("2026-01-01T00:00:00Z")
    times = [start, start + pd.Timedelta(seconds=60)]
    names = sorted({row[0] for row in [*tasks, *key_groups]})
    groups = {row[0] for row in key_groups}
    manifest = {
        "format": "ftplan/stats",
        "format_version": "1.0",
        "window_s": 60,
        "windows": 2,
        "start": "2026-01-01T00:00:00Z",
        "end": "2026-01-01T00:02:00Z",
        "measures": ["records", "cpu_ms"],
        "operators": {name: {"key_groups": 8} if name in groups else {} for name in names},
    }
    by_task = [
        {"operator": o, "task": i, "window_start": times[w], "records_in": float(r), "cpu_ms": c}
        for o, i, w, r, c in tasks
    ]
    by_group = [
        {
            "operator": row[0],
            "key_group": row[1],
            "window_start": times[row[2]],
            "records": float(row[3]),
            "cpu_ms": row[4],
            "state_bytes": row[5] if len(row) > 5 else None,
            "resolution": "key_group",
            "estimated": False,
        }
        for row in key_groups
    ]
    columns = ["operator", "key_group", "window_start", "records", "cpu_ms", "state_bytes", "resolution", "estimated"]
    found: dict[str, Any] = {"manifest": manifest, "key_groups": pd.DataFrame(by_group, columns=columns)}
    if by_task:
        found["tasks"] = pd.DataFrame(by_task)
    return found
