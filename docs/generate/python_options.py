"""The options of ``ftplan.plan`` and others as Python has them."""

from __future__ import annotations

from ftplan.planners import registry
from ftplan.planners.kind import KINDS, kind_of


def plan_options() -> str:
    """Return the options of each command that plans, as keywords."""
    rows = ["| command | options |", "|---|---|"]
    for kind in KINDS:
        command = next(row.command for row in registry.rows(kind))
        names = [name for name in kind_of(kind).options.options() if name != "fail"]
        rows.append(f"| [{command}](commands/{command}.md) | {', '.join(f'`{name}`' for name in sorted(names))} |")
    return "\n".join(rows)
