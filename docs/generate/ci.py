"""What the GitHub action takes and gives."""

from __future__ import annotations

from pathlib import Path

import yaml

ACTION = Path(__file__).resolve().parents[2] / "action.yml"


def action(part: str) -> str:
    """Return the ``inputs`` or the ``outputs`` of the action as a table."""
    entries = yaml.safe_load(ACTION.read_text("utf-8"))[part]
    with_defaults = part == "inputs"
    rows = [
        "| input | default | what it is |\n|---|---|---|" if with_defaults else "| output | what it is |\n|---|---|"
    ]
    for name, spec in entries.items():
        default = f"`{spec['default']}`" if spec.get("default") else ""
        rows.append(f"| `{name}` |" + (f" {default} |" if with_defaults else "") + f" {spec['description']} |")
    return "\n".join(rows)
