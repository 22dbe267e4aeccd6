"""The workflow in examples/github-actions: its ftplan commands run, and make a step summary in Markdown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from tests.cli.conftest import environment

WORKFLOW = Path(__file__).resolve().parents[2] / "examples" / "github-actions" / "recovery-plan.yml"


def test_its_steps_run_and_write_a_summary(project: Path) -> None:
    """Every step but the installation runs as GitHub would run it, in a repository with the files it expects."""
    (project / "ftplan.toml").write_text(
        '[inputs]\ntopology = "topology.yaml"\ncluster = "cluster.yaml"\nstats = "stats"\n'
    )
    steps = yaml.safe_load(WORKFLOW.read_text())["jobs"]["plan"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step and "pip install" not in step["run"]]
    summary = project / "summary.md"
    assert any("allocate-checkpoints" in script for script in scripts)
    assert any("ftplan verify" in script for script in scripts)
    for script in scripts:
        done = subprocess.run(
            ["bash", "-e", "-c", f'ftplan() {{ "{sys.executable}" -m ftplan "$@"; }}\n{script}'],
            cwd=project,
            env=environment(GITHUB_STEP_SUMMARY=str(summary)),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stderr}"
    text = summary.read_text()
    assert "## Checkpoint allocation" in text
    assert "| correlation |" in text
