"""The command line in a folder with small inputs: within this process, or as one of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.in_process import run_here

DATA = Path(__file__).resolve().parent.parent / "data" / "small"

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without what would change the answers."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FTPLAN_") and k not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "COLUMNS": "200", **more}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with topology.yaml, cluster.yaml and stats/."""
    shutil.copytree(DATA, tmp_path / "project", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return tmp_path / "project"


@pytest.fixture
def ftplan(project: Path) -> Run:
    """Run ftplan in the project folder: ``ftplan("check", "topology.yaml")``."""

    def run(
        *args: str, stdin: str | None = None, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return run_here(args, cwd=cwd or project, env=environment(**env), stdin=stdin)

    return run


@pytest.fixture
def ftplan_process(project: Path) -> Run:
    """Run ftplan like ``ftplan``, but as a process of its own."""

    def run(
        *args: str, stdin: str | None = None, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ftplan", *args],
            cwd=cwd or project,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            env=environment(**env),
            check=False,
        )

    return run
