"""The hooks for pre-commit, run by pre-commit itself in a repository with two jobs and much else."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.in_process import DATA, environment, run_here
from tests.places import ROOT

pytestmark = pytest.mark.slow

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))

PROJECT = """[inputs]
topology = "topology.yaml"
cluster = "cluster.yaml"
"""


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=folder, check=True)


def committed(folder: Path) -> Path:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "All")
    return folder


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """This project's hooks, which take ftplan as it is here: nothing is installed."""
    (tmp_path / "hooks").mkdir()
    here = [{**hook, "language": "system"} for hook in HOOKS]
    (tmp_path / "hooks" / ".pre-commit-hooks.yaml").write_text(yaml.safe_dump(here), "utf-8")
    return committed(tmp_path / "hooks")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two jobs, a plan for one of them, and YAML and JSON of others."""
    folder = tmp_path / "repository"
    for job in ("clicks", "orders"):
        shutil.copytree(DATA, folder / "jobs" / job, ignore=shutil.ignore_patterns("*.py", "__pycache__", "stats-*"))
        (folder / "jobs" / job / "ftplan.toml").write_text(
            '[inputs]\ntopology = "topology.yaml"\ncluster = "cluster.yaml"\n'
        )
    (folder / "chart.yaml").write_text("nodes: {{ .Values.nodes }}\n")
    (folder / "package.json").write_text('{"name": "x"}')
    planned = ["allocate-checkpoints", "--stats", "stats", "--output", "plan.json", "--quiet"]
    assert run_here(planned, cwd=folder / "jobs" / "clicks", env=environment()).returncode == 0
    return committed(folder)


def served(**more: str) -> dict[str, str]:
    """Return an environment with ftplan as it is here."""
    path = f"{ROOT / 'tests' / 'docs' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return environment(PATH=path, PYTHONPATH=str(ROOT), PYTHON_OF_TESTS=sys.executable, **more)


def tried(hooks: Path, repository: Path, hook: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Let pre-commit run one hook on what is staged."""
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), hook, "--color", "never", *more],
        cwd=repository, capture_output=True, text=True, check=False,
        env=served(PRE_COMMIT_HOME=str(hooks.parent / "cache")),
    )  # fmt: skip


def test_files_are_checked_with_those_that_belong_to_them(hooks: Path, repository: Path) -> None:
    done = tried(hooks, repository, "ftplan-check", "--all-files")
    assert done.returncode == 0, done.stdout
    job = repository / "jobs" / "orders" / "topology.yaml"
    job.write_text(job.read_text().replace("parallelism: 4", "parallelism: 3"))
    git(repository, "add", ".")
    done = tried(hooks, repository, "ftplan-check")
    assert done.returncode == 1
    assert "ftplan: jobs/orders/cluster.yaml: placement.tasks.sessions: wrong length" in done.stdout
    assert "jobs/clicks" not in done.stdout


def test_a_plan_is_stale_when_its_input_changes(hooks: Path, repository: Path) -> None:
    done = tried(hooks, repository, "ftplan-verify", "--all-files")
    assert done.returncode == 0, done.stdout
    cluster = repository / "jobs" / "clicks" / "cluster.yaml"
    cluster.write_text(cluster.read_text() + "# later\n")
    git(repository, "add", ".")
    done = tried(hooks, repository, "ftplan-verify")
    assert done.returncode == 1
    assert "ftplan: jobs/clicks/plan.json: STALE_INPUT: cluster jobs/clicks/cluster.yaml is not" in done.stdout


def test_plans_can_be_named(repository: Path) -> None:
    """Paths for git stand in the place of ``*.json``, and words in them are words."""
    (verify,) = (hook for hook in HOOKS if hook["id"] == "ftplan-verify")
    for args, said in ((["jobs/orders/*.json", "a plan.json"], "none of 1 files is a plan"), (verify["args"], "valid")):
        done = subprocess.run(
            [*shlex.split(verify["entry"]), *args],
            cwd=repository,
            env=served(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert said in done.stdout + done.stderr
