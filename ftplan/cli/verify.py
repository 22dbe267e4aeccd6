"""``ftplan verify``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import Answer, Table, check_output, emit, say, warn


@options.command("verify")
@click.argument("plan", metavar="PLAN")
@options.inputs
@click.option("--strict", is_flag=True, help="Hold the plan to every rule, not only to those that it names.")
@click.option("--ignore-stale", is_flag=True, help="Do not mind inputs that changed since the plan was made.")
@options.output
@options.verbosity
def command(plan: str, **given: Any) -> int:
    """Hold a plan to the rules that it names and to the fingerprints of its inputs.

    Inputs that are not given are read from the paths that the plan names. Exit 1 when anything is violated.
    """
    from ftplan.api import verify
    from ftplan.cli.inputs import problem_of_plan

    check_output(given["output"], given["force"])
    loaded, problem = problem_of_plan(plan, given)
    found = verify(loaded, problem, strict=given["strict"], ignore_stale=given["ignore_stale"])
    warn(found.warnings, quiet=given["quiet"])
    rows = [(v.code, v.where, v.message) for v in found.violations]
    tables = [Table(("code", "where", "what"), rows)] if rows else []
    verdict = "valid" if found.valid else f"{len(rows)} violation(s)"
    notes = [f"{verdict}; held to: {', '.join(found.rules)}"]
    emit(
        Answer(found.to_json(), tables, notes),
        output=given["output"],
        form=given["format"],
        force=given["force"],
        quiet=given["quiet"],
    )
    if not found.valid:
        say(f"{plan}: {rows[0][0]}: {rows[0][2]}" + (f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""))
    return 0 if found.valid else 1
