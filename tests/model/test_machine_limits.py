"""Limits of a container, as both versions of Linux's groups state them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftplan.model import machine_limits
from ftplan.model.machine_limits import VARIABLE, available_bytes
from ftplan.processes import cores


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of the group that this process is in."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(machine_limits, "GROUPS", tmp_path)
    monkeypatch.setattr(machine_limits, "_groups", lambda controller: iter([tmp_path / "own", tmp_path]))
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def test_without_limits_the_machine_counts(group: Path) -> None:
    (group / "memory.max").write_text("max\n")
    (group / "cpu.max").write_text("max 100000\n")
    (group.parent / "memory.limit_in_bytes").write_text(f"{2**63 - 4096}\n")
    assert (machine_limits.cores(), machine_limits.memory_bytes(), machine_limits.memory_left_bytes()) == (
        None,
        None,
        None,
    )
    assert available_bytes() > 2**20
    assert cores() >= 1


def test_what_is_left_is_the_limit_without_what_is_held(group: Path) -> None:
    """Files that were read and are kept in case can be dropped, and are no memory that is held."""
    (group / "memory.max").write_text("1000000\n")
    (group / "memory.current").write_text("700000\n")
    (group / "memory.stat").write_text("anon 100000\ninactive_file 500000\n")
    (group.parent / "memory.max").write_text("900000\n")
    assert (machine_limits.memory_bytes(), machine_limits.memory_left_bytes()) == (900_000, 800_000)
    assert available_bytes() == 800_000


def test_more_is_held_than_is_allowed(group: Path) -> None:
    (group / "memory.limit_in_bytes").write_text("1000\n")
    (group / "memory.usage_in_bytes").write_text("5000\n")
    assert machine_limits.memory_left_bytes() == 0


def test_the_variable_wins(group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (group / "memory.max").write_text("1000\n")
    monkeypatch.setenv(VARIABLE, "2")
    assert available_bytes() == 2 * 2**30


@pytest.mark.parametrize(
    ("files", "allowed"),
    [({"cpu.max": "150000 100000"}, 1.5), ({"cpu.cfs_quota_us": "50000", "cpu.cfs_period_us": "100000"}, 0.5)],
)
def test_a_quota_is_cores_rounded_up(group: Path, files: dict[str, str], allowed: float) -> None:
    for name, text in files.items():
        (group / name).write_text(text + "\n")
    assert machine_limits.cores() == allowed
    assert cores() <= 2
    assert cores() >= 1


def test_groups_are_those_of_the_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its own first, then those that hold it, up to the top."""
    monkeypatch.setattr(machine_limits, "GROUPS", tmp_path)
    monkeypatch.setattr(machine_limits, "_text", lambda path: "0::/pods/one\n")
    assert list(machine_limits._groups("memory")) == [tmp_path / "pods" / "one", tmp_path / "pods", tmp_path]
    monkeypatch.setattr(machine_limits, "_text", lambda path: "4:memory,x:/one\n3:cpu:/two\n")
    assert list(machine_limits._groups("memory")) == [tmp_path / "memory" / "one", tmp_path / "memory"]
