"""The commands of examples/flink from collected answers to plans, as its README has them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ftplan.io.topology_file import load_topology
from tests.cli.conftest import environment
from tests.cli.in_process import run_here

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "flink"


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of README; one that starts an engine as a process of its own, on Sail, which is soon there."""
    args = shlex.split(command)
    if args[0] != "compute-stats":
        return run_here(args, cwd=folder, env=environment())
    line = [sys.executable, "-m", "ftplan", *args, "--engine", "sail"]
    return subprocess.run(line, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.spark
def test_its_commands_run(tmp_path: Path) -> None:
    pytest.importorskip("pysail")
    folder = tmp_path / "flink"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("out"))
    commands = re.findall(r"^\$ ftplan (.*)$", (EXAMPLE / "README.md").read_text(), re.MULTILINE)
    assert [command.split()[0] for command in commands] == [
        "import-topology", "compute-stats", "calibrate", "replicate-tasks", "allocate-checkpoints",
        "recovery-schedule",
    ]  # fmt: skip
    for command in commands:
        done = run(command, folder)
        assert done.returncode == 0, f"$ ftplan {command}\n{done.stderr}"
    topology = load_topology(folder / "topology.yaml").value
    assert topology.task_count == 9
    for name in ("replicas", "checkpoints", "schedule"):
        assert json.loads((folder / f"{name}.json").read_text())["status"] in ("optimal", "feasible"), name
