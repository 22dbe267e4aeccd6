"""A runner of the job of the GitLab template: inputs put into place, variables set, scripts run as one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.ci.served import script
from tests.ci.stand_in import commands_in, variables
from tests.places import ROOT

HEADER, TEMPLATE = (ROOT / "templates" / "ftplan.yml").read_text("utf-8").split("\n---\n")
INPUTS = yaml.safe_load(HEADER)["spec"]["inputs"]
KINDS = {"array": list, "boolean": bool, "string": str}


@dataclass
class Run:
    """What came of a job: its exit code, what it printed, its variables for later jobs, its artifacts, its summary."""

    code: int
    printed: str
    variables: dict[str, str]
    artifacts: list[Path]
    summary: str


def job_with(**given: Any) -> dict[str, Any]:
    """Return the job with its inputs in place; they have underscores here.

    GitLab puts them into the text of the template, and reads what came of it.
    """
    names = {name.replace("_", "-"): value for name, value in given.items()}
    values = {name: names.pop(name, spec.get("default")) for name, spec in INPUTS.items()}
    assert not names, f"no such inputs: {names}"
    text = re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda found: _text(values[found[1]], INPUTS[found[1]]), TEMPLATE)
    ((_, job),) = yaml.safe_load(text).items()
    return dict(job)


def _text(value: Any, spec: dict[str, Any]) -> str:
    """Return what GitLab writes for an input, which it refuses where it is not as the header says."""
    if not isinstance(value, KINDS[spec.get("type", "string")]):
        raise ValueError(f"provided value is not of the type: {value!r}")
    if "regex" in spec and not re.fullmatch(spec["regex"], value):
        raise ValueError(f"provided value does not match required RegEx pattern: {value!r}")
    return value if isinstance(value, str) else json.dumps(value)


def run_job(project: Path, temporary: Path, **given: Any) -> Run:
    """Run the job in a project."""
    job = job_with(**given)
    assert all(spec == {"value": spec["value"], "expand": False} for spec in job["variables"].values())
    inputs = {name: spec["value"] for name, spec in job["variables"].items()}
    code, printed = script(
        ["bash", "-e", "-o", "pipefail", "-c", "\n".join(job["before_script"] + job["script"])],
        commands=commands_in(temporary), cwd=project, env=variables(temporary, **inputs),
    )  # fmt: skip
    kept = (project / path for path in job["artifacts"]["paths"])
    dotenv = project / job["artifacts"]["reports"]["dotenv"]
    lines = dotenv.read_text("utf-8").splitlines() if dotenv.exists() else []
    summary = project / given.get("working_directory", ".") / "ftplan-summary.md"
    return Run(
        code, printed, dict(line.split("=", 1) for line in lines), [path for path in kept if path.exists()],
        summary.read_text("utf-8") if summary.exists() else "",
    )  # fmt: skip
