"""The options of ``ftplan.plan`` and others as Python has them."""

from __future__ import annotations

from ftplan.model.kinds import names
from ftplan.planners.kind import kind_of


def plan_options() -> str:
    """Return the options of each command that plans, as keywords."""
    rows = ["| command | options |", "|---|---|"]
    for kind in names():
        options = [name for name in kind_of(kind).options.options() if name != "fail"]
        rows.append(f"| [{kind}](commands/{kind}.md) | {', '.join(f'`{name}`' for name in sorted(options))} |")
    return "\n".join(rows)
