"""A job of two keyed operators between a source and a sink, whose statistics are small enough to compute by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ftplan
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance, prepare

MB = 2**20
TOPOLOGY: Mapping[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "clicks", "parallelism": 2, "rate_out": 5.0},
        {
            "id": "sums", "parallelism": 2, "key_groups": 4, "cpu": 0.5, "state_bytes": 8 * MB, "record_time_s": 0.02,
            "checkpoint": {"interval_s": 20},
        },
        {
            "id": "ranks", "parallelism": 2, "key_groups": 3, "cpu": 0.5,
            "checkpoint": {"interval_s": 10, "kind": "full"},
        },
        {"id": "sink", "parallelism": 1},
    ],
    "edges": [
        {"from": "clicks", "to": "sums", "partitioning": "full"},
        {"from": "sums", "to": "ranks", "substreams": [[0, 0, 3.0], [0, 1, 1.0], [1, 1, 2.0]]},
        {"from": "ranks", "to": "sink", "partitioning": "merge"},
    ],
}  # fmt: skip
CLUSTER: Mapping[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "nodes": [
        {"id": "n10", "cpu": 2, "zone": "b"},
        {"id": "n1", "cpu": 2, "zone": "a", "memory_mb": 64},
        {"id": "n2", "cpu": 4, "zone": "a", "used_cpu": 1},
        {"id": "n3", "cpu": 2, "zone": "b", "accepts": ["checkpoints"]},
    ],
    "network": {"bandwidth_mb_s": 50, "delay_s": 0.002},
    "placement": {
        "tasks": {"clicks": ["n1", "n2"], "sums": ["n1", "n2"], "ranks": ["n2", "n1"], "sink": ["n2"]},
        "key_groups": {"ranks": ["n2", "n2", "n1"]},
        "checkpoints": {"sums": [["n2"], ["n3"], ["n1"], ["n1", "n10"]]},
    },
}
#: Records of each key group in each of three windows of 10 s; group 1 of ranks is not known.
RECORDS = {
    ("sums", 0): (10, 20, 30), ("sums", 1): (20, 20, 20), ("sums", 2): (0, 0, 60), ("sums", 3): (40, 50, 30),
    ("ranks", 0): (30, 30, 30), ("ranks", 2): (0, 30, 0),
}  # fmt: skip
COSTS: Mapping[str, Any] = {
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "state": "local",
    "parameters": {
        "detection_s": {"value": 50},
        "restart_s": {"value": 10},
        "bandwidth_mb_s": {"value": 2},
        "replay_share": {"value": 0.25},
        "capacity_records_s": {"value": 20},
    },
    "fitted_on": {"recoveries": 5, "rates": [1, 20], "intervals_s": [10, 60]},
}


def time(window: int) -> str:
    """Return the start of a window."""
    return f"2026-01-01T00:00:{10 * window:02d}Z"


def statistics(**more: Any) -> dict[str, Any]:
    """Return the statistics; *more* are further columns of key groups: functions of operator and records."""
    rows = [
        {
            "operator": operator, "key_group": group, "window_start": time(window), "records": float(records),
            "resolution": "key_group", "estimated": False,
            **{name: column(operator, records) for name, column in more.items()},
        }
        for (operator, group), series in RECORDS.items()
        for window, records in enumerate(series)
        if records
    ]  # fmt: skip
    manifest = {
        "format": "ftplan/stats", "format_version": "1.0", "window_s": 10, "windows": 3,
        "start": time(0), "end": time(3),
        "operators": {"sums": {"key_groups": 4}, "ranks": {"key_groups": 3}},
    }  # fmt: skip
    return {"manifest": manifest, "key_groups": rows}


def job(stats: Any = None, **changes: Any) -> ftplan.Problem:
    """Return the job; *changes* are further parts of its cluster."""
    return ftplan.load(topology=TOPOLOGY, cluster={**CLUSTER, **changes}, stats=stats or statistics())


def prepared(problem: ftplan.Problem | None = None, **options: Any) -> PreparedRebalance:
    """Return what is asked of the planners."""
    return prepare(problem or job(), RebalanceOptions.of("rebalance", options))


def codes(answer: PreparedRebalance) -> set[str]:
    """Return the codes of the warnings, but those of any short trace."""
    return {warning.code for warning in answer.problem.warnings} - {"SHORT_TRACE", "FEW_WINDOWS", "LOW_COVERAGE"}
