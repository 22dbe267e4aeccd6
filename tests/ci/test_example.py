"""The workflow in examples/github-actions: all of its steps run, in a repository whose main branch has a plan."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.ci.expressions import Expressions
from tests.ci.github import ACTION, Run, run_action
from tests.cli.in_process import environment
from tests.places import ROOT

WORKFLOW = ROOT / "examples" / "github-actions" / "recovery-plan.yml"
STEPS: list[dict[str, Any]] = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["plan"]["steps"]
(USES,) = (step for step in STEPS if step.get("uses", "").startswith("ftplan/ftplan@"))


def played(repository: Path, temporary: Path) -> tuple[Run, str]:
    """Run the workflow; return what the action gave, and what the last step said with it."""
    said, run = "", Run()
    for step in STEPS:
        known = Expressions({"steps": {USES["id"]: {"outputs": run.outputs}}}, run.failed)
        if step is USES:
            run = run_action(repository, temporary, **step["with"])
        elif "run" in step:
            env = environment(**{name: known.text(value) for name, value in step.get("env", {}).items()})
            done = subprocess.run(
                ["bash", "-e", "-c", step["run"]], cwd=repository, env=env, capture_output=True, text=True, check=True
            )
            said = done.stdout
    return run, said


def test_a_first_plan_and_one_that_is_in_force(repository: Path, temporary: Path) -> None:
    run, said = played(repository, temporary)
    assert not run.failed, run.printed
    assert said.startswith("feasible, gap 0.")
    assert said.endswith("changes true\n")
    for command in ("init -q .", "add .", "-c user.name=x -c user.email=x@y commit -qm x",
                    "update-ref refs/remotes/origin/main HEAD"):  # fmt: skip
        subprocess.run(["git", *command.split()], cwd=repository, check=True)
    run, said = played(repository, temporary)
    assert said.endswith("changes false\n")
    assert "tasks change, 0 queries" in run.summary


def test_it_names_the_version_that_is_here() -> None:
    import ftplan

    assert USES["uses"] == f"ftplan/ftplan@v{ftplan.__version__}"
    assert set(USES["with"]) <= set(ACTION["inputs"])
