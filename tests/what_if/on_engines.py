"""A small sweep, and ``ftplan what-if`` over it as a process: one engine each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from tests.cli.in_process import environment
from tests.places import ROOT

STORM = ROOT / "examples" / "storm-recovery"


def write_sweep(folder: Path) -> None:
    """Write a what-if file into a folder: recoveries, one of which cannot be."""
    cases = [{"id": f"seed-{seed}", "options": {"seed": seed}} for seed in range(1, 10)]
    document = {
        "format": "ftplan/what-if",
        "format_version": "1.0",
        "name": "seeds",
        "inputs": {name: str(STORM / f"{name}.yaml") for name in ("topology", "cluster", "failure")},
        "run": {"command": "recovery-schedule", "options": {"objective": "priority"}},
        "measures": ["objective", "bound"],
        "cases": [*cases, {"id": "wrong", "remove": "node:c1"}],
    }
    (folder / "what-if.yaml").write_text(yaml.safe_dump(document))


def rows(folder: Path, *options: str, code: str = "import ftplan.cli.main as main; main.main()") -> str:
    """Carry the sweep out in a process; return the file."""
    output = folder / "out.json"
    output.unlink(missing_ok=True)
    line = ["what-if", "what-if.yaml", "-o", output.name, "-q", *options]
    done = subprocess.run(
        [sys.executable, "-c", code, *line], cwd=folder, env=environment(PYTHONPATH=str(ROOT)), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in folder.glob("*.jsonl")] == []
    return output.read_text()
