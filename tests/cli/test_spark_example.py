"""The commands of examples/spark run in order, on Sail."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import environment

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "spark"


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


@pytest.mark.spark
def test_commands_of_the_spark_example(tmp_path: Path) -> None:
    pytest.importorskip("pysail")
    folder = tmp_path / "spark"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("stats", "topology.yaml"))
    settings = (folder / "ftplan.toml").read_text().replace("[compute-stats]", '[compute-stats]\nengine = "sail"')
    (folder / "ftplan.toml").write_text(settings)
    text = (folder / "README.md").read_text()
    commands, code = (re.findall(rf"```{kind}\n(.*?)```", text, flags=re.DOTALL)[0] for kind in ("sh", "python"))
    for line in commands.splitlines():
        run(sys.executable, "-m", "ftplan", *shlex.split(line, comments=True)[1:], cwd=folder)
    assert "14636.0    5043240.0" in run(sys.executable, "-c", code, cwd=folder)
