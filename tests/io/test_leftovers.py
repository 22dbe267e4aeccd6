"""What a killed process left is removed by the next that writes there, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ftplan.io import leftovers
from ftplan.io.output import new_folder, write_text


@pytest.fixture(name="dead")
def _dead() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_the_dead_left_is_removed(tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    own = leftovers.mark()
    of_dead = own.replace(f"-{os.getpid()}-", f"-{dead}-")
    elsewhere = of_dead.replace(of_dead[1:9], "00000000")
    names = {mark: tmp_path / f".plan.json{mark}.partial" for mark in (own, of_dead, elsewhere, ".12345678")}
    (tmp_path / f".other.json{of_dead}.partial").touch()
    for path in names.values():
        path.write_text("half")
    write_text(tmp_path / "plan.json", "whole")
    assert {mark for mark, path in names.items() if path.exists()} == {own, elsewhere, ".12345678"}
    assert (tmp_path / f".other.json{of_dead}.partial").exists()
    os.utime(names[elsewhere], (0, 0))  # begun on another machine, long ago
    write_text(tmp_path / "plan.json", "whole", force=True)
    assert not names[elsewhere].exists()
    folder = tmp_path / f".stats{of_dead}.partial"
    folder.mkdir()
    (folder / "manifest.json").touch()
    with new_folder(tmp_path / "stats"):
        pass
    assert not folder.exists()
