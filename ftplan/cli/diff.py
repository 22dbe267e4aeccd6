"""``ftplan diff``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import Answer, Table, check_output, emit


@options.command("diff")
@click.argument("before", metavar="PLAN")
@click.argument("after", metavar="PLAN")
@options.output
@click.option("--detailed-exitcode", is_flag=True, help="Exit 3 when anything changes.")
@options.verbosity
def command(before: str, after: str, **given: Any) -> int:
    """Show what changes from one plan to another of the same kind."""
    from ftplan.api import diff
    from ftplan.io.plan_file import load_plan

    check_output(given["output"], given["force"])
    found = diff(load_plan(before).value, load_plan(after).value)
    rows = [(f"key-group:{c['operator']}/{c['key_group']}", c["what"], c["from"], c["to"]) for c in found.changes]
    tables = [Table(("key group", "what", "from", "to"), rows)] if rows else []
    if found.options:
        tables.append(Table(("option", "from", "to"), [(o["name"], o["from"], o["to"]) for o in found.options]))
    groups = len({row[0] for row in rows})
    notes = [
        f"{groups} of {found.key_groups} key groups change; {found.objective['name'] or 'objective'}: "
        f"{found.objective['from']} -> {found.objective['to']}"
    ]
    emit(
        Answer(found.to_json(), tables, notes),
        output=given["output"],
        form=given["format"],
        force=given["force"],
        quiet=given["quiet"],
    )
    return 3 if given["detailed_exitcode"] and found.changed else 0
