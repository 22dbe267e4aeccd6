"""The hook for logs of engines: rows of tasks, of key groups and of both become tables like any other log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ftplan.engines import log_rows as rows
from ftplan.engines.registry import Engine
from ftplan.errors import FtplanError
from ftplan.spark_stats.log_formats import LogFormat
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.session import Session
from tests.spark_stats.conftest import Run

MINUTE = 60_000_000
ROWS: dict[str, list[Any]] = {
    "time_us": [0, 1, 1, 2, MINUTE, MINUTE, 3],
    "operator": ["keyed", "keyed", "mapped", "both", "keyed", "keyed", "whole"],
    "task": [0, 1, 0, 1, 0, None, None],
    "key_group": [None, None, None, 1, None, 2, None],
    "records": [10.0, 6.0, 7.0, 5.0, 4.0, 0.0, 8.0],
    "cpu": [1.5, None, 2.0, 3.0, 1.0, None, None],
    "state": [None, None, None, 50.0, None, 900.0, None],
    "node": ["a", "b", "a", "b", "a", None, None],
}
KEY_GROUPS = {"keyed": 4, "both": 2, "whole": 2}


def read_rows(session: Session, logs: Any, files: Any, mapping: LogMapping) -> Any:
    types = {c: pa.float64() if rows.COLUMNS[c][0] == "double" else None for c in ROWS}
    table = pa.table({c: pa.array(values, types[c]) for c, values in ROWS.items()})
    return rows.arrow_log(session, table, files, mapping, KEY_GROUPS)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    rows = (Engine("fake", logs=(LogFormat("fake-log", f"{__name__}:read_rows"),)),)
    monkeypatch.setattr("ftplan.engines.registry.ENGINES", rows)
    log = tmp_path / "log.bin"
    log.write_bytes(b"\0\1")
    return log


def test_rows_of_tasks_key_groups_and_operators(run: Run, fake: Path) -> None:
    stats = run(fake, input_format="fake-log")
    groups = stats.rows("key_groups", "operator", "key_group", "records", "state_bytes", "resolution", "estimated")
    minute = [g for g in groups if g[0] != "keyed"]
    assert minute == [
        ("both", 1, 5.0, 50.0, "key_group", False),
        ("whole", 0, 4.0, None, "operator", True),
        ("whole", 1, 4.0, None, "operator", True),
    ]
    # Task 0 holds key groups 0 and 1, task 1 the others; the state of group 2 was measured, and stands apart.
    assert sorted(g[1:] for g in groups if g[0] == "keyed") == [
        (0, 2.0, None, "task", True),
        (0, 5.0, None, "task", True),
        (1, 2.0, None, "task", True),
        (1, 5.0, None, "task", True),
        (2, 0.0, 900.0, "key_group", False),
        (2, 3.0, None, "task", True),
        (3, 3.0, None, "task", True),
    ]
    tasks = stats.rows("tasks", "operator", "task", "records_in", "cpu_ms")
    assert tasks == [
        ("both", 1, 5.0, 3.0),
        ("keyed", 0, 10.0, 1.5),
        ("keyed", 0, 4.0, 1.0),
        ("keyed", 1, 6.0, None),
        ("mapped", 0, 7.0, 2.0),
    ]
    operators = {n: (o["key_groups"], o["resolution"]) for n, o in stats.manifest["operators"].items()}
    assert operators == {
        "both": (2, "key_group"), "keyed": (4, "task"), "mapped": (None, "task"), "whole": (2, "operator"),
    }  # fmt: skip
    (entry,) = stats.manifest["inputs"]
    assert entry["bytes"] == 2
    assert len(entry["sha256"]) == 64


def test_both_in_one_window_are_one_row(run: Run, fake: Path) -> None:
    stats = run(fake, input_format="fake-log", window_s=120.0)
    groups = stats.rows("key_groups", "operator", "key_group", "records", "state_bytes", "resolution", "estimated")
    assert [g[1:] for g in groups if g[0] == "keyed"] == [
        (0, 7.0, None, "task", True),
        (1, 7.0, None, "task", True),
        (2, 3.0, 900.0, "task", True),
        (3, 3.0, None, "task", True),
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"time_columns": ("t",)}, "--time-column: fake-log knows its columns"),
        ({"keys": (("a", ("b",)),)}, "--key: fake-log knows its columns"),
        ({"key_groups": 3}, "--key-groups 3: operator 'keyed' has 4 in the log"),
    ],
)
def test_what_an_engine_knows_is_not_asked(run: Run, fake: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(FtplanError, match=told):
        run(fake, input_format="fake-log", **options)
