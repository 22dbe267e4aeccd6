"""Small valid documents that the tests bend."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from ftplan.api.checking import Checked, check_files
from ftplan.errors import FtplanError


def topology(**changes: Any) -> dict[str, Any]:
    """flights (4 tasks) and weather (2) -> join (4 tasks, 8 key groups) -> report (2)."""
    document: dict[str, Any] = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [
            {"id": "flights", "parallelism": 4},
            {"id": "weather", "parallelism": 2},
            {"id": "join", "parallelism": 4, "key_groups": 8, "inputs": "correlated"},
            {"id": "report", "parallelism": 2},
        ],
        "edges": [
            {"from": "flights", "to": "join", "partitioning": "one-to-one"},
            {"from": "weather", "to": "join", "partitioning": "full"},
            {"from": "join", "to": "report", "partitioning": "merge"},
        ],
    }
    document.update(copy.deepcopy(changes))
    return document


def with_operator(index: int, **changes: Any) -> dict[str, Any]:
    document = topology()
    document["operators"][index].update(changes)
    return document


def with_edge(index: int, **changes: Any) -> dict[str, Any]:
    document = topology()
    document["edges"][index].update(changes)
    return document


def cluster(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = {
        "format": "ftplan/cluster",
        "format_version": "1.0",
        "nodes": [
            {"id": "n10", "cpu": 4.0, "zone": "rack-a", "memory_mb": 1024},
            {"id": "n2", "cpu": 2, "zone": "rack-b"},
            {"id": "n1", "cpu": 2},
        ],
    }
    document.update(copy.deepcopy(changes))
    return document


def failure(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = {
        "format": "ftplan/failure",
        "format_version": "1.0",
        "fail": ["zone:rack-a", {"at_s": 60, "select": "node:n2"}],
        "arrivals": [{"at_s": [120, 360], "node": {"id": "n2", "cpu": 4}}],
        "scenarios": [{"id": "rack-a", "probability": 0.02, "fail": ["zone:rack-a"]}],
    }
    document.update(copy.deepcopy(changes))
    return document


def plan(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = {
        "format": "ftplan/plan",
        "format_version": "1.0",
        "kind": "allocate-checkpoints",
        "plan": {"assignments": [{"operator": "join", "key_group": 0, "primary": "n1", "checkpoints": ["n2"]}]},
    }
    document.update(copy.deepcopy(changes))
    return document


def manifest(**changes: Any) -> dict[str, Any]:
    """Four windows of a minute."""
    document: dict[str, Any] = {
        "format": "ftplan/stats",
        "format_version": "1.0",
        "window_s": 60,
        "start": "2024-01-01T00:00:00Z",
        "end": "2024-01-01T00:04:00Z",
        "windows": 4,
        "measures": ["records", "bytes"],
        "operators": {"join": {"key_groups": 3, "key_hash": "flink", "resolution": "key_group", "estimated": False}},
    }
    document.update(copy.deepcopy(changes))
    return document


def key_group_row(**changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "operator": "join",
        "key_group": 1,
        "window_start": "2024-01-01T00:01:00Z",
        "records": 5.0,
        "bytes": 50.0,
        "cpu_ms": None,
        "state_bytes": 7.0,
        "resolution": "key_group",
        "estimated": False,
    }
    row.update(changes)
    return row


def check_file(path: Any) -> Checked:
    """Check one file by itself; raise what is wrong with it."""
    checked, errors = check_files([path])
    if errors:
        raise errors[0]
    return checked[0]


def said(function: Any, *args: Any, **kwargs: Any) -> str:
    """Return the message of the FtplanError that a call raises."""
    with pytest.raises(FtplanError) as raised:
        function(*args, **kwargs)
    return str(raised.value)


def write(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)
