"""A runner of the steps of a composite action, with the files and expressions that GitHub gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.ci.expressions import Expressions
from tests.ci.served import script
from tests.ci.stand_in import commands_in, variables
from tests.places import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
#: Arguments with which a plan is there at once.
QUICK = "--algorithm operator-centric --samples 0 --iterations 0"


@dataclass
class Run:
    """What came of the steps: what each printed, what the action gives, what other actions it called with what."""

    failed: bool = False
    printed: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    summary: str = ""

    @property
    def errors(self) -> list[str]:
        """The messages that GitHub shows at the top."""
        lines = [line for text in self.printed.values() for line in text.splitlines()]
        return [line.rpartition("::")[2] for line in lines if line.startswith("::error")]


def run_action(workspace: Path, temporary: Path, **given: str) -> Run:
    """Run the action in a repository; inputs have underscores here."""
    names = {name.replace("_", "-"): value for name, value in given.items()}
    inputs = {name: names.pop(name, spec.get("default", "")) for name, spec in ACTION["inputs"].items()}
    assert not names, f"no such inputs: {names}"
    (temporary / "summary").write_text("", "utf-8")
    runner = _Runner(workspace, temporary, inputs)
    for step in ACTION["runs"]["steps"]:
        runner.step(step)
    known = runner.known()
    runner.run.outputs = {name: known.text(spec["value"]) for name, spec in ACTION["outputs"].items()}
    runner.run.summary = (temporary / "summary").read_text("utf-8")
    return runner.run


@dataclass
class _Runner:
    workspace: Path
    temporary: Path
    inputs: Mapping[str, str]
    run: Run = field(default_factory=Run)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)

    def known(self) -> Expressions:
        contexts = {"inputs": self.inputs, "steps": self.steps, "github": {"action_path": str(ROOT)}}
        return Expressions(contexts, self.run.failed)

    def step(self, step: Mapping[str, Any]) -> None:
        known, name = self.known(), step.get("id", step["name"])
        self.steps[name] = {"outcome": "skipped", "outputs": {}}
        if not known.holds(step.get("if")):
            return
        code = 0
        if "uses" in step:
            self.run.used[step["uses"]] = {k: known.text(v) for k, v in step.get("with", {}).items()}
        else:
            code = self._script(name, step, {k: known.text(v) for k, v in step.get("env", {}).items()})
        self.steps[name]["outcome"] = "failure" if code else "success"
        self.run.failed = self.run.failed or bool(code)

    def _script(self, name: str, step: Mapping[str, Any], env: Mapping[str, str]) -> int:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "inputs in a script are code: pass them by env"
        output = self.temporary / f"{name}.output"
        output.write_text("", "utf-8")
        (self.temporary / "step.sh").write_text(step["run"], "utf-8")
        folder = self.known().text(step.get("working-directory", "."))
        code, self.run.printed[name] = script(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(self.temporary / "step.sh")],
            commands=commands_in(self.temporary), cwd=self.workspace / folder,
            env=variables(
                self.temporary, **env, RUNNER_TEMP=str(self.temporary), GITHUB_OUTPUT=str(output),
                GITHUB_PATH=str(self.temporary / "path"), GITHUB_STEP_SUMMARY=str(self.temporary / "summary"),
            ),
        )  # fmt: skip
        for line in output.read_text("utf-8").splitlines():
            key, _, value = line.partition("=")
            self.steps[name]["outputs"][key] = value
        return code
