"""A runner of the job of the GitLab template: inputs put into place, variables set, scripts run as one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.ci.served import script
from tests.ci.stand_in import commands_in, variables

ROOT = Path(__file__).resolve().parents[2]
SPEC, TEMPLATE = yaml.safe_load_all((ROOT / "templates" / "ftplan.yml").read_text("utf-8"))
INPUTS = SPEC["spec"]["inputs"]


@dataclass
class Run:
    """What came of a job: its exit code, what it printed, its variables for later jobs, its artifacts, its summary."""

    code: int
    printed: str
    variables: dict[str, str]
    artifacts: list[Path]
    summary: str


def job_with(**given: Any) -> dict[str, Any]:
    """Return the job with its inputs in place; they have underscores here."""
    names = {name.replace("_", "-"): value for name, value in given.items()}
    values = {name: names.pop(name, spec.get("default")) for name, spec in INPUTS.items()}
    assert not names, f"no such inputs: {names}"
    ((_, job),) = _placed(TEMPLATE, values).items()
    return job


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
        code, printed, dict(line.split("=", 1) for line in lines), [path for path in kept if path.is_file()],
        summary.read_text("utf-8") if summary.exists() else "",
    )  # fmt: skip


def _placed(value: Any, inputs: dict[str, Any]) -> Any:
    """Return what a template says with the values of its inputs, in keys and in values."""
    if isinstance(value, str):
        return re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda found: _text(inputs[found[1]]), value)
    if isinstance(value, dict):
        return {_placed(key, inputs): _placed(item, inputs) for key, item in value.items()}
    return [_placed(item, inputs) for item in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else value
