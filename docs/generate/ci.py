"""What the GitHub action takes and gives."""

from __future__ import annotations

from pathlib import Path

import yaml

ACTION = Path(__file__).resolve().parents[2] / "action.yml"


def action(part: str) -> str:
    """Return the ``inputs`` or the ``outputs`` of the action as a table."""
    entries = yaml.safe_load(ACTION.read_text("utf-8"))[part]
    rows = [f"| {part.removesuffix('s')} | what it is |\n|---|---|"]
    for name, spec in entries.items():
        default = f" Default: `{spec['default']}`" if spec.get("default") else ""
        rows.append(f"| `{name}` | {spec['description']}{default} |")
    return "\n".join(rows)
